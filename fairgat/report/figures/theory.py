"""Theory: how far the bounds of Theorem 1 are above what they bound."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat.report import style
from fairgat.report.inputs import Files, Settings
from fairgat.report.tables.theory import BOUNDS, LAYERS, read

READS = ("theory",)
TASK = "node_classification"


def draw(settings: Settings, files: Files) -> Figure:
    """Draw the bounds of each layer and method over the disparity that they bound.

    As printed, corrected and sharp; means over the splits.
    """
    measured = read(files["theory"])
    bounds = [f"bound{form}" for form in BOUNDS.values()]
    terms = ["delta_out", *bounds]
    measured = measured.astype(dict.fromkeys(terms, float))  # of no rows they are texts
    means = measured.groupby(["dataset", "method", "layer"])[terms].mean()
    means = means[means["delta_out"] > 0]
    ratios = means[bounds].div(means["delta_out"], axis=0)
    ratios = ratios.set_axis(list(BOUNDS), axis=1)

    looks = style.looks_of(settings)
    figure, axes = style.panels(settings.dataset_titles, ["bound"], 1, height=2.0)
    for (dataset, _), ax in axes.items():
        for place, (method, look) in enumerate(looks.items()):
            shift = 0.7 * (place + 0.5) / len(looks) - 0.35
            for number, layer in enumerate(LAYERS):
                if (dataset, method, layer) in ratios.index:
                    of_bounds = ratios.loc[dataset, method, layer]
                    _draw(ax, number + shift, look, **of_bounds)
        style.zero(ax, at=1)
        ax.set_yscale("log")
        ax.set_xticks(range(len(LAYERS)), list(LAYERS.values()))
        ax.grid(axis="x", visible=False)
        ax.set_ylabel("bound / disparity")
    title = (
        "How many times Theorem 1's bound is the difference between the groups that it "
        "bounds (1: it is exact)\n"
        "Marker: the corrected bound; upper end: as printed; lower end: its sharp form"
    )
    style.legend(figure, looks.values(), title=title)
    return figure


def _draw(
    ax: Axes, x: float, look: style.Look, printed: float, corrected: float, sharp: float
) -> None:
    """Draw a line from the sharp to the printed bound, and the corrected one on it."""
    ax.vlines(x, sharp, printed, color=look.colour, linewidth=0.8)
    ax.plot([x, x], [sharp, printed], "_", color=look.colour, markersize=6)
    ax.plot(x, corrected, look.marker, color=look.colour, markersize=4)
