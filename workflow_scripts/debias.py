"""Debias one data set for one split."""

import time

from fairgat.job_log import logged

with logged(snakemake):
    import torch

    from fairgat import files
    from fairgat.data import splits
    from fairgat.data.graph import Graph, save_npz
    from fairgat.errors import NotDefined
    from fairgat.methods.edits.fit import Debias, debias
    from fairgat.training.progress import log_lines

    params, wildcards = snakemake.params, snakemake.wildcards
    torch.set_num_threads(params.threads)
    settings = Debias(**params.settings)
    graph = Graph.load(snakemake.input.graph)
    train = splits.load(snakemake.input.split)["train"]
    seed = splits.seed_of(params.seed, wildcards.dataset, int(wildcards.split))
    started = time.perf_counter()
    try:
        debiased = debias(graph, train, settings, seed, log_lines(settings.epochs))
        debiased.save(snakemake.output.debiased)
    except NotDefined as error:
        # The runs that would read it fail with the same reason, and the others go on.
        print(error)
        save_npz(snakemake.output.debiased)
    took = {
        "dataset": wildcards.dataset,
        "method": wildcards.method,
        "seconds": time.perf_counter() - started,
    }
    files.write_json(snakemake.output.timing, took)
