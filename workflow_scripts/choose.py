"""Take one method's scores on one data set from an earlier run, and choose its cell."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import cells, frames
    from fairgat.files import write_json
    from fairgat.measures import adopt
    from fairgat.scores import runs, selection
    from fairgat.scores.asked import check_settings

    adopt(snakemake.config["measures"])

    wildcards, params = snakemake.wildcards, snakemake.params
    path, advice = snakemake.input.scores, "Give the run's own configuration files"
    own = runs.read_published(path, *params.shard)
    if params.trained is not None:
        _, _, grid, _ = params.shard
        cell = cells.from_path(grid[0])
        asked, trained = params.settings | cell, params.trained | cell
        check_settings(path, params.module, asked, trained, advice)
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
