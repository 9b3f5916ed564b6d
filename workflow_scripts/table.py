"""Render one table in every format."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.by_path import module_of
    from fairgat.config.shown import Shown
    from fairgat.files import write_text
    from fairgat.measures import adopt
    from fairgat.report.model import noted
    from fairgat.report.render import FORMATS, render

    adopt(snakemake.config["measures"])

    module = module_of(snakemake.params.module, "fairgat.report.tables")
    settings = Shown.model_validate(snakemake.params.settings)
    table = module.build(settings, dict(snakemake.input.items()))
    table = noted(table, settings.note)
    for form in FORMATS:
        write_text(snakemake.output[form], render(table, form))
