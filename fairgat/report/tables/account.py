"""Account: the gap between the groups on trained models, and what it is made of."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from fairgat import frames
from fairgat.report import inputs, labels, percent
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import Math, Table, Text
from fairgat.report.tables._measured import Line, Measured, number, spread

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
_PARTS_HEADER: list[Text] = ["Of", "gap", *PARTS.values(), *_OTHERS.values()]


def read(files: Files, settings: Settings) -> pd.DataFrame:
    """Read results/account/{dataset}/{method}.csv, of the cells that were selected.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    columns = ("dataset", "method", "cell", "layer")
    frame = frames.read(*files["account"], columns=columns)
    chosen = set()
    for pair, entry in inputs.selections(files, settings).items():
        chosen.add((*pair, entry["winner"]))
    of_cells = frame[["dataset", "method", "cell"]].itertuples(index=False, name=None)
    is_chosen = pd.Series([cell in chosen for cell in of_cells], dtype=bool)
    return frame[is_chosen]


def build(settings: Settings, files: Files) -> Table:
    """Show the gaps of decisions and of logits, and the distances layer by layer.

    Means over the splits.
    """
    accounts = read(files, settings)
    logits = accounts[accounts["layer"] == "logit"]
    is_of_all = accounts["over"] == "all"
    layers = accounts[accounts["layer"].isin(LAYERS) & is_of_all]
    winners = inputs.winners(files, settings)
    made = Measured(settings, inputs.selections(files, settings))
    parts = partial(_parts, ddof=settings.ddof)
    panels = [
        made.panel(
            winners,
            [labels.metric(name) for name in DECISIONS],
            _decisions,
            "The decisions",
            "On test. The labels' part of ΔSP is there because label 1 is more "
            "frequent in one group; without errors it would be all of it. The errors' "
            "part is the rest (Kitagawa 1955).",
        ),
        made.panel(
            logits,
            _PARTS_HEADER,
            parts,
            "The logits",
            "In units of the logits.",
            left=3,
        ),
        made.panel(
            logits,
            ["Of", *DECIDED.values()],
            partial(_decided, ddof=settings.ddof),
            "From the logits to the decisions",
            "The difference between the groups' shares of positive logits, over all "
            "nodes, in points, and its parts. That of the base rates is there because "
            "label 1 is more frequent in one group. The others are among people of one "
            "label: what moving one group's logits to the mean of the other's changes "
            "(the average of both moves), and the remainder, such as how far from the "
            "threshold people lie.",
            left=3,
        ),
        made.panel(
            layers,
            _PARTS_HEADER,
            parts,
            "Layer by layer",
            "The distance between the groups' mean representations, all parts measured "
            "along its direction.",
            left=3,
        ),
    ]
    return Table(
        name="account",
        caption="Where the gap between the groups comes from.",
        explanation=(
            "A gap is the mean of group 1 less that of group 0, or with more groups "
            "that of each group less that of all others; means over the splits ± their "
            "standard deviation, over all nodes of the graph. Its parts add up to it. "
            "Mixing is what attention between the groups leaves of their difference, "
            "the factor 1 − a_0 − a_1 of it; selection, split into label selection and "
            "the rest, is attention to people who are not their group's average; the "
            "nonlinearity is what ReLU makes of them (docs/theory.md). The logits' "
            "account is of the second attention layer: what the first one does stands "
            "in its inputs. A share α on other groups' neighbours makes the factor "
            "1 − (R_0 + R_1) α. The spread is the standard deviation over the nodes, "
            "the unit in which the gaps of two methods compare. "
            f"{labels.represented(settings)}"
        ),
        panels=panels,
        notes=made.notes.all(),
    )


def _decisions(winner: pd.DataFrame) -> Iterator[Line]:
    """Show the scores of a method's decisions."""
    scores = {line.metric: (line.mean, line.std) for line in winner.itertuples()}
    missing = (None, None)
    yield [percent.score(*scores.get(name, missing)) for name in DECISIONS]


def _parts(accounts: pd.DataFrame, ddof: int) -> Iterator[Line]:
    """Show the parts of the gap in each layer, or among everyone and of each label."""
    for name, mine in _by_name(accounts):
        line: Line = [name]
        for column in ("gap", *PARTS):
            line.append(spread(mine[column], ddof, 3, sign=True))
        for column in _OTHERS:
            line.append(number(mine[column].mean(), 3))
        yield line


def _decided(accounts: pd.DataFrame, ddof: int) -> Iterator[Line]:
    """Show the parts of the gap of positive logits."""
    for name, mine in _by_name(accounts):
        parts = [spread(100 * mine[part], ddof, 2, sign=True) for part in DECIDED]
        yield [name, *parts]


def _by_name(accounts: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Part the rows of a method by what they are of: its name, and its rows."""
    several = accounts["group"].nunique() > 1
    of_one = accounts.groupby(["layer", "over", "group"], sort=False)
    for (layer, over, group), mine in of_one:
        name = LAYERS.get(layer, over)
        if several:
            name += f", group {group}"
        yield name, mine
