"""Judge a perfect prediction of a data set, on every split."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import frames
    from fairgat.config import TASKS
    from fairgat.data import splits
    from fairgat.data.graph import Graph
    from fairgat.measures import adopt
    from fairgat.scores import perfect

    adopt(snakemake.config["measures"])

    given, params = snakemake.input, snakemake.params
    task, dataset = snakemake.wildcards.task, snakemake.wildcards.dataset
    training = TASKS[task].model_validate(params.training)
    loaded = map(splits.load, given.splits)
    parts = dict(zip(params.numbers, loaded, strict=True))
    frame = perfect.scores(dataset, training, Graph.load(given.graph), parts)
    frames.write(snakemake.output.perfect, frame)
