"""Measure the theory's terms on one method's selected cell, or account for the gaps of every cell."""

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat import frames
    from fairgat.tasks.device import use
    from fairgat.theory.runs import measure_runs

    torch.set_num_threads(snakemake.threads)
    wildcards, given, params = (
        snakemake.wildcards,
        snakemake.input,
        dict(snakemake.params.items()),
    )
    del params["code"]
    use(params.pop("device"))
    frame = measure_runs(
        wildcards.kind,
        wildcards.dataset,
        wildcards.method,
        **params,
        graph=given.graph,
        split_files=given.splits,
        models=given.models,
        debiased=given.debiased,
        selection=given.selection or None,
    )
    frames.write(snakemake.output[0], frame)
    print(f"{len(frame)} rows")
