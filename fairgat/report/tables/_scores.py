"""Tables of scores: one block per data set, one row per method, mean ± standard deviation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairgat import measures
from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.measures import Measure
from fairgat.report import inputs, labels, percent
from fairgat.report.failures import in_words, of_selection
from fairgat.report.inputs import Files, Selections, Settings
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Row, Table, row
from fairgat.scores.paired import REFERENCE

_MISSING = "it is missing, as a rate over nobody has no value"


def build(name: str, caption: str, settings: Settings, files: Files, multirow: bool = False) -> Table:
    """A table of every measure of the task that is shown, from `winners` and `selection` files.

    The best mean of each block is bold, at the printed precision, so that ties are all bold; with a single result
    nothing is. A method without a result keeps its row, with a note that says why; so does a measure that is missing on
    some splits. The last column is the cell.

    Args:
        multirow: the paper's layout of link prediction, with a data set's title beside its rows.
    """
    columns = measures.of_task(settings.task, "shown")
    winners = inputs.winners(files, settings)
    selections, notes = inputs.selections(files, settings), Notes()
    several = {line.dataset for line in winners.itertuples() if line.metric == measures.MORE_GROUPS}
    printed = {(line.dataset, line.method, line.metric): _printed(line, selections) for line in winners.itertuples()}

    def rows(dataset: ShownDataset) -> Iterator[Row]:
        scores = {
            m.name: [printed.get((dataset.name, m.name, each.name)) for each in columns] for m in settings.methods
        }
        best = [
            _best([entries[place][0].text for entries in scores.values() if entries[place]], measure)
            for place, measure in enumerate(columns)
        ]
        for method in settings.methods:
            selection = selections.get((dataset.name, method.name))
            winner = selection and selection["winner"]
            mark = why(dataset, method, selection, notes, more_groups=dataset.name in several)
            cells = [Cell(method.title, mark=mark)]
            for entry, target in zip(scores[method.name], best, strict=True):
                # Of a cell that was run, what has no mean is missing on every split.
                cell, note = entry or (Cell(DASH), f"On every split {_MISSING}." if winner else "")
                cells.append(replace(cell, bold=cell.text == target, mark=notes.mark(note) if note else ""))
            yield row(*cells, in_words(winner) if winner else DASH, group=0 if multirow else group(method.name))

    blocks = [
        Block(dataset.title, [] if dataset.reason else [*rows(dataset)], dataset.reason or "")
        for dataset in settings.datasets
    ]
    align = "l" * (1 + multirow) + "c" * len(columns) + "l"
    header = ["", *[""] * multirow, *(labels.metric(measure.name) for measure in columns), "Cell"]
    utility = [measure.label.lower() for measure in columns if measure.better == "higher"]
    higher = f"{' and '.join(utility)} {'is' if len(utility) == 1 else 'are'}"
    return Table(
        name=name,
        caption=caption,
        panels=[Panel("multirow" if multirow else "stacked", header, blocks, aside=True, align=align)],
        notes=notes.all(),
        explanation=(
            f"Test mean ± standard deviation over the splits. Higher {higher} better, lower differences are better; "
            f"the best mean is bold. Each method is represented by {labels.RULES[settings.rule]}."
        ),
        source=(
            f"From summary/{settings.task}/winners.csv. The scores of each split are in "
            f"runs/{settings.task}/(data set)/(method)/runs.csv, its predictions in the cell's folder beside it, "
            "the files of the data set in data/raw/(data set)/."
        ),
        size="scriptsize" if multirow else "footnotesize",
    )


def group(method: str) -> int:
    """GAT, the others and FairGAT: the paper draws a rule between these."""
    return {REFERENCE: 0, labels.SUBJECT: 2}.get(method, 1)


def _best(means: Sequence[str], measure: Measure) -> str | None:
    """The best printed mean; None where there is nothing to compare, or where neither way is better."""
    if len(means) < 2 or measure.better is None:
        return None
    return (max if measure.better == "higher" else min)(means, key=float)


def _printed(line: Any, selections: Selections) -> tuple[Cell, str]:
    """A mean, and a note where it is over fewer splits than were run."""
    cell = percent.score(line.mean, line.std, measures.find(line.metric).unit)
    cells = selections.get((line.dataset, line.method), {"cells": []})["cells"]
    run = next((each["n_splits"] for each in cells if each["cell"] == line.cell), line.n_splits)
    return cell, f"Over {line.n_splits} of {run} splits: on the others {_MISSING}." if line.n_splits < run else ""


def why(
    dataset: ShownDataset, method: ShownMethod, selection: Mapping | None, notes: Notes, more_groups: bool = False
) -> str:
    """Mark a row that has no result, or whose method lost cells, with a note that says why; empty where all is well."""
    if method.reason:
        return notes.mark(f"{method.title}: not run ({method.reason}).")
    place = f"{method.title} on {dataset.title}"
    if selection is None:
        return notes.mark(f"{place}: not run.")
    lost = of_selection(selection)
    of_groups = f"{place}: {method.note_of_more_groups}" if more_groups and method.note_of_more_groups else None
    said = [text for text in (method.note, of_groups, f"{place}: {lost}." if lost else None) if text]
    return ", ".join(map(notes.mark, said))
