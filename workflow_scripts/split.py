"""Divide one data set's nodes or edges for one task."""

from fairgat.config import Splits
from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.job_log import logged

with logged(snakemake):
    graph = Graph.load(snakemake.input.graph)
    shares = Splits.model_validate(snakemake.params.shares)
    wildcards, params = snakemake.wildcards, snakemake.params
    parts = splits.make(
        graph, wildcards.task, shares, params.seed, params.like, int(wildcards.split)
    )
    splits.save(snakemake.output.split, parts)
