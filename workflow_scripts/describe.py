"""Count one data set's graph and compare it with the paper's counts."""

from fairgat import paper
from fairgat.config import Dataset, Splits
from fairgat.data import datasets, statistics
from fairgat.data.graph import Graph
from fairgat.files import write_json
from fairgat.job_log import logged

with logged(snakemake):
    name = snakemake.wildcards.dataset
    settings = Dataset.model_validate(snakemake.params.settings)
    counterpart = datasets.counterpart(name, settings)
    write_json(
        snakemake.output.stats,
        statistics.describe(
            Graph.load(snakemake.input.graph),
            name,
            settings.task,
            paper.load()["statistics"].get(counterpart, {}),
            splits=Splits.model_validate(snakemake.params.shares),
            seed=snakemake.params.seed,
            alpha_chi_max=snakemake.params.alpha_chi_max,
            stands_for=counterpart if counterpart != name else None,
            like=snakemake.params.like,
        ),
    )
