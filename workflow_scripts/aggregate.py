"""Average one task's metrics over the splits: the winners', and every cell's."""

from _log import logged

with logged(snakemake):
    from fairgat.files import read_json, write_text
    from fairgat.reporting.paper import means
    from fairgat.scores import summary as aggregation
    from fairgat.scores.runs import read_all

    records = read_all(snakemake.input.metrics)
    rows = aggregation.summarise(
        map(read_json, snakemake.input.selections),
        records,
        ddof=snakemake.params.ddof,
        published=means(snakemake.wildcards.task),
    )
    chosen = [row for row in rows if row["rule"] == snakemake.params.rule]
    cells = aggregation.summarise_cells(records, ddof=snakemake.params.ddof)
    for path, content, columns in (
        (snakemake.output.summary, chosen, aggregation.COLUMNS),
        (snakemake.output.by_rule, rows, aggregation.COLUMNS_BY_RULE),
        (snakemake.output.cells, cells, aggregation.COLUMNS_OF_CELLS),
        (snakemake.output.splits, aggregation.by_split(records), aggregation.COLUMNS_OF_SPLITS),
    ):
        write_text(path, aggregation.to_csv(content, columns))
