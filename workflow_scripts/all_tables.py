"""Put every LaTeX table in one document."""

from fairgat.job_log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat.files import write_text
    from fairgat.report.render import document

    tables = (Path(path).read_text(encoding="utf-8") for path in snakemake.input.tables)
    write_text(snakemake.output[0], document(tables, snakemake.params.title))
