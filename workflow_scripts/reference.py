"""Collect what is published of a run."""

from _log import logged

with logged(snakemake):
    from fairgat.reporting.reference import collect

    files = [*snakemake.input.files, *snakemake.params.study]
    collect(files, snakemake.params.results, snakemake.output.folder)
