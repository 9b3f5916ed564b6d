"""Make one data set's graph from its raw files."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets
from fairgat.job_log import logged

with logged(snakemake):
    name, params = snakemake.wildcards.dataset, snakemake.params
    settings = Dataset.model_validate(params.settings)
    raw = Path(snakemake.input.raw)
    graph = datasets.prepare(name, settings, raw, params.seed)
    graph.save(snakemake.output.graph)
    graph.columns.write(snakemake.output.columns)
