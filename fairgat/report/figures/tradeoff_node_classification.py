"""Accuracy against fairness in node classification."""

from fairgat.report.figures._tradeoff import draw  # noqa: F401

READS = ("cells", "selection")
TASK = "node_classification"
