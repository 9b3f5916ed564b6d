"""A study: variants against what they vary, run against run on the same splits.

`compared` gives the numbers, `scores` those of each split behind them; study_table.py
makes the table of them, forest.py the figure. The paper's published test scores stand
beside ours: for orientation in a study of validation scores, with their own differences
in one of test scores.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairgat.config.shown import StudySettings
from fairgat.report import escape, rows
from fairgat.scores.compare import RUN, SCORES, by_run, compare, with_splits_needed

COLUMNS = (
    "dataset",
    "of",
    "run_on",
    "method",
    "epochs",
    "of_epochs",
    "dataset_title",
    "title",
    "cell",
    "metric",
    "n_splits",
    "mean",
    "std",
    "difference",
    "spread",
    "low",
    "high",
    "corrected",
    "constant",
    "paper_mean",
    "paper_std",
    "paper_difference",
    "splits_needed",
    "failure",
)
"""Of differences.csv."""
TEXTS = ("dataset_title", "title", "failure")


def compared(
    settings: StudySettings, runs: pd.DataFrame, selections: Iterable[Mapping[str, Any]]
) -> pd.DataFrame:
    """Compare every variant with the method as it is.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them.
        selections: the content of selection.json of every row.

    Returns:
        A line for each row and metric, the methods as they are included: COLUMNS and
        what the table and the figure show, as `fairgat.report.rows.of_study` and
        `fairgat.scores.compare` give it. `splits_needed` find a difference of the
        published size with 80 % probability, given our spread. `published_gap` is a
        variant's published difference; of a method as it is, what is published less
        ours.
    """
    scores = by_run(runs, settings.protocols)
    scores = scores[scores["part"] == settings.study.part]
    chosen = {(entry["dataset"], entry["method"]): entry for entry in selections}
    asked = rows.of_study(settings, chosen, rows.with_more_groups(scores))
    frame = with_splits_needed(compare(asked, scores, settings.ddof))

    is_variant = frame["changes"] != ""
    less_ours = frame["paper_mean"] - frame["mean"]
    return frame.assign(
        published_gap=frame["paper_difference"].where(is_variant, less_ours)
    )


def with_variants(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the lines of methods that have a variant on the data set, and these."""
    methods = frame.groupby(["dataset", "of"], sort=False)
    return methods.filter(lambda lines: (lines["changes"] != "").any())


def bases(frame: pd.DataFrame) -> dict[str, str]:
    """Give the titles of the methods that variants are compared with, by name."""
    variants = frame[frame["changes"] != ""]
    return dict(zip(variants["of"], variants["of_title"], strict=True))


def compared_with(frame: pd.DataFrame) -> str:
    """Name what the differences are to: a method, where all variants have the same."""
    titles = list(bases(frame).values())
    return titles[0] if len(titles) == 1 else "each row's reference"


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the columns of differences.csv; its texts are safe in a spreadsheet."""
    texts = {name: frame[name].map(escape.csv) for name in TEXTS}
    return frame[list(COLUMNS)].assign(**texts)


def scores(
    settings: StudySettings, runs: pd.DataFrame, frame: pd.DataFrame
) -> pd.DataFrame:
    """Give the scores of each split behind `compared`'s frame: the columns SCORES.

    Of every cell what the study compares, on validation, too; of the cells that are
    compared, every measure.
    """
    part = settings.study.part
    known = by_run(runs, settings.protocols).dropna(subset="value")
    on_part = known[known["part"] == part]
    on_validation = known[known["part"] == "validation"]

    metrics = frame[["run_on", "method", "epochs", "metric"]].drop_duplicates()
    cells = frame[RUN].drop_duplicates()
    every_cell = [on_validation.merge(metrics), on_part.merge(metrics)]
    every = pd.concat([*every_cell, on_part.merge(cells)])
    every = every.rename(columns={"run_on": "dataset"})
    return every.drop_duplicates(SCORES[:-1])[SCORES]


def graphs(stats: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """List what is counted in the graphs: data sets, groups and quantities.

    The group is missing where the quantity is of the whole graph.

    Args:
        stats: the content of .stats.json files.
    """
    listed = []
    for entry in stats:
        counts = entry["counts"]
        for group, known in {None: counts, **counts["by_group"]}.items():
            for quantity, value in known.items():
                if isinstance(value, int | float):
                    listed.append((entry["dataset"], group, quantity, value))
    return pd.DataFrame(listed, columns=["dataset", "group", "quantity", "value"])
