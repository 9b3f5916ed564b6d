"""Link prediction, ours beside the paper's."""

from functools import partial

from fairgat.report.figures import _scores

READS = ("winners",)
TASK = "link_prediction"

draw = partial(_scores.draw, "link_prediction")
