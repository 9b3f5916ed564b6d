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

    params = snakemake.params
    torch.set_num_threads(params.threads)
    settings = Debias(**params.settings)
    graph, train = Graph.load(snakemake.input.graph), splits.load(snakemake.input.split)["train"]
    dataset, method, split = (snakemake.wildcards[name] for name in ("dataset", "method", "split"))
    seed = splits.seed_of(params.seed, dataset, int(split))
    started = time.perf_counter()
    try:
        debias(graph, train, settings, seed, log_lines(settings.epochs)).save(snakemake.output.debiased)
    except NotDefined as error:  # the runs that would read it fail with the same reason, and the others go on
        print(error)
        save_npz(snakemake.output.debiased)
    seconds = time.perf_counter() - started
    files.write_json(snakemake.output.timing, {"dataset": dataset, "method": method, "seconds": seconds})
