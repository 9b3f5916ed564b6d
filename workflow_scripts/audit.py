"""Compare every published number and claim with ours."""

from fairgat.job_log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat import audit
    from fairgat.config.shown import AuditSettings
    from fairgat.files import write_text
    from fairgat.measures import adopt

    adopt(snakemake.config["measures"])

    settings = AuditSettings.model_validate(snakemake.params.settings)
    texts = audit.make(settings, dict(snakemake.input.items()))
    for path in snakemake.output:
        write_text(path, texts[Path(path).name])
