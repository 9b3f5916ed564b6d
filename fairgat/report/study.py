"""A study: variants against what they vary, run against run on the same splits.

`compare` gives the numbers, `scores` those of each split behind them; study_table.py makes the table of them, forest.py
the figure. The paper's published test scores stand beside ours: for orientation in a study of validation scores, with
their own differences in one of test scores.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from statistics import fmean
from typing import Any

import pandas as pd

from fairgat import measures
from fairgat.config import TASKS, study_rows
from fairgat.paper import means
from fairgat.report.failures import of_selection
from fairgat.report.inputs import Selections, Settings
from fairgat.scores.paired import ROUNDING, against, half_width, splits_needed
from fairgat.scores.summary import deviation

ROW = ["dataset", "of", "run_on", "method", "epochs", "of_epochs"]
COLUMNS = (
    *ROW,
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
SCORES = ["dataset", "method", "cell", "part", "epochs", "metric", "split", "value"]
ALIKE = 0.99  # of every group: with one answer for nearly everyone, a narrow gap says nothing
OURS = "accuracy"  # the rule that chooses epochs, where a study has no other


def compare(
    settings: Settings, runs: pd.DataFrame, selections: Iterable[Mapping[str, Any]]
) -> pd.DataFrame:
    """Compare the scores of every variant with those of the method as it is.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them.
        selections: the content of selection.json of every row.

    Returns:
        A row per data set, method and metric, the methods as they are included, with COLUMNS and what the table and the
        figure show; fractions. `mean` and `std` are over the splits, `difference` to the method as it is, with the 95 %
        interval of the paired t for other splits of these people; `spread` is the differences' standard deviation; NaN
        for the methods as they are and, but for `difference`, for a single split. `corrected` is half the interval for
        other people, `constant` the number of splits on which a method says the same of nearly everyone.
        `paper_difference` is that of the published means, `splits_needed` how many splits find one of that size with
        80 % probability, given our spread. A row without a cell that finished has no numbers; `failure` says why.
    """
    known, cell = by_rule(settings, runs), ["run_on", "method", "cell"]
    known = known[known["part"] == settings.config.study.part]
    values = known.dropna(subset="value")
    lines = _lines(
        settings,
        known,
        {(entry["dataset"], entry["method"]): entry for entry in selections},
    )
    scored = lines.merge(values)
    compared = lines
    for numbers in (_summary(scored, settings.ddof), _differences(scored)):
        compared = compared.merge(numbers, how="left", on=[*ROW, "metric"])
    compared = _with_published(compared)
    compared["n_splits"] = compared["n_splits"].fillna(0).astype(int)
    ran = known.groupby(cell)["split"].nunique().rename("ran").reset_index()
    compared = compared.merge(ran, how="left", on=cell)
    compared = compared.merge(constant(values), how="left", on=[*cell, "epochs"])
    ratios = compared["task"].map(settings.ratios)
    compared["corrected"] = half_width(
        compared.assign(n_splits=compared["pairs"]), ratios
    )
    return compared[[*COLUMNS, "ran", "pairs", "note", "task", "rules", "changes"]]


def scores(settings: Settings, runs: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The scores of each split behind `compare`'s frame, with the columns SCORES.

    Of every cell what the study compares, on validation, too; of the cells that are compared, every measure.
    """
    part, known = (
        settings.config.study.part,
        by_rule(settings, runs).dropna(subset="value"),
    )
    methods = frame[["run_on", "method", "epochs", "metric"]].drop_duplicates()
    cells = frame[["run_on", "method", "cell", "epochs"]].drop_duplicates()
    asked = [(each, methods) for each in dict.fromkeys(["validation", part])] + [
        (part, cells)
    ]
    every = pd.concat(
        [known[known["part"] == each].merge(rows) for each, rows in asked]
    )
    return every.rename(columns={"run_on": "dataset"}).drop_duplicates(SCORES[:-1])[
        SCORES
    ]


def every_measure(settings: Settings, runs: pd.DataFrame) -> pd.DataFrame:
    """Every measure of some runs, with the columns SCORES."""
    known = by_rule(settings, runs).dropna(subset="value")
    return known[known["part"] == settings.config.study.part].rename(
        columns={"run_on": "dataset"}
    )[SCORES]


