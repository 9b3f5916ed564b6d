"""The figures, each drawn from files that the workflow made. Scores are shown in percent."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairgat.files import read_json
from fairgat.reporting import labels, style
from fairgat.reporting.model import Math
from fairgat.reporting.paper import load as load_paper
from fairgat.reporting.style import Look
from fairgat.reporting.tables import read_selections, read_summary
from fairgat.scores import runs as records
from fairgat.scores.runs import FAIRNESS, HIGHER_IS_BETTER, UTILITY

Settings = Mapping[str, Any]
Files = Sequence[str | Path]
_POINTS = 100  # of a curve: more make the figure larger, not clearer
_PAPER = Line2D([], [], color="#666666", marker="o", markerfacecolor="none", linestyle="", label="paper")


def tradeoff(settings: Settings, metrics: Files, selections: Mapping[tuple[str, str], Any]) -> Figure:
    """Accuracy against each fairness measure: every cell of every method by its test means, the method's Pareto front
    as a line, and the selected cell filled. Up and to the left is better.

    Args:
        settings: as `fairgat.reporting.settings.figure_settings` gives them, with one `task`.
        metrics: metrics.json of every cell and split of the task.
        selections: (data set, method) → selection JSON.
    """
    measures = FAIRNESS[settings["task"]]
    frame = _cells(records.read_all(metrics))
    looks = style.looks(settings["methods"])
    height = 1.9 if len(measures) > 2 else 2.6
    figure, axes = style.panels(settings["datasets"], measures, columns=3, height=height)
    for (dataset, measure), ax in axes.items():
        for method, look in looks.items():
            cells = frame[(frame["dataset"] == dataset) & (frame["method"] == method)]
            if cells.empty:
                continue
            x, y = 100 * cells[measure].to_numpy(), 100 * cells[UTILITY].to_numpy()
            front = pareto(x, y)
            ax.plot(x[front], y[front], look.line, color=look.colour, linewidth=0.9, alpha=0.7, drawstyle="steps-post")
            ax.plot(x, y, look.marker, color=look.colour, markerfacecolor="none", markersize=4, alpha=0.8)
            winner = (selections.get((dataset, method)) or {}).get("winner")
            chosen = (cells["cell"] == winner).to_numpy()
            ax.plot(
                x[chosen], y[chosen], look.marker, color=look.colour, markersize=7, markeredgecolor="white", zorder=3
            )
        ax.margins(0.08, 0.12)  # room for the large markers
        ax.set(xlabel=_label(measure), ylabel=_label(UTILITY))
    chosen = Line2D([], [], color="#666666", marker="o", markersize=7, linestyle="", label="selected cell")
    front = Line2D([], [], color="#666666", linewidth=0.9, label="Pareto front")
    style.legend(figure, looks.values(), [chosen, front])
    return figure


def pareto(cost: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Indices of the points that no other beats in both (lower cost, higher gain), by rising cost.

    Args:
        cost, gain: (n,) values of the same points.
    """
    front: list[int] = []
    for index in np.lexsort((-gain, cost)):
        if not front or gain[index] > gain[front[-1]]:
            front.append(int(index))
    return np.array(front, dtype=int)


def _cells(found: Sequence[records.Record]) -> pd.DataFrame:
    """Mean test metrics of every cell that finished on every split."""
    frame = pd.DataFrame(
        [{"dataset": r.dataset, "method": r.method, "cell": r.cell, "failed": bool(r.failure), **r.test} for r in found]
    )
    if frame.empty:
        return pd.DataFrame(columns=["dataset", "method", "cell"])
    keys = ["dataset", "method", "cell"]
    whole = ~frame.groupby(keys)["failed"].transform("any")
    return frame[whole].drop(columns="failed").groupby(keys, sort=False).mean().reset_index()


