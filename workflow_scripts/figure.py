"""Draw one figure in every format."""

from _log import logged

with logged(snakemake):
    from fairgat.reporting import found, style

    module = found.module("figures", snakemake.wildcards.figure)
    figure = module.draw(snakemake.params.settings, dict(snakemake.input.items()))
    style.save(figure, {form: snakemake.output[form] for form in style.FORMATS})
