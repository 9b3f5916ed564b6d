"""The ablation, ours beside the paper's."""

from matplotlib.figure import Figure

from fairgat.reporting.figures import _scores
from fairgat.reporting.inputs import Files, Settings

READS = ("winners",)
TASK = "node_classification"


def draw(settings: Settings, files: Files) -> Figure:
    """The figure `ablation` (see `fairgat.reporting.figures`)."""
    return _scores.draw("ablation", settings, files)
