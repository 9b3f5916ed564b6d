"""Collect the test decisions of one method's selected cell."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.scores import decisions

    given = snakemake.input
    predictions = dict(zip(snakemake.params.runs, given.predictions, strict=True))
    decisions.pool(given.graph, given.splits, given.runs, given.selection, predictions, snakemake.output[0])
