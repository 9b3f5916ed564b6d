"""Node classification: FairGAT without one of its steps."""

from fairgat.reporting.inputs import Files, Settings
from fairgat.reporting.model import Table
from fairgat.reporting.tables import _scores

READS = ("winners", "selection")
TASK = "node_classification"


def build(settings: Settings, files: Files) -> Table:
    """The table `ablation` (see `fairgat.reporting.tables`)."""
    return _scores.build("ablation", "Ablation study.", settings, files)
