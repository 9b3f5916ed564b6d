"""Theory: the terms and bounds of Theorem 1 and Lemma 1 on trained models."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import frames
from fairgat.report import inputs, labels
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Cell, Math, Notes, Table, Text
from fairgat.report.tables._measured import number, panel, spread

READS = ("theory", "selection")
TASK = "node_classification"

LAYERS = {
    "conv1": "attention 1",
    "conv2": "attention 2",
    "logit": "logit",
    "probability": "probability",
}
FORMS = ("printed", "", "sharp")  # of the bound; the corrected one has no suffix
_BOUNDS = ("printed", "corrected", "sharp")

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
    *(Math(f"{name} / δ", rf"{name}$/\delta$") for name in _BOUNDS),
]
_NETWORK_HEADER: list[Text] = [
    Math("δ of logits", r"$\delta$ of logits"),
    *_BOUNDS,
    Math("δ of probabilities", r"$\delta$ of probabilities"),
    *_BOUNDS,
    Math("ΔSP (%)", r"$\Delta_{SP}$ ($\%$)"),
]


def read(paths: Sequence[str | Path]) -> pd.DataFrame:
    """The rows of results/theory/{dataset}/{method}.csv.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    return frames.read(*paths, columns=("dataset", "method", "layer"))


def build(settings: Settings, files: Files) -> Table:
    """One panel of terms per layer, one of composed bounds per network; means over the splits."""
    measures, notes, ddof = read(files["theory"]), Notes(), settings.ddof
    asked = inputs.selections(files, settings)

    def layers(mine: pd.DataFrame) -> Iterator[list[Cell | Text]]:
        for layer, name in LAYERS.items():
            lines = mine[mine["layer"] == layer]
            mean = lines.mean(numeric_only=True)
            attention, deviation = (
                number(mean["alpha_chi"]),
                number(mean["alpha_chi_std"]),
            )
            delta = mean["delta_out"] or np.nan
            yield [
                name,
                number(mean["delta_in"]),
                spread(lines["delta_out"], ddof),
                *(number(mean[term]) for term in ("sigma_max", "sigma_effective")),
                Cell(attention, std="" if deviation == DASH else str(deviation)),
                *(number(mean[term]) for term in ("tau", "delta_c", "delta_z")),
                *(number(mean[column("bound", form)] / delta) for form in FORMS),
            ]

    def network(mine: pd.DataFrame) -> Iterator[list[Cell | Text]]:
        cells: list[Cell | Text] = []
        for layer in ("logit", "probability"):
            lines = mine[mine["layer"] == layer]
            cells += [spread(lines["delta_out"], ddof)]
            cells += [number(lines[column("composed", form)].mean()) for form in FORMS]
        yield [*cells, spread(100 * lines["statistical_parity"], ddof)]

    return Table(
        name="theory",
        caption="Theorem 1 and Lemma 1 on the trained models.",
        explanation=(
            "Means over the splits, over all nodes of the graph; δ with its standard deviation over the splits, the "
            "attention to inter-edges with its spread over nodes. "
            f"{labels.represented(settings)} τ(B) says how much of the difference between groups their attention "
            "passes on: of two, |a_0 + a_1 − 1|. Printed, corrected and sharp are forms of the bound: of a layer "
            "divided by the disparity δ that was measured, so that 1 would be exact, of the whole network as they are."
        ),
        panels=[
            panel(
                settings,
                notes,
                asked,
                measures,
                _LAYER_HEADER,
                layers,
                "Layer by layer",
                left=3,
            ),
            panel(
                settings,
                notes,
                asked,
                measures,
                _NETWORK_HEADER,
                network,
                "The whole network: bounds composed from the features on",
                "δ of probabilities cannot exceed 1 in any model. ΔSP is that of the decisions, over all nodes.",
            ),
        ],
        notes=notes.all(),
    )


def column(kind: str, form: str) -> str:
    """The measures' column of a form of the bound."""
    return f"{kind}_{form}" if form else kind
