"""Theory: the bounds beside the disparities that were measured."""

from matplotlib.figure import Figure

from fairgat.report import style
from fairgat.report.inputs import Files, Settings
from fairgat.report.tables.theory import LAYERS, column, read

READS = ("theory",)
TASK = "node_classification"


def draw(settings: Settings, files: Files) -> Figure:
    """Left, per layer and method: the measured disparity (filled) and the corrected bound (hollow), every split.
    Right: bound over disparity, from the sharp form to the printed one, the corrected one as the marker.
    """
    measures = read(files["theory"])
    looks = style.looks(settings.method_titles)
    drawn, axes = style.panels(settings.dataset_titles, ("disparity", "looseness"), columns=2, height=2.5)
    for (dataset, panel), ax in axes.items():
        for place, (method, look) in enumerate(looks.items()):
            mine = measures[(measures["dataset"] == dataset) & (measures["method"] == method)]
            shift = 0.7 * (place + 0.5) / len(looks) - 0.35
            for x, layer in enumerate(LAYERS):
                lines = mine[(mine["layer"] == layer) & (mine["delta_out"] > 0)]
                if lines.empty:
                    continue
                colour, marker, at = look.colour, look.marker, x + shift
                delta, bound = lines["delta_out"], lines["bound"]
                if panel == "disparity":
                    ax.vlines(at, delta.mean(), bound.mean(), color=colour, linewidth=0.6, alpha=0.5)
                    ax.plot([at] * len(lines), delta, marker, color=colour, markersize=3.5)
                    ax.plot([at] * len(lines), bound, marker, color=colour, markersize=3.5, markerfacecolor="none")
                else:
                    low, middle, high = (
                        lines[column("bound", form)].mean() / delta.mean() for form in ("sharp", "", "printed")
                    )
                    ax.vlines(at, low, high, color=colour, linewidth=0.8)
                    ax.plot([at, at], [low, high], "_", color=colour, markersize=6)
                    ax.plot(at, middle, marker, color=colour, markersize=4)
        ax.set_yscale("log")
        ax.set_xticks(range(len(LAYERS)), list(LAYERS.values()))
        ax.grid(axis="x", visible=False)
        ax.set_ylabel(
            "δ (filled), corrected bound (hollow)" if panel == "disparity" else "sharp, corrected, printed bound / δ"
        )
    style.legend(drawn, looks.values())
    return drawn
