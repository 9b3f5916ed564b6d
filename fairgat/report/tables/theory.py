"""Theory: the terms and bounds of Theorem 1 and Lemma 1 on trained models."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import frames
from fairgat.report import inputs, labels
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Cell, Math, Table, Text
from fairgat.report.tables._measured import Line, Measured, number, spread

READS = ("theory", "selection")
TASK = "node_classification"

LAYERS = {
    "conv1": "attention 1",
    "conv2": "attention 2",
    "logit": "logit",
    "probability": "probability",
}
BOUNDS = {"printed": "_printed", "corrected": "", "sharp": "_sharp"}
"""The forms of a bound, and what the names of their columns end with."""

_LAYER_HEADER: list[Text] = [
    "Layer",
    Math("δ in", r"$\delta$ in"),
    Math("δ out", r"$\delta$ out"),
    Math("σ(W)", r"$\sigma(W)$"),
    Math("σ(W̃)", r"$\sigma(\tilde W)$"),
    Math("α_χ", r"$\alpha^{\chi}$"),
    Math("τ(B)", r"$\tau(B)$"),
    Math("Δ_c", r"$\Delta_c$"),
    Math("Δ_z", r"$\Delta_z$"),
    *[Math(f"{form} / δ", rf"{form}$/\delta$") for form in BOUNDS],
]
_NETWORK_HEADER: list[Text] = [
    Math("δ of logits", r"$\delta$ of logits"),
    *BOUNDS,
    Math("δ of probabilities", r"$\delta$ of probabilities"),
    *BOUNDS,
    Math("ΔSP (%)", r"$\Delta_{SP}$ ($\%$)"),
]


def read(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read results/theory/{dataset}/{method}.csv.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    return frames.read(*paths, columns=("dataset", "method", "layer"))


def build(settings: Settings, files: Files) -> Table:
    """Show the terms of each layer, and the bounds composed for each network.

    Means over the splits.
    """
    measured = read(files["theory"])
    made = Measured(settings, inputs.selections(files, settings))
    layers = made.panel(
        measured,
        _LAYER_HEADER,
        partial(_layers, ddof=settings.ddof),
        "Layer by layer",
        left=3,
    )
    network = made.panel(
        measured,
        _NETWORK_HEADER,
        partial(_network, ddof=settings.ddof),
        "The whole network: bounds composed from the features on",
        "δ of probabilities cannot exceed 1 in any model. ΔSP is that of the "
        "decisions, over all nodes.",
    )
    return Table(
        name="theory",
        caption="Theorem 1 and Lemma 1 on the trained models.",
        explanation=(
            "Means over the splits, over all nodes of the graph; δ with its standard "
            "deviation over the splits, the attention to inter-edges with its spread "
            f"over nodes. {labels.represented(settings)} τ(B) says how much of the "
            "difference between groups their attention passes on: of two, "
            "|a_0 + a_1 − 1|. Printed, corrected and sharp are forms of the bound: of "
            "a layer divided by the disparity δ that was measured, so that 1 would be "
            "exact, of the whole network as they are."
        ),
        panels=[layers, network],
        notes=made.notes.all(),
    )


def _layers(measured: pd.DataFrame, ddof: int) -> Iterator[Line]:
    """Show the terms of each layer of a method's networks."""
    for layer, name in LAYERS.items():
        lines = measured[measured["layer"] == layer]
        mean = lines.mean(numeric_only=True)
        delta = mean["delta_out"] or np.nan
        line: Line = [
            name,
            number(mean["delta_in"]),
            spread(lines["delta_out"], ddof),
            number(mean["sigma_max"]),
            number(mean["sigma_effective"]),
            _attention(mean),
        ]
        for term in ("tau", "delta_c", "delta_z"):
            line.append(number(mean[term]))
        for form in BOUNDS.values():
            line.append(number(mean[f"bound{form}"] / delta))
        yield line


def _attention(mean: pd.Series) -> Cell:
    """Show the mean attention to inter-edges, and its spread over the nodes."""
    attention = number(mean["alpha_chi"])
    deviation = number(mean["alpha_chi_std"])
    if deviation == DASH:
        return Cell(attention)
    return Cell(attention, std=str(deviation))


def _network(measured: pd.DataFrame, ddof: int) -> Iterator[Line]:
    """Show the bounds of a method's whole networks."""
    line: Line = []
    for layer in ("logit", "probability"):
        lines = measured[measured["layer"] == layer]
        line.append(spread(lines["delta_out"], ddof))
        for form in BOUNDS.values():
            bound = lines[f"composed{form}"]
            line.append(number(bound.mean()))
    parity = 100 * measured["statistical_parity"]
    yield [*line, spread(parity, ddof)]
