"""Theory: how far the bounds of Theorem 1 are above the disparities that they bound."""

from matplotlib.figure import Figure

from fairgat.report import style
from fairgat.report.inputs import Files, Settings
from fairgat.report.tables.theory import LAYERS, column, read

READS = ("theory",)
TASK = "node_classification"


def draw(settings: Settings, files: Files) -> Figure:
    """Draw for each layer and method the mean bounds over the mean disparity: printed, corrected, sharp."""
    looks = style.looks_of(settings)
    means = (
        read(files["theory"])
        .groupby(["dataset", "method", "layer"])
        .mean(numeric_only=True)
    )
    means = means[means["delta_out"] > 0]
    printed, corrected, sharp = (
        means[column("bound", form)] / means["delta_out"]
        for form in ("printed", "", "sharp")
    )
    figure, axes = style.panels(
        settings.dataset_titles, ["bound"], columns=1, height=2.0
    )
    for (dataset, _), ax in axes.items():
        for place, (method, look) in enumerate(looks.items()):
            shift = 0.7 * (place + 0.5) / len(looks) - 0.35
            for number, layer in enumerate(LAYERS):
                key, x = (dataset, method, layer), number + shift
                if key in means.index:
                    ax.vlines(
                        x, sharp[key], printed[key], color=look.colour, linewidth=0.8
                    )
                    ax.plot(
                        [x, x],
                        [sharp[key], printed[key]],
                        "_",
                        color=look.colour,
                        markersize=6,
                    )
                    ax.plot(
                        x, corrected[key], look.marker, color=look.colour, markersize=4
                    )
        style.zero(ax, at=1)
        ax.set_yscale("log")
        ax.set_xticks(range(len(LAYERS)), list(LAYERS.values()))
        ax.grid(axis="x", visible=False)
        ax.set_ylabel("bound / disparity")
    title = (
        "How many times Theorem 1's bound is the difference between the groups that it bounds (1: it is exact)\n"
        "Marker: the corrected bound; upper end: as printed; lower end: its sharp form"
    )
    style.legend(figure, looks.values(), title=title)
    return figure
