"""Link prediction: FairGAT beside FairDrop and a plain GAT."""

from functools import partial

from fairgat.report.tables import _scores

READS = ("winners", "selection")
TASK = "link_prediction"

build = partial(_scores.build, "link_prediction", "Comparative results of FairGAT for link prediction.", multirow=True)