def graphs(stats: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """What is counted in the graphs, a row per data set, group (none: the whole graph) and quantity.

    Args:
        stats: the content of .stats.json files.
    """
    rows = []
    for entry in stats:
        counts = entry["counts"]
        for group, known in {None: counts, **counts["by_group"]}.items():
            numbers = {
                name: value
                for name, value in known.items()
                if isinstance(value, int | float)
            }
            rows += [
                (entry["dataset"], group, quantity, value)
                for quantity, value in numbers.items()
            ]
    return pd.DataFrame(rows, columns=["dataset", "group", "quantity", "value"])


def by_rule(settings: Settings, runs: pd.DataFrame) -> pd.DataFrame:
    """The scores with the rule that chose the epoch in `epochs` and the data set in `run_on`."""
    ours = runs["protocol"].isin(["", *settings.protocols])
    return runs.assign(epochs=runs["protocol"].mask(ours, OURS)).rename(
        columns={"dataset": "run_on"}
    )


def constant(known: pd.DataFrame) -> pd.DataFrame:
    """Count the splits on which a cell gives nearly everyone in each group the same answer: `constant`."""
    cell = ["run_on", "method", "cell", "epochs"]
    rates = known[known["metric"].str.fullmatch(r"positive_rate_\d+")].groupby(
        [*cell, "split"]
    )["value"]
    same = (rates.max() <= 1 - ALIKE) | (rates.min() >= ALIKE)
    return same.groupby(cell).sum().rename("constant").reset_index()


def metrics_of(settings: Settings, task: str) -> list[str]:
    """The metrics that the study compares; by default with AUC beside accuracy, as a cut-off may be tuned to it."""
    study = settings.config.study
    kept = measures.names(task, *["shown"] * study.other_rules)
    default = [*measures.names(task, "utility"), *measures.names(task, "chosen")]
    return study.metrics or [name for name in default if name in kept]


def tasks(frame: pd.DataFrame) -> list[str]:
    """The tasks that the study has a block of."""
    return [task for task in TASKS if task in set(frame["task"])]


def compared_with(frame: pd.DataFrame) -> str:
    """Name what the differences are to: a method, where all variants have the same."""
    titles = [*base_titles(frame).values()]
    return titles[0] if len(titles) == 1 else "each row's reference"


def base_titles(frame: pd.DataFrame) -> dict[str, str]:
    """The titles of the methods that have variants, by name."""
    bases = with_variants(frame).query("changes == ''")
    return dict(zip(bases["of"], bases["title"], strict=True))


def with_variants(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of methods that have a variant."""
    return frame.groupby(["dataset", "of"], sort=False).filter(
        lambda lines: (lines["changes"] != "").any()
    )


def rows_of(block: pd.DataFrame) -> Iterable[tuple[int, pd.Series, list[pd.Series]]]:
    """Each row of a block: the number of its method (a rule is drawn between methods), its first line, its lines."""
    methods = list(dict.fromkeys(block["of"]))
    for (method, *_), lines in block.groupby(ROW[1:], sort=False):
        yield (
            methods.index(method),
            lines.iloc[0],
            [line for _, line in lines.iterrows()],
        )


def published_gap(line: pd.Series) -> float:
    """A variant's published difference; of a method as it is, what is published less ours."""
    return (
        line["paper_difference"]
        if line["changes"]
        else line["paper_mean"] - line["mean"]
    )


# ---------------------------------------------------------------------------------------------- the steps of `compare`


def _lines(settings: Settings, known: pd.DataFrame, chosen: Selections) -> pd.DataFrame:
    """A line for each row and metric, with the cell that is compared, or why there is none."""
    more_groups = {*known.loc[known["metric"] == measures.MORE_GROUPS, "run_on"]}
    lines = []
    for row in study_rows.rows(settings.config):
        own, base = (
            chosen.get((row.run_on, row.method)),
            chosen.get((row.dataset, row.of)),
        )
        failure = _failure(own) or (
            row.changes and _failure(base, "what it is compared with: ")
        )
        given = asdict(row) | {
            "dataset_title": settings.config.datasets[row.dataset].title,
            "note": settings.config.methods[row.method].note_of_more_groups
            if row.run_on in more_groups
            else None,
            "cell": own and own["winner"],
            "failure": failure or None,
        }
        lines += [
            given | {"metric": metric} for metric in metrics_of(settings, row.task)
        ]
    return pd.DataFrame(lines)


def _failure(selection: Mapping[str, Any] | None, what: str = "") -> str | None:
    """Say why a method has no scores; None where it has."""
    if selection is None:
        return f"{what}not run"
    return f"{what}{of_selection(selection)}" if selection["winner"] is None else None


def _summary(scored: pd.DataFrame, ddof: int) -> pd.DataFrame:
    """Mean and standard deviation over the splits."""
    values = scored.groupby([*ROW, "metric"], sort=False)["value"]
    summary = values.agg(
        n_splits="size", mean=fmean, std=lambda each: deviation(each, ddof)
    )
    return summary.reset_index()


def _differences(scored: pd.DataFrame) -> pd.DataFrame:
    """Each variant's paired difference to the method as it is, over `pairs` splits."""
    as_it_is = scored["changes"] == ""
    same = ["dataset", "of", "of_epochs", "metric", "split"]
    gaps = against(scored[~as_it_is], scored[as_it_is], same, [*ROW, "metric"])
    return gaps.rename(columns={"n_splits": "pairs"})


def _with_published(compared: pd.DataFrame) -> pd.DataFrame:
    """The published means and differences, and the splits that it takes to find these."""
    paper = (
        pd.concat(map(means, TASKS))
        .assign(epochs=OURS)
        .rename(columns={"dataset": "run_on"})
    )
    compared = compared.merge(
        paper, how="left", on=["run_on", "method", "metric", "epochs"]
    )
    varied, bases = compared["changes"] != "", ["dataset", "of", "of_epochs", "metric"]
    published = compared.loc[~varied, [*bases, "paper_mean"]].rename(
        columns={"paper_mean": "paper_base"}
    )
    compared = compared.merge(published, how="left", on=bases)
    compared["paper_difference"] = (
        compared["paper_mean"] - compared["paper_base"]
    ).where(varied)
    known = compared[
        compared["paper_difference"].notna() & (compared["spread"] > ROUNDING)
    ]
    needed = [
        splits_needed(line.paper_difference, line.spread) for line in known.itertuples()
    ]
    return compared.assign(
        splits_needed=pd.Series(needed, index=known.index, dtype=float)
    )
