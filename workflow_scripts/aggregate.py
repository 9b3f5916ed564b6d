"""Average one task's scores over the splits: every cell's, and the winners'."""

from _log import logged

with logged(snakemake):
    from fairgat.files import read_json
    from fairgat.paper import means
    from fairgat.scores import runs, summary

    scores = summary.scores_alone(runs.read(*snakemake.input.runs))
    cells = summary.cells(scores, snakemake.params.ddof)
    winners = summary.winners(map(read_json, snakemake.input.selections), cells, means(snakemake.wildcards.task))
    runs.write(snakemake.output.runs, scores)
    runs.write(snakemake.output.cells, cells)
    runs.write(snakemake.output.winners, winners)
