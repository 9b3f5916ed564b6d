"""Take one method's scores on one data set from an earlier run, and choose its cell."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import frames
    from fairgat.files import write_json
    from fairgat.measures import adopt
    from fairgat.scores import runs, selection

    adopt(snakemake.config["measures"])

    wildcards, params = snakemake.wildcards, snakemake.params
    scores = runs.read(snakemake.input.scores)
    of_dataset = scores["dataset"] == wildcards.dataset
    of_method = scores["method"] == wildcards.method
    own = scores[of_dataset & of_method]
    chosen = selection.select(
        own,
        wildcards.task,
        params.protocol,
        params.rule,
        params.tolerance,
        params.published,
    )
    frames.write(snakemake.output.runs, runs.untimed(own))
    write_json(snakemake.output.selection, chosen | {"trained_at": []})
