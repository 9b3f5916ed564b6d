"""Node classification: FairGAT beside the baselines."""

from functools import partial

from fairgat.report.tables import _scores

READS = ("winners", "selection")
TASK = "node_classification"

build = partial(_scores.build, "comparison", "Comparative results.")
