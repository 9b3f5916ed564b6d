"""Measure the theory's terms on one method's selected cell, or account for the gaps of every cell."""

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat.theory import runs

    torch.set_num_threads(snakemake.threads)
    wildcards, given = snakemake.wildcards, snakemake.input
    files = {"graph": given.graph, "split_files": given.splits, "models": given.models, "debiased": given.debiased}
    asked = (wildcards.dataset, wildcards.method)
    if wildcards.kind == "theory":
        rows = runs.measure_selected(*asked, **snakemake.params, **files, selection=given.selection)
        runs.write(snakemake.output[0], rows)
    else:
        rows = runs.account_all(*asked, **snakemake.params, **files)
        runs.write(snakemake.output[0], rows, runs.ACCOUNT_COLUMNS)
    print(f"{len(rows)} rows")
