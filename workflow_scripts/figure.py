"""Draw one figure in every format."""

from fairgat.job_log import logged

with logged(snakemake):
    from importlib import import_module

    from fairgat.config.shown import Shown
    from fairgat.report import style

    module = import_module(f"fairgat.report.figures.{snakemake.params.module}")
    figure = module.draw(
        Shown.model_validate(snakemake.params.settings), dict(snakemake.input.items())
    )
    style.save(figure, {form: snakemake.output[form] for form in style.FORMATS})
