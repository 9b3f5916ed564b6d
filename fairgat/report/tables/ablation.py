"""Node classification: FairGAT without one of its steps."""

from functools import partial

from fairgat.report.tables import _scores

READS = ("winners", "selection")
TASK = "node_classification"

build = partial(_scores.build, "ablation", "Ablation study.")
