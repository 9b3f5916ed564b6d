"""Measure the theory's terms on one method's trained models."""

from _log import logged

with logged(snakemake):
    import torch

    from fairgat.theory.runs import Job, measure_selected, write

    torch.set_num_threads(snakemake.threads)
    wildcards, params, given = snakemake.wildcards, snakemake.params, snakemake.input
    job = Job(wildcards.dataset, wildcards.method, params.module, params.settings, params.training, params.seed)
    rows = measure_selected(job, given.graph, given.splits, given.selection, given.models, given.debiased)
    write(snakemake.output[0], rows)
    print(f"{len(rows)} rows")
