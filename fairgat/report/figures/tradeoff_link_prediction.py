"""Accuracy against fairness in link prediction."""

from fairgat.report.figures._tradeoff import draw  # noqa: F401

READS = ("cells", "selection")
TASK = "link_prediction"
