"""Make explore.html from the summaries and the audit."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.config.shown import Shown
    from fairgat.files import write_text
    from fairgat.report import explorer

    given = snakemake.input
    files = {kind: list(given[kind]) for kind in explorer.READS}
    write_text(
        snakemake.output[0],
        explorer.page(Shown.model_validate(snakemake.params.settings), files),
    )
