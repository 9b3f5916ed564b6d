"""Copy a file of an earlier run, if it is as it was written."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.files import copy

    copy(snakemake.input[0], snakemake.output[0])
