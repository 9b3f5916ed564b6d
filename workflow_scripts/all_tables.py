"""Put every LaTeX table in one document."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.files import read_text, write_text
    from fairgat.report.render import document

    tables = map(read_text, snakemake.input.tables)
    write_text(snakemake.output[0], document(tables, snakemake.params.title))
