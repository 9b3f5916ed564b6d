"""Judge the runs of one method on one data set, and choose its cell."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import cells, frames
    from fairgat.data import splits
    from fairgat.data.graph import Graph
    from fairgat.files import write_json
    from fairgat.measures import adopt
    from fairgat.plan import Run
    from fairgat.scores import judging, selection
    from fairgat.scores.asked import Asked
    from fairgat.training.record import digests

    adopt(snakemake.config["measures"])

    given, params = snakemake.input, snakemake.params
    graph = Graph.load(given.graph)
    numbers = dict.fromkeys(split for _, split in params.runs)
    parts = {}
    for number, path in zip(numbers, given.splits, strict=True):
        parts[number] = (graph, splits.load(path), digests(given.graph, path))
    wildcards, judged = snakemake.wildcards, []
    for path, (cell, split) in zip(given.runs, params.runs, strict=True):
        run = Run(wildcards.task, wildcards.dataset, wildcards.method, cell, split)
        settings = params.settings | cells.from_path(cell)
        asked = Asked(run, params.module, settings, params.training, params.seed)
        judged.append(judging.judged(path, *parts[split], asked.check))
    frame = judging.table(judged)
    frames.write(snakemake.output.runs, frame)
    chosen = selection.select(
        frame,
        wildcards.task,
        params.protocol,
        params.rule,
        params.tolerance,
        params.published,
    )
    trained_at = judging.trained_at(each.run for each in judged)
    write_json(snakemake.output.selection, chosen | {"trained_at": trained_at})
