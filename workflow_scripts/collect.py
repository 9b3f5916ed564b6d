"""Collect the scores of one method on one data set, and choose its cell."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import frames
    from fairgat.files import write_json
    from fairgat.scores import runs, selection

    metrics, params = snakemake.input.metrics, snakemake.params
    frame = runs.collect(metrics)
    frames.write(snakemake.output.runs, frame)
    chosen = selection.select(
        frame, snakemake.wildcards.task, params.protocol, params.rule, params.tolerance, params.published
    )
    write_json(snakemake.output.selection, chosen | {"trained_at": runs.trained_at(metrics)})
