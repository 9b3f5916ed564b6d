"""Link prediction: FairGAT beside FairDrop and a plain GAT."""

from fairgat.reporting.inputs import Files, Settings
from fairgat.reporting.model import Table
from fairgat.reporting.tables import _scores

READS = ("winners", "selection")
TASK = "link_prediction"


def build(settings: Settings, files: Files) -> Table:
    """The table `link_prediction` (see `fairgat.reporting.tables`)."""
    return _scores.build(
        "link_prediction", "Comparative results of FairGAT for link prediction.", settings, files, multirow=True
    )
