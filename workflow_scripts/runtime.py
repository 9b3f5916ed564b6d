"""Time every method's epoch on one data set."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import files
    from fairgat.config import Runtime
    from fairgat.errors import ConfigError
    from fairgat.training import timing

    settings = Runtime(**snakemake.params.settings)
    if snakemake.threads < settings.threads:
        raise ConfigError(
            f"runtime: threads: is {settings.threads}, and this job got {snakemake.threads}: "
            f"give more --cores or, on a cluster, --set-threads runtime={settings.threads}"
        )
    result = timing.measure(
        snakemake.wildcards.dataset,
        graph=snakemake.input.graph,
        split=snakemake.input.split,
        entries=snakemake.params.methods,
        training=snakemake.params.training,
        settings=settings,
        seed=snakemake.params.seed,
        device=snakemake.params.device,
        debiased=dict(
            zip(snakemake.params.debiased, snakemake.input.debiased, strict=True)
        ),
    )
    files.write_json(snakemake.output.runtime, result)
