"""Make one data set's graph from its raw files."""

from pathlib import Path

from _log import logged

from fairgat.config import Dataset
from fairgat.data import sources as datasets

with logged(snakemake):
    datasets.make(
        snakemake.wildcards.dataset,
        Dataset.model_validate(snakemake.params.settings),
        raw_dir=Path(snakemake.input.manifest).parent,
        seed=snakemake.params.seed,
        path=snakemake.output.graph,
    )
