"""Collect the test decisions of one method's selected cell."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.scores import decisions

    given = snakemake.input
    decisions.pool(given.graph, given.splits, given.runs, given.selection, given.predictions, snakemake.output[0])
