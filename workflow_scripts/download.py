"""Bring one data set's raw files to results/data/raw/{dataset}/."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets, download
from fairgat.job_log import logged

with logged(snakemake):
    name = snakemake.wildcards.dataset
    files = datasets.files_of(name, Dataset.model_validate(snakemake.params.settings))
    # Read here and not a parameter: where verified bytes come from changes nothing made from them.
    mirror = snakemake.config.get("data_mirror")
    download.acquire(name, files, Path(snakemake.output.manifest).parent, Path(mirror) if mirror else None)
