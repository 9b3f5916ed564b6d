"""Divide one data set's nodes or edges for one task."""

from _log import logged

from fairgat import splits
from fairgat.config import Splits
from fairgat.graph import Graph

with logged(snakemake):
    graph = Graph.load(snakemake.input.graph)
    shares = Splits.model_validate(snakemake.params.shares)
    which = snakemake.params.seed, snakemake.wildcards.dataset, int(snakemake.wildcards.split)
    if snakemake.wildcards.task == "link_prediction":
        parts = splits.edge_split(graph, shares, *which)
    else:
        parts = splits.node_split(graph.num_nodes, shares, *which)
    splits.save(snakemake.output.split, parts)
