"""Average the winners' test metrics of link prediction under both protocols."""

from _log import logged

with logged(snakemake):
    from fairgat.files import read_json, write_text
    from fairgat.reporting.paper import means
    from fairgat.scores.runs import read_all
    from fairgat.scores.summary import COLUMNS_BY_PROTOCOL, summarise_protocols, to_csv

    rows = summarise_protocols(
        list(map(read_json, snakemake.input.selections)),
        read_all(snakemake.input.metrics),
        ddof=snakemake.params.ddof,
        published=means("link_prediction"),
    )
    write_text(snakemake.output.summary, to_csv(rows, COLUMNS_BY_PROTOCOL))
