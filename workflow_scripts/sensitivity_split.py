"""Give one form of a data set the split of another, node for node."""

from _log import logged

with logged(snakemake):
    from fairgat.data import splits

    splits.save(snakemake.output.split, splits.load(snakemake.input.split))
