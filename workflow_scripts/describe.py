"""Count one data set's graph and compare it with the paper's counts."""

from fairgat import paper
from fairgat.config import Dataset, Splits
from fairgat.data import datasets, statistics
from fairgat.data.graph import Graph
from fairgat.files import write_json
from fairgat.job_log import logged

with logged(snakemake):
    name, params = snakemake.wildcards.dataset, snakemake.params
    settings = Dataset.model_validate(params.settings)
    counterpart = datasets.counterpart(name, settings)
    published = paper.load()["statistics"]
    described = statistics.describe(
        Graph.load(snakemake.input.graph),
        name,
        settings.task,
        published.get(counterpart, {}),
        splits=Splits.model_validate(params.shares),
        seed=params.seed,
        stands_for=counterpart if counterpart != name else None,
        like=params.like,
    )
    write_json(snakemake.output.stats, described)