def scores(settings: Settings, summary: pd.DataFrame, table: str) -> Figure:
    """Mean ± standard deviation of each method in every metric of a table, the paper's beside them (hollow).

    Args:
        settings: with one `task`.
        summary: the task's summary (fractions).
        table: `ablation` or `link_prediction`.
    """
    metrics = (UTILITY, *FAIRNESS[settings["task"]])
    looks = style.looks(settings["methods"])
    paper = load_paper()[table]
    height = max(1.3, 0.5 + 0.22 * len(looks))
    figure, axes = style.panels(settings["datasets"], metrics, columns=4, height=height, sharey=True)
    for (dataset, metric), ax in axes.items():
        for place, (method, look) in enumerate(looks.items()):
            line = summary.query("dataset == @dataset and method == @method and metric == @metric")
            if not line.empty and pd.notna(line["mean"].iloc[0]):
                _point(
                    ax, 100 * line["mean"].iloc[0], 100 * line["std"].iloc[0], place - 0.12, look.colour, look.marker
                )
            published = paper.get(dataset, {}).get(method, {}).get(metric)
            if published:
                _point(ax, published.mean, published.std, place + 0.2, "#666666", "o", hollow=True)
        ax.set_xlabel(_label(metric))
        ax.set_yticks(range(len(looks)), [look.title for look in looks.values()])
        ax.set_ylim(len(looks) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
    style.legend(figure, [], [Line2D([], [], color="black", marker="o", linestyle="", label="ours"), _PAPER])
    return figure


def _point(ax: Axes, mean: float, std: float, y: float, colour: str, marker: str, hollow: bool = False) -> None:
    ax.errorbar(
        mean,
        y,
        xerr=std if np.isfinite(std) else None,
        fmt=marker,
        color=colour,
        markerfacecolor="none" if hollow else colour,
        markersize=4 if hollow else 5,
        elinewidth=0.8 if hollow else 1.2,
        capsize=2,
    )


def runtime(settings: Settings, measured: Mapping[str, Any]) -> Figure:
    """Seconds per epoch: every timed epoch as a tick, the median as the method's marker.

    Args:
        measured: data set → runtime JSON.
    """
    looks, datasets = style.looks(settings["methods"]), settings["datasets"]
    height = max(1.0, 0.5 + 0.22 * len(looks))
    figure, axes = style.grid(max(1, len(datasets)), 1, height)
    for (ax,), dataset in zip(axes, datasets, strict=True):
        times = measured.get(dataset["name"], {}).get("epoch_seconds", {})
        for place, (method, look) in enumerate(looks.items()):
            if times.get(method):
                ax.plot(times[method], [place] * len(times[method]), "|", color=look.colour, alpha=0.5, markersize=9)
                ax.plot(np.median(times[method]), place, look.marker, color=look.colour, markersize=6)
        ax.set_yticks(range(len(looks)), [look.title for look in looks.values()])
        ax.set_ylim(len(looks) - 0.5, -0.5)
        ax.set_xlim(left=0, right=1.03 * max((max(values) for values in times.values() if values), default=1))
        ax.grid(axis="y", visible=False)
        ax.set_title(style.plain(dataset["title"]), loc="left", fontweight="bold")
    axes[-1][0].set_xlabel("seconds per training epoch (marker: median)")
    return figure


def curves(settings: Settings, selections: Mapping[tuple[str, str], Any], histories: Files) -> Figure:
    """Validation metrics of each method's selected cell along the epochs: the mean over the splits, and their range as
    a band; both over a few epochs at a time where there are more than _POINTS.

    Args:
        settings: with one `task`.
        histories: history.csv of every cell and split of the task, at the path that metrics.json has beside it.
    """
    looks = style.looks(settings["methods"])
    found = _histories(histories, selections)
    known = [name for name in labels.METRICS if any(f"validation_{name}" in f for fs in found.values() for f in fs)]
    figure, axes = style.panels(settings["datasets"], known, columns=3, height=1.9)
    for (dataset, metric), ax in axes.items():
        for method, look in looks.items():
            frames = found.get((dataset, method), [])
            if not frames:
                continue
            scores = 100 * pd.concat([frame.set_index("epoch")[f"validation_{metric}"] for frame in frames])
            width = -(-scores.index.nunique() // _POINTS)
            window = (scores.index - 1) // width
            windows = scores.groupby(window)
            epochs = scores.index.to_series().groupby(window).mean()
            ax.fill_between(epochs, windows.min(), windows.max(), color=look.colour, alpha=0.15, lw=0)
            ax.plot(epochs, windows.mean(), look.line, color=look.colour)
        ax.set(xlabel="epoch", ylabel=_label(metric))
    style.legend(figure, looks.values(), line=True)
    return figure


def _histories(paths: Files, selections: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], list[pd.DataFrame]]:
    """(data set, method) → the history of its selected cell on every split."""
    chosen = {
        f"{entry['task']}/{dataset}/{method}/{entry['winner']}": (dataset, method)
        for (dataset, method), entry in selections.items()
        if entry["winner"] is not None
    }
    found: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in map(Path, paths):
        cell = path.parent.parent.as_posix()
        for end, key in chosen.items():
            if cell.endswith(f"/runs/{end}"):
                found.setdefault(key, []).append(pd.read_csv(path))
    return found


def published(settings: Settings, audit: pd.DataFrame) -> Figure:
    """The paper's means against ours, with both standard deviations; on the diagonal they agree.

    Args:
        audit: paper_vs_reproduced.csv (percent); rows of the rendered rule are drawn.
    """
    looks = style.looks(settings["methods"])
    frame = audit[(audit["rule"] == settings["rule"]) & audit["mean"].notna()]
    link = frame["table"] == "link_prediction"
    better = frame["metric"].isin(HIGHER_IS_BETTER)
    panels = [
        ("Node classification: accuracy (%)", frame[~link & better]),
        ("Node classification: ΔSP and ΔEO (%)", frame[~link & ~better]),
        ("Link prediction: accuracy (%)", frame[link & better]),
        ("Link prediction: ΔDP and ΔEO (%)", frame[link & ~better]),
    ]
    panels = [panel for panel in panels if not panel[1].empty]
    figure, axes = style.grid(max(1, (len(panels) + 1) // 2), 2, 3.0)
    flat = [ax for row in axes for ax in row]
    for ax, (title, rows) in zip(flat, panels, strict=False):
        for line in rows.itertuples():
            look = looks.get(line.method) or Look(line.method, "#666666", "o")
            std = line.std if np.isfinite(line.std) else 0
            ax.errorbar(
                line.paper_mean, line.mean, xerr=line.paper_std, yerr=std,
                fmt=look.marker, color=look.colour, elinewidth=0.6, alpha=0.85,
            )  # fmt: skip
        low, high = min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])
        ax.plot([low, high], [low, high], color="#999999", linewidth=0.8, zorder=1)
        ax.set(xlim=(low, high), ylim=(low, high), xlabel="paper", ylabel="ours", aspect="equal")
        ax.set_title(title, loc="left")
    for ax in flat[len(panels) :]:
        ax.set_axis_off()
    if not panels:
        flat[0].text(0, 0.5, "No published number has a counterpart in this run.", transform=flat[0].transAxes)
    shown = [look for method, look in looks.items() if method in set(frame["method"])]
    style.legend(figure, shown)
    return figure


def _label(metric: str) -> str:
    text = labels.metric(metric)
    return text.tex if isinstance(text, Math) else style.plain(text)


def draw(settings: Settings, sources: Mapping[str, Files]) -> Figure:
    """Draw one figure from files.

    Args:
        settings: as `fairgat.reporting.settings.figure_settings` gives them; `kind` says which figure it is.
        sources: the files it is drawn from, by kind: `metrics`, `selections`, `histories`, `summary`, `runtimes`,
            `audit`; others may be missing or empty.
    """
    readers: dict[str, Callable[[], Figure]] = {
        "tradeoff": lambda: tradeoff(settings, sources["metrics"], read_selections(sources["selections"])),
        "curves": lambda: curves(settings, read_selections(sources["selections"]), sources["histories"]),
        "ablation": lambda: scores(settings, read_summary(sources["summary"]), "ablation"),
        "link_prediction": lambda: scores(settings, read_summary(sources["summary"]), "link_prediction"),
        "runtime": lambda: runtime(settings, {e["dataset"]: e for e in map(read_json, sources["runtimes"])}),
        "published": lambda: published(settings, pd.read_csv(sources["audit"][0])),
    }
    return readers[settings["kind"]]()
