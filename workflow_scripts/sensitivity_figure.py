"""Draw the sensitivity study's differences of one task, in every format."""

from _log import logged

with logged(snakemake):
    import pandas as pd

    from fairgat.reporting import sensitivity, style

    figure = sensitivity.figure(
        snakemake.params.blocks, pd.read_csv(snakemake.input.differences), snakemake.wildcards.task
    )
    style.save(figure, {form: snakemake.output[form] for form in style.FORMATS})
