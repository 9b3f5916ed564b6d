"""Average one task's metrics over the splits: the winners', and every cell's."""

from _log import logged

with logged(snakemake):
    from fairgat.aggregation import COLUMNS, COLUMNS_BY_RULE, COLUMNS_OF_CELLS, summarise, summarise_cells, to_csv
    from fairgat.files import read_json, write_text
    from fairgat.records import read_all
    from fairgat.reporting.paper import means

    records = read_all(snakemake.input.metrics)
    rows = summarise(
        map(read_json, snakemake.input.selections),
        records,
        ddof=snakemake.params.ddof,
        published=means(snakemake.wildcards.task),
    )
    chosen = [row for row in rows if row["rule"] == snakemake.params.rule]
    write_text(snakemake.output.summary, to_csv(chosen, COLUMNS))
    write_text(snakemake.output.by_rule, to_csv(rows, COLUMNS_BY_RULE))
    cells = summarise_cells(records, ddof=snakemake.params.ddof)
    write_text(snakemake.output.cells, to_csv(cells, COLUMNS_OF_CELLS))
