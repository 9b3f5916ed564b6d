"""Render the table of the theory's terms in every format."""

from _log import logged

with logged(snakemake):
    from fairgat.files import write_text
    from fairgat.reporting import theory
    from fairgat.reporting.render import FORMATS, render

    table = theory.table(snakemake.params.settings, theory.read(snakemake.input.measures))
    for form in FORMATS:
        write_text(snakemake.output[form], render(table, form))
