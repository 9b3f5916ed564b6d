"""Validation metrics along the epochs, of one task."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Selections, Settings
from fairgat.scores.runs import FAIRNESS, UTILITY

POINTS = 100  # of a curve: more make the figure larger, not clearer


def draw(settings: Settings, files: Files) -> Figure:
    """Each method's selected cell: the mean over the splits, and their range as a band; both over a few epochs at a
    time where there are more than POINTS.
    """
    looks = style.looks(settings["methods"])
    found = _histories(files["histories"], inputs.selections(files))
    shown = (UTILITY, "auc") if settings["task"] == "link_prediction" else (UTILITY, *FAIRNESS[settings["task"]])
    known = [name for name in shown if any(f"validation_{name}" in f for fs in found.values() for f in fs)]
    figure, axes = style.panels(settings["datasets"], known, columns=3, height=1.9)
    for (dataset, metric), ax in axes.items():
        for method, look in looks.items():
            frames = found.get((dataset, method), [])
            if not frames:
                continue
            scores = 100 * pd.concat([frame.set_index("epoch")[f"validation_{metric}"] for frame in frames])
            width = -(-scores.index.nunique() // POINTS)
            window = (scores.index - 1) // width
            windows = scores.groupby(window)
            epochs = scores.index.to_series().groupby(window).mean()
            ax.fill_between(epochs, windows.min(), windows.max(), color=look.colour, alpha=0.15, lw=0)
            ax.plot(epochs, windows.mean(), look.line, color=look.colour)
        ax.set(xlabel="epoch", ylabel=style.label(metric))
    style.legend(figure, looks.values(), line=True)
    return figure


def _histories(paths: Sequence[str | Path], selections: Selections) -> dict[tuple[str, str], list[pd.DataFrame]]:
    """(data set, method) → the history of its selected cell on every split."""
    chosen = {
        f"runs/{entry['task']}/{dataset}/{method}/{entry['winner']}": (dataset, method)
        for (dataset, method), entry in selections.items()
        if entry["winner"] is not None
    }
    found: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in map(Path, paths):
        folder = path.parent.parent.as_posix()
        for end, key in chosen.items():
            if folder.endswith(f"/{end}"):
                found.setdefault(key, []).append(pd.read_csv(path))
    return found
