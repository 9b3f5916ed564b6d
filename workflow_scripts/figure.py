"""Draw one figure in every format."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.by_path import module_of
    from fairgat.config.shown import Shown
    from fairgat.measures import adopt
    from fairgat.report import style

    adopt(snakemake.config["measures"])

    module = module_of(snakemake.params.module, "fairgat.report.figures")
    settings = Shown.model_validate(snakemake.params.settings)
    figure = module.draw(settings, dict(snakemake.input.items()))
    style.save(figure, {form: snakemake.output[form] for form in style.FORMATS})
