"""Measure the theory of a method's selected cell, or account for its cells' gaps."""

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat import frames
    from fairgat.tasks.device import use
    from fairgat.theory.runs import measure_runs

    torch.set_num_threads(snakemake.threads)
    wildcards, given, params = snakemake.wildcards, snakemake.input, snakemake.params
    use(params.device)
    frame = measure_runs(
        params.what,
        wildcards.dataset,
        wildcards.method,
        runs=params.runs,
        models=given.models,
        module=params.module,
        settings=params.settings,
        training=params.training,
        seed=params.seed,
        graph=given.graph,
        split_files=given.splits,
        selection=given.get("selection"),
        debiased=given.debiased,
    )
    frames.write(snakemake.output[0], frame)
    print(f"{len(frame)} rows")
