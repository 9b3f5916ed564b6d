"""Render one table in every format."""

from _log import logged

with logged(snakemake):
    from fairgat.files import write_text
    from fairgat.reporting.render import FORMATS, render
    from fairgat.reporting.tables import SOURCES, build

    sources = {name: snakemake.input.get(name, []) for name in SOURCES}
    table = build(snakemake.wildcards.table, snakemake.params.settings, **sources)
    for form in FORMATS:
        write_text(snakemake.output[form], render(table, form))
