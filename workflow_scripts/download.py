"""Bring one data set's raw files to results/data/raw/{dataset}/, and hand them on."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets, download
from fairgat.job_log import logged

with logged(snakemake):
    name = snakemake.wildcards.dataset
    files = datasets.files_of(name, Dataset.model_validate(snakemake.params.settings))
    # Read here and not a parameter: where verified bytes come from changes nothing made from them.
    mirror = snakemake.config.get("data_mirror")
    folder = Path(snakemake.params.folder)
    download.acquire(name, files, folder, Path(mirror) if mirror else None)
    download.hand_on(
        folder, Path(snakemake.output.raw), Path(snakemake.output.manifest)
    )
