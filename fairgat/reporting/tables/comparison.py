"""Node classification: FairGAT beside the baselines."""

from fairgat.reporting.inputs import Files, Settings
from fairgat.reporting.model import Table
from fairgat.reporting.tables import _scores

READS = ("winners", "selection")
TASK = "node_classification"


def build(settings: Settings, files: Files) -> Table:
    """The table `comparison` (see `fairgat.reporting.tables`)."""
    return _scores.build("comparison", "Comparative results.", settings, files)
