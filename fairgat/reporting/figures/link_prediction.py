"""Link prediction, ours beside the paper's."""

from matplotlib.figure import Figure

from fairgat.reporting.figures import _scores
from fairgat.reporting.inputs import Files, Settings

READS = ("winners",)
TASK = "link_prediction"


def draw(settings: Settings, files: Files) -> Figure:
    """The figure `link_prediction` (see `fairgat.reporting.figures`)."""
    return _scores.draw("link_prediction", settings, files)
