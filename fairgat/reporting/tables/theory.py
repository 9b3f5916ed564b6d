"""The terms and bounds of Theorem 1 and Lemma 1 on trained models, as a table and as a figure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fairgat.errors import DataError
from fairgat.reporting import style
from fairgat.reporting.model import Block, Cell, Math, Notes, Panel, Row, Table
from fairgat.reporting.results import DASH, RULES

LAYERS = {"conv1": "attention 1", "conv2": "attention 2", "logit": "logit", "probability": "probability"}
FORMS = ("printed", "", "sharp")  # of the bound; the corrected one has no suffix

Settings = Mapping[str, Any]
Rows = Callable[[str, pd.DataFrame], Iterator[tuple[str, list[Cell]]]]  # of a method's title and measures


def read(paths: Sequence[str | Path]) -> pd.DataFrame:
    """The rows of results/theory/{dataset}/{method}.csv.

    Raises:
        DataError: a file is missing or malformed.
    """
    try:
        frames = [pd.read_csv(path) for path in paths]
        # A header without rows would make every column one of objects.
        return pd.concat([frame for frame in frames if len(frame)] or frames, ignore_index=True)
    except (OSError, ValueError) as error:
        raise DataError(f"the theory's measures cannot be read: {error}") from None


def table(settings: Settings, measures: pd.DataFrame) -> Table:
    """One panel of terms per layer, one of composed bounds per network; means over the splits.

    Args:
        settings: as `fairgat.reporting.settings.table_settings` gives them.
        measures: as `read` gives them.
    """
    notes = Notes()
    layer_rows, network_rows = (partial(rows, ddof=settings["ddof"]) for rows in (_layer_rows, _network_rows))
    layers = [_block(dataset, settings, measures, notes, layer_rows, 12) for dataset in settings["datasets"]]
    networks = [_block(dataset, settings, measures, notes, network_rows, 9) for dataset in settings["datasets"]]
    over = [Math(f"{name} / δ", rf"{name}$/\delta$") for name in ("printed", "corrected", "sharp")]
    return Table(
        name="theory",
        caption="Theorem 1 and Lemma 1 on the trained models.",
        explanation=(
            "Means over the splits, over all nodes of the graph; δ with its standard deviation over the splits, the "
            "attention to inter-edges with its spread over nodes. Each method is represented by "
            f"{RULES[settings['rule']]}. Printed, corrected and sharp are forms of the bound: of a layer divided "
            "by the disparity δ that was measured, so that 1 would be exact, of the whole network as they are."
        ),
        panels=[
            Panel(
                "multirow",
                [
                    "Data set",
                    "Method",
                    "Layer",
                    Math("δ in", r"$\delta$ in"),
                    Math("δ out", r"$\delta$ out"),
                    Math("σ(W)", r"$\sigma(W)$"),
                    Math("σ(W̃)", r"$\sigma(\tilde W)$"),
                    Math("α_χ", r"$\alpha^{\chi}$"),
                    Math("|a_0 + a_1 − 1|", r"$|a_0 + a_1 - 1|$"),
                    Math("Δ_c", r"$\Delta_c$"),
                    Math("Δ_z", r"$\Delta_z$"),
                    *over,
                ],
                layers,
                title="Layer by layer",
                align="lll" + "r" * 11,
            ),
            Panel(
                "multirow",
                [
                    "Data set",
                    "Method",
                    Math("δ of logits", r"$\delta$ of logits"),
                    "printed",
                    "corrected",
                    "sharp",
                    Math("δ of probabilities", r"$\delta$ of probabilities"),
                    "printed",
                    "corrected",
                    "sharp",
                    Math("ΔSP (%)", r"$\Delta_{SP}$ ($\%$)"),
                ],
                networks,
                title="The whole network: bounds composed from the features on",
                text=(
                    "δ of probabilities cannot exceed 1 in any model. ΔSP is that of the decisions, over all nodes.",
                ),
                align="ll" + "r" * 9,
            ),
        ],
        notes=notes.all(),
        size="tiny",
    )


def _block(dataset: Mapping, settings: Settings, measures: pd.DataFrame, notes: Notes, rows: Rows, width: int) -> Block:
    """The rows of one data set; `width` cells follow a method's name."""
    if dataset["reason"]:
        return Block(dataset["title"], reason=dataset["reason"])
    found = []
    for number, method in enumerate(settings["methods"]):
        mine = measures[(measures["dataset"] == dataset["name"]) & (measures["method"] == method["name"])]
        if mine.empty:
            why = method["reason"] or "no cell was selected, or the data set has not two groups"
            mark = notes.mark(f"{method['title']} on {dataset['title']}: not measured ({why}).")
            found.append(Row([Cell(method["title"], mark=mark), *[Cell(DASH)] * width], number))
        else:
            found += [Row([Cell(text), *cells], number) for text, cells in rows(method["title"], mine)]
    return Block(dataset["title"], found)


