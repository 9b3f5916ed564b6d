"""Account for the gaps of every cell of one method, split by split."""

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat.theory.runs import ACCOUNT_COLUMNS, account_all, write

    torch.set_num_threads(snakemake.threads)
    wildcards, params, given = snakemake.wildcards, snakemake.params, snakemake.input
    rows = account_all(
        wildcards.dataset,
        wildcards.method,
        module=params.module,
        settings=params.settings,
        training=params.training,
        seed=params.seed,
        graph=given.graph,
        split_files=given.splits,
        models=given.models,
        debiased=given.debiased,
    )
    write(snakemake.output[0], rows, ACCOUNT_COLUMNS)
    print(f"{len(rows)} rows")
