"""Learning curves in node classification."""

from fairgat.report.figures._curves import draw  # noqa: F401

READS = ("histories", "selection")
TASK = "node_classification"
