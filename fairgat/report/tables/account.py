"""Account: the gap between the groups on trained models, and the parts that add up to it."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from fairgat import frames
from fairgat.config.shown import ShownDataset
from fairgat.report import inputs, labels, percent
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Block, Cell, Math, Notes, Panel, Row, Table, Text

READS = ("account", "selection", "winners")
TASK = "node_classification"

PARTS: dict[str, str] = {"mixing": "mixing", "label_selection": "label selection", "rest": "the rest", "gate": "gate"}
DECISIONS = ("accuracy", "statistical_parity", "parity_labels", "parity_errors", "equal_opportunity")
LAYERS = {"conv1": "attention 1", "conv2": "attention 2"}
_OTHERS: dict[str, Text] = {
    "spread": "spread",
    "factor": Math("1 − a_0 − a_1", r"$1 - a_0 - a_1$"),
    "reach": Math("R_0 + R_1", r"$R_0 + R_1$"),
}


def read(files: Files) -> pd.DataFrame:
    """The rows of results/account/{dataset}/{method}.csv of the cells that were selected.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    frame = frames.read(*files["account"], columns=("dataset", "method", "cell", "layer"))
    chosen = {pair: entry["winner"] for pair, entry in inputs.selections(files).items()}
    kept = [chosen.get((row.dataset, row.method)) == row.cell for row in frame.itertuples()]
    return frame[kept]


def build(settings: Settings, files: Files) -> Table:
    """One panel of the decisions' gaps, one of the logits', one of the layers' distances; means over the splits."""
    accounts, notes = read(files), Notes()
    decided = inputs.winners(files, settings).set_index(["dataset", "method", "metric"])[["mean", "std"]]

    def panel(title: str, layers: Mapping[str, str], over: Sequence[str], text: str) -> Panel:
        lines = accounts[accounts["layer"].isin(layers) & accounts["over"].isin(over)]
        blocks = [_block(each, settings, lines, layers, notes) for each in settings.datasets]
        header = ["Data set", "Method", "Of", "gap", *PARTS.values(), *_OTHERS.values()]
        return Panel("multirow", header, blocks, title, (text,), align="lll" + "r" * (len(header) - 3))

    return Table(
        name="account",
        caption="Where the gap between the groups comes from.",
        explanation=(
            "A gap is the mean of group 1 less that of group 0, or with more groups that of each group less that of "
            "all others; means over the splits ± their standard deviation, over all nodes of the graph. Its parts add "
            "up to it. Mixing is what Theorem 1's factor, 1 − a_0 − a_1, makes of the difference between the groups; "
            "selection, split into label selection and the rest, is attention to people who are not their group's "
            "average; the gate is what ReLU does (docs/theory.md). A share α on other groups' neighbours makes the "
            "factor 1 − (R_0 + R_1) α. The spread is the standard deviation over the nodes, the unit in which the gaps "
            f"of two methods compare. Each method is represented by {labels.RULES[settings.rule]}."
        ),
        panels=[
            Panel(
                "multirow",
                ["Data set", "Method", *map(labels.metric, DECISIONS)],
                [_decisions(each, settings, decided) for each in settings.datasets],
                "The decisions",
                (
                    "On test. The labels' part of ΔSP is there because label 1 is more frequent in one group; without "
                    "errors it would be all of it. The errors' part is the rest (Kitagawa 1955).",
                ),
                align="ll" + "r" * len(DECISIONS),
            ),
            panel("The logits", {"logit": ""}, ["all", "label 1", "label 0"], "In units of the logits."),
            panel(
                "Layer by layer",
                LAYERS,
                ["all"],
                "The distance between the groups' mean representations, all parts measured along its direction.",
            ),
        ],
        notes=notes.all(),
        size="tiny",
    )


def _decisions(dataset: ShownDataset, settings: Settings, decided: pd.DataFrame) -> Block:
    if dataset.reason:
        return Block(dataset.title, reason=dataset.reason)
    rows = []
    for number, method in enumerate(settings.methods):
        keys = [(dataset.name, method.name, measure) for measure in DECISIONS]
        cells = [percent.score(*decided.loc[key]) if key in decided.index else Cell(DASH) for key in keys]
        rows.append(Row([Cell(method.title), *cells], number))
    return Block(dataset.title, rows)


def _block(
    dataset: ShownDataset, settings: Settings, accounts: pd.DataFrame, layers: Mapping[str, str], notes: Notes
) -> Block:
    if dataset.reason:
        return Block(dataset.title, reason=dataset.reason)
    rows = []
    for number, method in enumerate(settings.methods):
        mine = accounts[(accounts["dataset"] == dataset.name) & (accounts["method"] == method.name)]
        if mine.empty:
            why = method.reason or "no cell was selected, or its network is not two attention layers"
            mark = notes.mark(f"{method.title} on {dataset.title}: no account ({why}).")
            rows.append(Row([Cell(method.title, mark=mark), *[Cell(DASH)] * (2 + len(PARTS) + len(_OTHERS))], number))
        rows += [
            Row([Cell("" if place else method.title), *cells], number)
            for place, cells in enumerate(_lines(mine, layers, settings.ddof))
        ]
    return Block(dataset.title, rows)


def _lines(mine: pd.DataFrame, layers: Mapping[str, str], ddof: int) -> Iterator[list[Cell]]:
    several = mine["group"].nunique() > 1
    for (layer, over, group), lines in mine.groupby(["layer", "over", "group"], sort=False):
        name = ", ".join(filter(None, [layers[layer], over if layer == "logit" else "", f"group {group}" * several]))
        yield [
            Cell(name),
            *(_signed(lines[column], ddof) for column in ("gap", *PARTS)),
            *(_plain(lines[column]) for column in _OTHERS),
        ]


def _signed(values: pd.Series, ddof: int) -> Cell:
    """A mean with its sign and its standard deviation; a dash where there is none."""
    if values.isna().all():
        return Cell(DASH)
    text, std = f"{round(values.mean(), 3) + 0:+.3f}", values.std(ddof=ddof)  # + 0: no -0.000
    return Cell(Math(text, f"${text}$"), std=f"{std:.3f}" if np.isfinite(std) else "")


def _plain(values: pd.Series) -> Cell:
    return Cell(DASH if values.isna().all() else f"{values.mean():.3f}")
