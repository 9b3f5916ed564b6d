"""Measure the theory's terms on one method's trained models."""

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat.theory.runs import measure_selected, write

    torch.set_num_threads(snakemake.threads)
    wildcards, params, given = snakemake.wildcards, snakemake.params, snakemake.input
    rows = measure_selected(
        wildcards.dataset,
        wildcards.method,
        module=params.module,
        settings=params.settings,
        training=params.training,
        seed=params.seed,
        graph=given.graph,
        split_files=given.splits,
        selection=given.selection,
        models=given.models,
        debiased=given.debiased,
    )
    write(snakemake.output[0], rows)
    print(f"{len(rows)} rows")
