"""Scores: a block for each data set, a row for each method, and in bold what is better than GAT's."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from fairgat import measures
from fairgat.config import Dataset, Method
from fairgat.measures import Measure
from fairgat.report import inputs, labels, percent
from fairgat.report.failures import in_words, of_selection
from fairgat.report.inputs import Files, Selections, Settings
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Row, Table, row
from fairgat.scores.paired import REFERENCE, against_reference
from fairgat.scores.runs import read
from fairgat.scores.summary import with_same

READS = ("winners", "selection", "runs")
TASK = None

BETTER, WORSE = "+", "-"
_BOLD = (
    f"In bold and with a superscript {BETTER}: better than GAT on the same splits, as the 95 % interval of the paired "
    f"difference leaves out 0, which one in twenty does by chance; with a superscript {WORSE}: worse."
)
_MISSING = "it is missing, as a rate over nobody has no value"
_MANY = 6  # measures: the data set's title then stands beside its rows, as in the paper's table of link prediction


def build(settings: Settings, files: Files) -> Table:
    """Make a table of the measures of the task, or of those that its entry lists: mean ± standard deviation.

    A method without a result keeps its row, with a note that says why. The last column is the cell.
    """
    entry, notes, scores = (
        settings.config.table(settings.name),
        Notes(),
        compared(settings, files),
    )
    columns = [
        measures.find(name)
        for name in entry.measures or measures.names(settings.task, "shown")
    ]
    rows = _rows(settings, inputs.selections(files, settings), scores, columns, notes)
    wide = len(columns) >= _MANY
    header = [
        "",
        *[""] * wide,
        *(labels.metric(measure.name) for measure in columns),
        "Cell",
    ]
    blocks = [
        Block(each.title, rows.get(each.name, []), each.reason or "")
        for each in settings.datasets
    ]
    align = "l" * (1 + wide) + "c" * len(columns) + "l"
    bold = [("", _BOLD)] if scores["low"].notna().any() else []
    return Table(
        name=settings.name,
        caption=entry.title or settings.name,
        panels=[
            Panel(
                "multirow" if wide else "stacked",
                header,
                blocks,
                aside=True,
                align=align,
            )
        ],
        notes=[*notes.all(), *bold],
        explanation=(
            f"Test mean ± standard deviation over the splits. {_directions(columns)}Each method is represented by "
            f"{labels.RULES[settings.rule]}."
        ),
        source=f"From summary/{settings.task}/winners.csv; each split's scores: summary/{settings.task}/runs.csv.",
        size="scriptsize" if wide else "footnotesize",
    )


def _rows(
    settings: Settings,
    selections: Selections,
    scores: pd.DataFrame,
    columns: list[Measure],
    notes: Notes,
) -> dict[str, list[Row]]:
    """Make a row for each method on each data set that is run, by the data set's name."""
    lines = {
        (line.dataset, line.method, line.metric): line for line in scores.itertuples()
    }
    several = set(scores.loc[scores["metric"] == measures.MORE_GROUPS, "dataset"])
    rows: dict[str, list[Row]] = {
        each.name: [] for each in settings.datasets if not each.reason
    }
    for dataset, method in product(settings.datasets, settings.methods):
        if dataset.reason:
            continue
        pair = (dataset.name, method.name)
        selection = selections.get(pair)
        mark = why(
            dataset, method, selection, notes, more_groups=dataset.name in several
        )
        cells = [
            _cell(lines.get((*pair, measure.name)), measure, selection, notes)
            for measure in columns
        ]
        chosen = (
            in_words(selection["winner"]) if selection and selection["winner"] else DASH
        )
        rows[dataset.name].append(
            row(Cell(method.title, mark=mark), *cells, chosen, group=group(method.name))
        )
    return rows


def compared(settings: Settings, files: Files) -> pd.DataFrame:
    """Give the scores of the cells that were selected, with the ends of the interval of their difference to GAT's.

    Returns:
        The rows of winners.csv under the rule and the protocols that are shown, with `low` and `high`.
    """
    winners, keys = (
        inputs.winners(files, settings),
        ["dataset", "method", "cell", "metric"],
    )
    gaps = against_reference(
        read(*files["runs"]), winners, settings.rule, settings.protocols
    )
    winners = winners[winners["method"].isin(settings.rows)]
    return winners.merge(
        with_same(gaps, settings.same)[[*keys, "low", "high"]], how="left", on=keys
    )


def group(method: str) -> int:
    """GAT, the others and FairGAT: the paper draws a rule between these."""
    return {REFERENCE: 0, labels.SUBJECT: 2}.get(method, 1)


def verdict(low: float, high: float, measure: Measure) -> str:
    """Mark a difference to GAT whose interval has these ends; empty where it has 0, or where neither way is better."""
    if measure.better is None or not (low > 0 or high < 0):
        return ""
    return BETTER if (low > 0) == (measure.better == "higher") else WORSE


def _cell(
    line: Any, measure: Measure, selection: Mapping[str, Any] | None, notes: Notes
) -> Cell:
    """Show a mean, with a note where it is missing or over fewer splits than were run."""
    if line is None:
        lacking = selection and selection["winner"]  # the cell was run
        return Cell(
            DASH, mark=notes.mark(f"On every split {_MISSING}.") if lacking else ""
        )
    sign = verdict(line.low, line.high, measure)
    ran = (
        next(
            (
                each["n_splits"]
                for each in selection["cells"]
                if each["cell"] == line.cell
            ),
            0,
        )
        if selection
        else 0
    )
    fewer = f"Over {line.n_splits} of {ran} splits: on the others {_MISSING}."
    marks = [sign, notes.mark(fewer) if line.n_splits < ran else ""]
    shown = percent.score(line.mean, line.std, measure.unit)
    return replace(shown, bold=sign == BETTER, mark=", ".join(filter(None, marks)))


def _directions(columns: list[Measure]) -> str:
    """Say which way is better: of the utilities, of which there are few, by name."""
    labels_of = {
        way: [each.label for each in columns if each.better == way]
        for way in ("higher", "lower")
    }
    *others, last = [
        label if label.isupper() else label.lower() for label in labels_of["higher"]
    ] or [""]
    names = f"{', '.join(others)} and {last} are" if others else f"{last} is"
    said = [f"Higher {names} better. "] * bool(last) + [
        "Lower differences are better. "
    ] * bool(labels_of["lower"])
    return "".join(said)


def why(
    dataset: Dataset,
    method: Method,
    selection: Mapping | None,
    notes: Notes,
    more_groups: bool = False,
) -> str:
    """Mark a row that has no result, or whose method lost cells, with a note that says why; empty where all is well."""
    place = f"{method.title} on {dataset.title}"
    if selection is None:
        return notes.mark(f"{place}: not run.")
    lost = of_selection(selection)
    of_groups = (
        f"{place}: {method.note_of_more_groups}"
        if more_groups and method.note_of_more_groups
        else None
    )
    said = [
        text
        for text in (method.note, of_groups, f"{place}: {lost}." if lost else None)
        if text
    ]
    return ", ".join(map(notes.mark, said))
