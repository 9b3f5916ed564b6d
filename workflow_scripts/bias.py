"""Report how biased one data set is before and after its debiasing, and what each threshold changes."""

from fairgat.job_log import logged

with logged(snakemake):
    from fairgat import files, methods
    from fairgat.data.graph import Graph
    from fairgat.errors import NotDefined
    from fairgat.methods.edits.bias import describe
    from fairgat.methods.edits.result import Debiased

    params, wildcards = snakemake.params, snakemake.wildcards
    cells = [methods.settings(params.module, values) for values in params.cells]
    graph = Graph.load(snakemake.input.graph)
    try:
        graph.require_two_groups("EDITS")
        debiased = Debiased.load(snakemake.input.debiased)
        report = describe(graph, debiased, [(cell.threshold, cell.dropped_features) for cell in cells])
    except NotDefined as error:
        report = {"failure": str(error)}
    identity = {"dataset": wildcards.dataset, "method": wildcards.method, "split": int(wildcards.split)}
    files.write_json(
        snakemake.output.report, identity | {"debiasing": files.read_json(snakemake.input.timing)} | report
    )
