"""Bring one data set's raw files to results/data/raw/{dataset}/."""

from pathlib import Path

from _log import logged

from fairgat.config import Dataset
from fairgat.data import sources as datasets

with logged(snakemake):
    datasets.acquire(
        snakemake.wildcards.dataset,
        Dataset.model_validate(snakemake.params.settings),
        raw_dir=Path(snakemake.output.manifest).parent,
        # Read here and not a parameter: where verified bytes come from changes nothing that follows from them.
        data_mirror=snakemake.config.get("data_mirror"),
    )
