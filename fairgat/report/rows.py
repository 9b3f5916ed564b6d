"""The rows of tables and studies: what is shown, before there is a number.

A row names a run and the run that it is compared with, in one measure, with the titles
and the words that a page needs. `fairgat.scores.compare` gives the numbers; what draws
its frame then needs no configuration.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import pandas as pd

from fairgat import measures, paper
from fairgat.config import TASKS
from fairgat.config.shown import ShownMethod, StudySettings
from fairgat.config.study import Study
from fairgat.report import inputs
from fairgat.report.failures import of_selection
from fairgat.report.inputs import Files, Selections, Settings
from fairgat.scores.compare import BASE, OURS, RUN, compare
from fairgat.scores.paired import REFERENCE

NOT_RUN = "not run"


def table(
    settings: Settings, files: Files, published: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Compare the rows of a table of scores, from the files `runs` and `selection`.

    Args:
        published: as `fairgat.paper` gives them; those of the table where absent.
    """
    if published is None:
        published = paper.of_table(settings.name)
    selections = inputs.selections(files, settings)
    scores = inputs.scores_on_test(files, settings, selections)
    rows = of_table(settings, selections, with_more_groups(scores))
    return compare(with_published(rows, published), scores, settings.ddof)


def with_more_groups(scores: pd.DataFrame) -> set[str]:
    """List the data sets with more than two groups."""
    has_third = scores["metric"] == measures.MORE_GROUPS
    return set(scores.loc[has_third, "run_on"])


def of_table(
    settings: Settings, selections: Selections, more_groups: Collection[str]
) -> pd.DataFrame:
    """List each method of a table on each of its data sets, compared with GAT.

    Args:
        selections: of methods on data sets, as `fairgat.report.inputs` gives them.
        more_groups: the data sets with more than two groups.

    Returns:
        What `fairgat.scores.compare.compare` asks for, with `row`, one number for all
        measures of a row; titles; and in words `note` and `groups_note` on the method,
        `failure`, what failed, and `reason`, why a data set is not run.
    """
    rows = []
    for dataset, method in product(settings.datasets, settings.methods):
        own = selections.get((dataset.name, method.name))
        reference = selections.get((dataset.name, REFERENCE))
        if method.name == REFERENCE:
            reference = None
        row = {
            "task": dataset.task,
            "dataset": dataset.name,
            "dataset_title": dataset.title,
            "reason": dataset.reason or "",
            "run_on": dataset.name,
            "method": method.name,
            "title": method.title,
            "cell": winner(own),
            "of_cell": winner(reference),
            "note": method.note or "",
            "groups_note": groups_note(method, dataset.name in more_groups),
            "failure": of_selection(own) if own else NOT_RUN,
        }
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame = frame.assign(of=REFERENCE, epochs=OURS, of_epochs=OURS, ratio=math.nan)
    names = settings.table.measures or measures.columns(settings.task)
    return in_measures(frame, {settings.task: names})


def of_study(
    settings: StudySettings, selections: Selections, more_groups: Collection[str]
) -> pd.DataFrame:
    """List the methods of a study as they are, and their variants, compared with them.

    Args:
        selections: the content of selection.json by data set and method.
        more_groups: the data sets with more than two groups.

    Returns:
        A row for each comparison and measure: what `fairgat.scores.compare.compare`
        asks for, with `row`, one number for all measures of a comparison, titles, and

        - `of_title`: the title of the method that it is compared with
        - `changes`: what a variant changes; empty for a method as it is
        - `rules`: which choose its epochs, in words
        - `drawn`: the look of its entry in the configuration
        - `groups_note`: what the method is with more than two groups
        - `failure`: why it, or what it is compared with, has no scores
    """
    methods = {method.name: method for method in settings.methods}
    listed = []
    for row in settings.comparisons:
        method = methods[row.method]
        own = selections.get((row.run_on, row.method))
        base = selections.get((row.dataset, row.of))
        failure = _without_scores(own)
        of_cell = ""
        if row.changes:
            failure = failure or _without_scores(base, "what it is compared with: ")
            of_cell = winner(base)
        more = {
            "dataset_title": settings.dataset_titles[row.dataset],
            "cell": winner(own),
            "of_cell": of_cell,
            "groups_note": groups_note(method, row.run_on in more_groups),
            "failure": failure,
            "of_title": settings.method_titles[row.of],
            "drawn": method.look,
            "ratio": settings.ratios[row.task],
        }
        named = asdict(row)  # the data set, the method, its title, changes and rules
        listed.append(named | more)
    metrics = {task: _study_metrics(settings.study, task) for task in TASKS}
    rows = in_measures(pd.DataFrame(listed), metrics)
    published = pd.concat([paper.means(task) for task in TASKS])
    return with_published(rows, published)


