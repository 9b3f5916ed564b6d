"""The ablation, ours beside the paper's."""

from functools import partial

from fairgat.report.figures import _scores

READS = ("winners",)
TASK = "node_classification"

draw = partial(_scores.draw, "ablation")
