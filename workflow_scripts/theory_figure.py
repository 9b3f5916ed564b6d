"""Draw the theory's bounds beside what was measured, in every format."""

from _log import logged

with logged(snakemake):
    from fairgat.reporting import style, theory

    figure = theory.figure(snakemake.params.settings, theory.read(snakemake.input.measures))
    style.save(figure, {form: snakemake.output[form] for form in style.FORMATS})