def _without_scores(selection: Mapping[str, Any] | None, what: str = "") -> str:
    """Say why a method has no scores; empty where it has."""
    if selection is None:
        return f"{what}{NOT_RUN}"
    if selection["winner"] is None:
        return f"{what}{of_selection(selection)}"
    return ""


def _study_metrics(study: Study, task: str) -> Sequence[str]:
    """The metrics that a study compares.

    By default accuracy and AUC, as a cut-off may be tuned to the former, and the gaps.
    """
    if study.metrics:
        return study.metrics
    default = [*measures.names(task, "utility"), *measures.names(task, "chosen")]
    if not study.other_rules:
        return default
    shown = measures.names(task, "shown")  # what is kept of other rules' epochs
    return [name for name in default if name in shown]


def of_every_cell(
    settings: Settings, scores: pd.DataFrame, winners: pd.DataFrame
) -> pd.DataFrame:
    """List every cell but GAT's in all its measures, compared with GAT's chosen cell.

    Args:
        scores: by run, of one part; `winners` have the chosen cells.

    Returns:
        What `fairgat.scores.compare.compare` asks for, in the order of the scores, with
        `row`, one number for all measures of a cell, titles, and whether the cell was
        `selected`.
    """
    by_rule = winners[winners["rule"] == settings.rule]
    chosen = by_rule.groupby(["dataset", "method"])["cell"].first()
    chosen = chosen.rename_axis(["run_on", "method"]).rename("chosen").reset_index()
    reference = chosen[chosen["method"] == REFERENCE].drop(columns="method")
    reference = reference.rename(columns={"chosen": "of_cell"})

    is_other = scores["method"] != REFERENCE
    is_ours = scores["epochs"] == OURS
    known = scores[is_other & is_ours].dropna(subset="value")
    rows = known[[*RUN, "metric"]].drop_duplicates()
    rows = rows.merge(reference, how="left", on="run_on").fillna({"of_cell": ""})
    rows = rows.merge(chosen, how="left", on=["run_on", "method"])

    cells = rows.groupby(["run_on", "method", "cell"], sort=False)
    tasks = rows["run_on"].map({each.name: each.task for each in settings.datasets})
    rows["row"] = cells.ngroup()
    rows["selected"] = rows["cell"] == rows["chosen"]
    rows["task"] = tasks
    rows["dataset"] = rows["run_on"]
    rows["dataset_title"] = _titles(rows["run_on"], settings.dataset_titles)
    rows["title"] = _titles(rows["method"], settings.method_titles)
    return rows.assign(of=REFERENCE, of_epochs=OURS, ratio=tasks.map(settings.ratios))


def _titles(names: pd.Series, titles: Mapping[str, str]) -> pd.Series:
    """Give the title of each, or its name where it has none."""
    return names.map(titles).fillna(names)


def winner(selection: Mapping[str, Any] | None) -> str:
    """Give the cell that was chosen; empty where none was, or nothing was run."""
    if selection is None:
        return ""
    return selection["winner"] or ""


def groups_note(method: ShownMethod, more_groups: bool) -> str:
    """Say what a method is where there are more than two groups."""
    if not more_groups or not method.note_of_more_groups:
        return ""
    return method.note_of_more_groups


def in_measures(rows: pd.DataFrame, names: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Number the rows, and repeat each in the measures (`names`) of its task."""
    rows = rows.rename_axis("row").reset_index()
    rows["metric"] = rows["task"].map(names)
    return rows.explode("metric", ignore_index=True)


def with_published(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Add the published mean and deviation of each row, and the published difference.

    Args:
        published: as `fairgat.paper.means` gives it; it is about epochs chosen as ours.
    """
    published = published.rename(columns={"dataset": "run_on"}).assign(epochs=OURS)
    rows = rows.merge(
        published, how="left", on=["run_on", "method", "epochs", "metric"]
    )

    base = published.drop(columns="paper_std")
    base = base.rename(columns=BASE | {"paper_mean": "paper_base"})
    rows = rows.merge(base, how="left", on=["dataset", "of", "of_epochs", "metric"])
    difference = rows["paper_mean"] - rows["paper_base"]
    return rows.assign(paper_difference=difference.mask(_is_base(rows)))


def _is_base(rows: pd.DataFrame) -> pd.Series:
    """Say which rows are what other rows are compared with."""
    same_data = rows["run_on"] == rows["dataset"]
    same_method = rows["method"] == rows["of"]
    same_epochs = rows["epochs"] == rows["of_epochs"]
    return same_data & same_method & same_epochs


def lines_of(frame: pd.DataFrame) -> Iterator[list[Any]]:
    """Give the lines of each row of a frame, one for each measure."""
    for _, lines in frame.groupby("row", sort=False):
        yield list(lines.itertuples())
