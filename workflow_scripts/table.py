"""Render one table in every format."""

from fairgat.job_log import logged

with logged(snakemake):
    from importlib import import_module

    from fairgat.config.shown import Shown
    from fairgat.files import write_text
    from fairgat.report.model import noted
    from fairgat.report.render import FORMATS, render

    module = import_module(f"fairgat.report.tables.{snakemake.params.module}")
    settings = Shown.model_validate(snakemake.params.settings)
    table = noted(
        module.build(settings, dict(snakemake.input.items())), settings.config.note
    )
    for form in FORMATS:
        write_text(snakemake.output[form], render(table, form))
