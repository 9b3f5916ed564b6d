"""Time every method's epoch on one data set."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import files
    from fairgat.config import Runtime
    from fairgat.errors import ConfigError
    from fairgat.training import timing

    params, given = snakemake.params, snakemake.input
    settings = Runtime(**params.settings)
    if snakemake.threads < settings.threads:
        raise ConfigError(
            f"runtime: threads: is {settings.threads}, and this job got "
            f"{snakemake.threads}: give more --cores or, on a cluster, --set-threads "
            f"runtime={settings.threads}"
        )
    debiased = dict(zip(params.debiased, given.debiased, strict=True))
    result = timing.measure(
        snakemake.wildcards.dataset,
        graph=given.graph,
        split=given.split,
        entries=params.methods,
        training=params.training,
        settings=settings,
        seed=params.seed,
        device=params.device,
        debiased=debiased,
    )
    files.write_json(snakemake.output.runtime, result)
