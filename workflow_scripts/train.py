"""Train one cell on one split."""

from pathlib import Path

from _log import logged

with logged(snakemake):
    from fairgat import training
    from fairgat.progress import log_lines

    wildcards, params = snakemake.wildcards, snakemake.params
    metrics = training.run(
        training.Cell(wildcards.task, wildcards.dataset, wildcards.method, wildcards.cell, int(wildcards.split)),
        module=params.module,
        settings=params.settings,
        training=params.training,
        threads=params.threads,
        seed=params.seed,
        graph=snakemake.input.graph,
        split=snakemake.input.split,
        directory=Path(snakemake.output.metrics).parent,
        progress=log_lines(params.training["epochs"]),
        debiased=snakemake.input.debiased or None,
        theory_every=params.theory_every,
    )
    print(metrics.get("failure") or {"epoch": metrics["epoch"], **metrics["test"]})
