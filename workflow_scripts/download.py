"""Bring one data set's raw files to results/data/raw/{dataset}/, and hand them on."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets, download
from fairgat.job_log import logged

with logged(snakemake):
    name, output = snakemake.wildcards.dataset, snakemake.output
    settings = Dataset.model_validate(snakemake.params.settings)
    files = datasets.files_of(name, settings)
    # Read here and not a parameter: where verified bytes come from changes nothing that
    # is made from them.
    mirror = snakemake.config.get("data_mirror")
    folder = Path(snakemake.params.folder)
    download.acquire(name, files, folder, Path(mirror) if mirror else None)
    download.hand_on(folder, Path(output.raw), Path(output.manifest))
