"""Train one cell on one split."""

from pathlib import Path

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat.plan import Run
    from fairgat.training import job as training
    from fairgat.training.loop import ignore
    from fairgat.training.progress import log_lines

    wildcards, params, observe = snakemake.wildcards, snakemake.params, ignore
    if params.theory_every:
        from fairgat.theory.network import measure_every

        observe = measure_every(params.theory_every)

    split = int(wildcards.split)
    run = Run(
        wildcards.task, wildcards.dataset, wildcards.method, wildcards.cell, split
    )
    record = training.run(
        run,
        module=params.module,
        settings=params.settings,
        training=params.training,
        threads=params.threads,
        seed=params.seed,
        graph=snakemake.input.graph,
        split=snakemake.input.split,
        directory=Path(snakemake.output.record).parent,
        progress=log_lines(params.training["epochs"]),
        debiased=next(iter(snakemake.input.debiased), None),
        observe=observe,
        device=params.device,
    )
    print(record.failure or f"Epoch {record.reported} is reported.")
