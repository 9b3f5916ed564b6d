"""Make one data set's graph from its raw files."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets
from fairgat.job_log import logged

with logged(snakemake):
    settings = Dataset.model_validate(snakemake.params.settings)
    raw = Path(snakemake.input.raw)
    datasets.prepare(
        snakemake.wildcards.dataset, settings, raw, snakemake.params.seed
    ).save(snakemake.output.graph)
