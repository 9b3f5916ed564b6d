"""Measure the theory of a method's selected cell, or account for its cells' gaps."""

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat import frames
    from fairgat.tasks.device import use
    from fairgat.theory.runs import measure_runs

    torch.set_num_threads(snakemake.threads)
    given, params = snakemake.input, snakemake.params
    use(params.device)
    frame = measure_runs(
        params.what,
        given.runs,
        given.graph,
        dict(zip(params.numbers, given.splits, strict=True)),
        given.get("selection"),
    )
    frames.write(snakemake.output[0], frame)
    print(f"{len(frame)} rows")
