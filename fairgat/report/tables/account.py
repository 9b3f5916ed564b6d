"""Account: the gap between the groups on trained models, and the parts that add up to it."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from fairgat import frames
from fairgat.report import inputs, labels, percent
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Cell, Math, Notes, Panel, Table, Text
from fairgat.report.tables._measured import number, panel, spread

READS = ("account", "selection", "winners")
TASK = "node_classification"

PARTS = {
    "mixing": "mixing",
    "label_selection": "label selection",
    "rest": "the rest",
    "nonlinearity": "nonlinearity",
}
DECIDED = {
    "decided": "gap",
    "base_rates": "base rates",
    "means": "means within labels",
    "remainder": "remainder",
}
DECISIONS = (
    "accuracy",
    "statistical_parity",
    "parity_labels",
    "parity_errors",
    "equal_opportunity",
)
LAYERS = {"conv1": "attention 1", "conv2": "attention 2"}
_OTHERS: dict[str, Text] = {
    "spread": "spread",
    "factor": Math("1 − a_0 − a_1", r"$1 - a_0 - a_1$"),
    "reach": Math("R_0 + R_1", r"$R_0 + R_1$"),
}


def read(files: Files, settings: Settings) -> pd.DataFrame:
    """The rows of results/account/{dataset}/{method}.csv of the cells that were selected.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    frame = frames.read(
        *files["account"], columns=("dataset", "method", "cell", "layer")
    )
    chosen = {
        pair: entry["winner"]
        for pair, entry in inputs.selections(files, settings).items()
    }
    kept = [
        chosen.get((row.dataset, row.method)) == row.cell for row in frame.itertuples()
    ]
    return frame[kept]


def build(settings: Settings, files: Files) -> Table:
    """One panel of the decisions' gaps, one of the logits', one of the layers' distances; means over the splits."""
    accounts, asked, notes = (
        read(files, settings),
        inputs.selections(files, settings),
        Notes(),
    )
    logits = accounts[accounts["layer"] == "logit"]

    def decisions(mine: pd.DataFrame) -> Iterator[list[Cell]]:
        known = mine.set_index("metric")[["mean", "std"]]
        yield [
            percent.score(*known.loc[name]) if name in known.index else Cell(DASH)
            for name in DECISIONS
        ]

    def parts(mine: pd.DataFrame) -> Iterator[list[Cell | Text]]:
        several = mine["group"].nunique() > 1
        for (layer, over, group), lines in mine.groupby(
            ["layer", "over", "group"], sort=False
        ):
            of = [
                LAYERS.get(layer),
                over if layer == "logit" else None,
                f"group {group}" if several else None,
            ]
            yield [
                ", ".join(filter(None, of)),
                *(
                    spread(lines[column], settings.ddof, 3, sign=True)
                    for column in ("gap", *PARTS)
                ),
                *(number(lines[column].mean(), 3) for column in _OTHERS),
            ]

    def accounted(
        layers: Mapping[str, str] | set[str], over: Sequence[str], title: str, text: str
    ) -> Panel:
        lines = accounts[accounts["layer"].isin(layers) & accounts["over"].isin(over)]
        header = ["Of", "gap", *PARTS.values(), *_OTHERS.values()]
        return panel(settings, notes, asked, lines, header, parts, title, text, left=3)

    def decided(mine: pd.DataFrame) -> Iterator[list[Cell | Text]]:
        several = mine["group"].nunique() > 1
        for (over, group), lines in mine.groupby(["over", "group"], sort=False):
            of = f"{over}, group {group}" if several else over
            yield [
                of,
                *(
                    spread(100 * lines[column], settings.ddof, 2, sign=True)
                    for column in DECIDED
                ),
            ]

    return Table(
        name="account",
        caption="Where the gap between the groups comes from.",
        explanation=(
            "A gap is the mean of group 1 less that of group 0, or with more groups that "
            "of each group less that of all others; means over the splits ± their "
            "standard deviation, over all nodes of the graph. Its parts add up to it. "
            "Mixing is what attention between the groups leaves of their difference, the "
            "factor 1 − a_0 − a_1 of it; selection, split into label selection and the "
            "rest, is attention to people who are not their group's average; the "
            "nonlinearity is what ReLU makes of them (docs/theory.md). The logits' account "
            "is of the second attention layer: what the first one does stands in its "
            "inputs. A share α on other groups' neighbours makes the factor "
            "1 − (R_0 + R_1) α. The spread is the standard deviation over the nodes, the "
            "unit in which the gaps of two methods compare. "
            f"{labels.represented(settings)}"
        ),
        panels=[
            panel(
                settings,
                notes,
                asked,
                inputs.winners(files, settings),
                [*map(labels.metric, DECISIONS)],
                decisions,
                "The decisions",
                "On test. The labels' part of ΔSP is there because label 1 is more frequent in one group; without "
                "errors it would be all of it. The errors' part is the rest (Kitagawa 1955).",
            ),
            accounted(
                {"logit"},
                ["all", "label 1", "label 0"],
                "The logits",
                "In units of the logits.",
            ),
            panel(
                settings,
                notes,
                asked,
                logits,
                ["Of", *DECIDED.values()],
                decided,
                "From the logits to the decisions",
                "The difference between the groups' shares of positive logits, over all nodes, in points, and its "
                "parts. That of the base rates is there because label 1 is more frequent in one group. The others are "
                "among people of one label: what moving one group's logits to the mean of the other's changes (the "
                "average of both moves), and the remainder, such as how far from the threshold people lie.",
                left=3,
            ),
            accounted(
                LAYERS,
                ["all"],
                "Layer by layer",
                "The distance between the groups' mean representations, all parts measured along its direction.",
            ),
        ],
        notes=notes.all(),
    )
