"""Theory: the terms and bounds of Theorem 1 and Lemma 1 on trained models."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import frames
from fairgat.config.shown import ShownDataset
from fairgat.report import labels
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Block, Cell, Math, Notes, Panel, Row, Table, Text

READS = ("theory",)
TASK = "node_classification"

LAYERS = {"conv1": "attention 1", "conv2": "attention 2", "logit": "logit", "probability": "probability"}
FORMS = ("printed", "", "sharp")  # of the bound; the corrected one has no suffix

_LAYER_HEADER: list[Text] = [
    "Data set",
    "Method",
    "Layer",
    Math("δ in", r"$\delta$ in"),
    Math("δ out", r"$\delta$ out"),
    Math("σ(W)", r"$\sigma(W)$"),
    Math("σ(W̃)", r"$\sigma(\tilde W)$"),
    Math("α_χ", r"$\alpha^{\chi}$"),
    Math("τ(B)", r"$\tau(B)$"),
    Math("Δ_c", r"$\Delta_c$"),
    Math("Δ_z", r"$\Delta_z$"),
    *(Math(f"{name} / δ", rf"{name}$/\delta$") for name in ("printed", "corrected", "sharp")),
]
_BOUNDS = ("printed", "corrected", "sharp")
_NETWORK_HEADER: list[Text] = [
    "Data set", "Method",
    Math("δ of logits", r"$\delta$ of logits"), *_BOUNDS,
    Math("δ of probabilities", r"$\delta$ of probabilities"), *_BOUNDS,
    Math("ΔSP (%)", r"$\Delta_{SP}$ ($\%$)"),
]  # fmt: skip
Rows = Callable[[str, pd.DataFrame, int], Iterator[tuple[str, list[Cell]]]]  # of a method's title, measures and ddof


def read(paths: Sequence[str | Path]) -> pd.DataFrame:
    """The rows of results/theory/{dataset}/{method}.csv.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    return frames.read(*paths, columns=("dataset", "method", "layer"))


def build(settings: Settings, files: Files) -> Table:
    """One panel of terms per layer, one of composed bounds per network; means over the splits."""
    measures, notes = read(files["theory"]), Notes()

    def panel(title: str, header: Sequence[Text], rows: Rows, left: int, text: str = "") -> Panel:
        blocks = [_block(d, settings, measures, notes, rows, len(header) - 2) for d in settings.datasets]
        align = "l" * left + "r" * (len(header) - left)
        return Panel("multirow", header, blocks, title, (text,) if text else (), align=align)

    return Table(
        name="theory",
        caption="Theorem 1 and Lemma 1 on the trained models.",
        explanation=(
            "Means over the splits, over all nodes of the graph; δ with its standard deviation over the splits, the "
            "attention to inter-edges with its spread over nodes. Each method is represented by "
            f"{labels.RULES[settings.rule]}. τ(B) says how much of the difference between groups their attention "
            "passes on: of two, |a_0 + a_1 − 1|. Printed, corrected and sharp are forms of the bound: of a layer "
            "divided by the disparity δ that was measured, so that 1 would be exact, of the whole network as they are."
        ),
        panels=[
            panel("Layer by layer", _LAYER_HEADER, _layer_rows, 3),
            panel(
                "The whole network: bounds composed from the features on",
                _NETWORK_HEADER,
                _network_rows,
                2,
                "δ of probabilities cannot exceed 1 in any model. ΔSP is that of the decisions, over all nodes.",
            ),
        ],
        notes=notes.all(),
        size="tiny",
    )


def _block(
    dataset: ShownDataset, settings: Settings, measures: pd.DataFrame, notes: Notes, rows: Rows, width: int
) -> Block:
    """The rows of one data set; `width` cells follow a method's name."""
    if dataset.reason:
        return Block(dataset.title, reason=dataset.reason)
    lines = []
    for number, method in enumerate(settings.methods):
        mine = measures[(measures["dataset"] == dataset.name) & (measures["method"] == method.name)]
        if mine.empty:
            why = method.reason or "no cell was selected"
            mark = notes.mark(f"{method.title} on {dataset.title}: not measured ({why}).")
            lines.append(Row([Cell(method.title, mark=mark), *[Cell(DASH)] * width], number))
        else:
            lines += [Row([Cell(text), *cells], number) for text, cells in rows(method.title, mine, settings.ddof)]
    return Block(dataset.title, lines)


def _layer_rows(title: str, mine: pd.DataFrame, ddof: int) -> Iterator[tuple[str, list[Cell]]]:
    for place, (layer, name) in enumerate(LAYERS.items()):
        lines = mine[mine["layer"] == layer]
        mean = lines.mean(numeric_only=True)
        delta, terms = mean["delta_out"], ("tau", "delta_c", "delta_z")
        bounds = (mean[column("bound", form)] for form in FORMS)
        yield (
            title if place == 0 else "",
            [
                Cell(name),
                Cell(_number(mean["delta_in"])),
                _spread(lines["delta_out"], ddof),
                *(Cell(_number(mean[term])) for term in ("sigma_max", "sigma_effective")),
                Cell(_number(mean["alpha_chi"]), std=_number(mean["alpha_chi_std"], none="")),
                *(Cell(_number(mean[term])) for term in terms),
                *(Cell(_number(bound / delta) if delta else DASH) for bound in bounds),
            ],
        )


def _network_rows(title: str, mine: pd.DataFrame, ddof: int) -> Iterator[tuple[str, list[Cell]]]:
    cells = []
    for layer in ("logit", "probability"):
        lines = mine[mine["layer"] == layer]
        cells += [_spread(lines["delta_out"], ddof)]
        cells += [Cell(_number(lines[column("composed", form)].mean())) for form in FORMS]
    yield title, [*cells, _spread(100 * lines["statistical_parity"], ddof)]


def column(kind: str, form: str) -> str:
    """The measures' column of a form of the bound."""
    return f"{kind}_{form}" if form else kind


def _spread(values: pd.Series, ddof: int) -> Cell:
    """Mean and deviation with as many decimals as each other."""
    mean, std = _number(values.mean()), values.std(ddof=ddof)
    decimals = len(str(mean).partition(".")[2])
    return Cell(mean, std=f"{std:.{decimals}f}" if np.isfinite(std) else "")


def _number(value: float, none: str | Math = DASH) -> str | Math:
    """Three significant digits without exponents."""
    if not np.isfinite(value):
        return none
    digits = 3 if abs(value) < 0.9995 else max(0, 2 - int(np.log10(abs(value))))
    return f"{value:.{digits}f}"