def _layer_rows(title: str, mine: pd.DataFrame, ddof: int) -> Iterator[tuple[str, list[Cell]]]:
    for place, (layer, name) in enumerate(LAYERS.items()):
        lines = mine[mine["layer"] == layer]
        mean = lines.mean(numeric_only=True)
        looseness = [Cell(_ratio(mean[_column("bound", form)], mean["delta_out"])) for form in FORMS]
        yield (
            title if place == 0 else "",
            [
                Cell(name),
                Cell(_number(mean["delta_in"])),
                _spread(lines["delta_out"], ddof),
                Cell(_number(mean["sigma_max"])),
                Cell(_number(mean["sigma_effective"])),
                Cell(_number(mean["alpha_chi"]), std=_number(mean["alpha_chi_std"], none="")),
                Cell(_number(mean["factor"])),
                Cell(_number(mean["delta_c"])),
                Cell(_number(mean["delta_z"])),
                *looseness,
            ],
        )


def _network_rows(title: str, mine: pd.DataFrame, ddof: int) -> Iterator[tuple[str, list[Cell]]]:
    cells = []
    for layer in ("logit", "probability"):
        lines = mine[mine["layer"] == layer]
        cells += [_spread(lines["delta_out"], ddof)]
        cells += [Cell(_number(lines[_column("composed", form)].mean())) for form in FORMS]
    yield title, [*cells, _spread(100 * lines["statistical_parity"], ddof)]


def _column(kind: str, form: str) -> str:
    return f"{kind}_{form}" if form else kind


def _spread(values: pd.Series, ddof: int) -> Cell:
    """Mean and deviation with as many decimals as each other."""
    mean, std = _number(values.mean()), values.std(ddof=ddof)
    decimals = len(str(mean).partition(".")[2])
    return Cell(mean, std=f"{std:.{decimals}f}" if np.isfinite(std) else "")


def _ratio(bound: float, measured: float) -> str | Math:
    return _number(bound / measured) if measured else DASH


def _number(value: float, none: str | Math = DASH) -> str | Math:
    """Three significant digits without exponents."""
    if not np.isfinite(value):
        return none
    digits = 3 if abs(value) < 0.9995 else max(0, 2 - int(np.log10(abs(value))))
    return f"{value:.{digits}f}"


def figure(settings: Settings, measures: pd.DataFrame) -> Figure:
    """Left, per layer and method: the measured disparity (filled) and the corrected bound (hollow), every split.
    Right: bound over disparity, from the sharp form to the printed one, the corrected one as the marker.

    Args:
        settings: as for `table`.
        measures: as `read` gives them.
    """
    datasets = [entry for entry in settings["datasets"] if not entry["reason"]]
    looks = style.looks(entry for entry in settings["methods"] if not entry["reason"])
    drawn, axes = style.panels(datasets, ("disparity", "looseness"), columns=2, height=2.5)
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
                        lines[_column("bound", form)].mean() / delta.mean() for form in ("sharp", "", "printed")
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
