"""Draw one figure in every format."""

from _log import logged

with logged(snakemake):
    from fairgat.reporting import figures, style

    sources = {name: files for name, files in snakemake.input.items() if name != "package"}
    style.save(
        figures.draw(snakemake.params.settings, sources),
        {form: snakemake.output[form] for form in style.FORMATS},
    )
