"""Average one task's scores over the splits: every cell's, and the winners'."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import frames
    from fairgat.files import read_json
    from fairgat.measures import adopt
    from fairgat.paper import means
    from fairgat.scores import runs, summary

    adopt(snakemake.config["measures"])

    params = snakemake.params
    shards = runs.read_shards(snakemake.input.runs, params.shards)
    scores = summary.without_times(shards)
    cells = summary.cells(scores, params.ddof)
    selections = map(read_json, snakemake.input.selections)
    winners = summary.winners(selections, cells, means(snakemake.wildcards.task))
    frames.write(snakemake.output.runs, scores)
    frames.write(snakemake.output.cells, cells)
    frames.write(snakemake.output.winners, winners)
