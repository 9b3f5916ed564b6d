"""Learning curves in link prediction."""

from fairgat.report.figures._curves import draw  # noqa: F401

READS = ("histories", "selection")
TASK = "link_prediction"
