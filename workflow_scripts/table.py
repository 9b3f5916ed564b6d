"""Render one table in every format."""

from fairgat.job_log import logged

with logged(snakemake):
    from importlib import import_module

    from fairgat.config.shown import TableSettings
    from fairgat.files import write_text
    from fairgat.report.render import FORMATS, render

    module = import_module(f"fairgat.report.tables.{snakemake.wildcards.table}")
    table = module.build(TableSettings.model_validate(snakemake.params.settings), dict(snakemake.input.items()))
    for form in FORMATS:
        write_text(snakemake.output[form], render(table, form))
