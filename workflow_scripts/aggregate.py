"""Average the winners' test metrics of one task over the splits."""

from _log import logged

with logged(snakemake):
    from fairgat.aggregation import COLUMNS, COLUMNS_BY_RULE, summarise, to_csv
    from fairgat.files import read_json, write_text
    from fairgat.records import read_all
    from fairgat.reporting.paper import means

    rows = summarise(
        map(read_json, snakemake.input.selections),
        read_all(snakemake.input.metrics),
        ddof=snakemake.params.ddof,
        published=means(snakemake.wildcards.task),
    )
    chosen = [row for row in rows if row["rule"] == snakemake.params.rule]
    write_text(snakemake.output.summary, to_csv(chosen, COLUMNS))
    write_text(snakemake.output.by_rule, to_csv(rows, COLUMNS_BY_RULE))
