"""A study: variants against what they vary, run against run on the same splits.

`compare` gives the numbers, `scores` those of each split behind them; study_table.py makes the table of them, forest.py
the figure. The paper's published test scores stand beside ours: for orientation in a study of validation scores, with
their own differences in one of test scores.
"""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

import pandas as pd

from fairgat import measures
from fairgat.config import TASKS
from fairgat.config.study_rows import StudyRow, StudySettings
from fairgat.errors import ConfigError, nearest
from fairgat.paper import means
from fairgat.report.failures import of_selection
from fairgat.scores.paired import ROUNDING, against, half_width, splits_needed
from fairgat.scores.summary import deviation

ROW = ["dataset", "of", "run_on", "method", "epochs", "of_epochs"]
COLUMNS = (
    *ROW, "dataset_title", "title", "cell", "metric", "n_splits", "mean", "std", "difference", "spread", "low", "high",
    "corrected", "constant", "paper_mean", "paper_std", "paper_difference", "splits_needed", "failure",
)  # fmt: skip
SCORES = ("dataset", "method", "cell", "part", "epochs", "metric", "split", "value")
ALIKE = 0.99  # of every group: with one answer for nearly everyone, a narrow gap says nothing
OURS = "accuracy"  # the rule that chooses epochs, where a study has no other

Selections = Mapping[tuple[str, str], Mapping[str, Any]]
"""The content of selection.json by data set and method."""


def compare(settings: StudySettings, runs: pd.DataFrame, selections: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
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

    Raises:
        ConfigError: no run has one of the study's metrics.
    """
    known = runs["metric"].dropna().unique()
    if absent := [name for name in settings.metrics or () if len(known) and name not in known]:
        raise ConfigError(f"study.metrics: no run has {absent[0]!r}; {nearest(absent[0], known)}")
    chosen = {(entry["dataset"], entry["method"]): entry for entry in selections}
    lines = _lines(settings, runs, chosen)
    scored = lines.merge(by_rule(settings, runs, settings.part))
    compared = lines
    for numbers in (_summary(scored, settings.ddof), _differences(scored)):
        compared = compared.merge(numbers, how="left", on=[*ROW, "metric"])
    compared = _with_published(compared)
    compared["n_splits"] = compared["n_splits"].fillna(0).astype(int)
    compared = compared.merge(_splits_run(settings, runs), how="left", on=["run_on", "method", "cell"])
    compared = compared.merge(constant(settings, runs), how="left", on=["run_on", "method", "cell", "epochs"])
    ratios = compared["task"].map(settings.ratios)
    compared["corrected"] = half_width(compared.assign(n_splits=compared["pairs"]), ratios)
    return compared[[*COLUMNS, "ran", "pairs", "note", "task", "rules", "changes"]]


def scores(settings: StudySettings, runs: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The scores of each split behind `compare`'s frame, with the columns SCORES.

    Of every cell what the study compares, on validation, too; of the cells that are compared, every measure.
    """
    methods = frame[["run_on", "method", "epochs", "metric"]].drop_duplicates()
    compared = frame[["run_on", "method", "cell", "epochs"]].drop_duplicates()
    every = pd.concat(
        [
            *(_of_part(settings, runs, part, methods) for part in dict.fromkeys(["validation", settings.part])),
            _of_part(settings, runs, settings.part, compared),
        ]
    )
    return every.drop_duplicates([name for name in SCORES if name != "value"])


def every_measure(settings: StudySettings, runs: pd.DataFrame) -> pd.DataFrame:
    """Every measure of some runs, with the columns SCORES."""
    return _of_part(settings, runs, settings.part, runs[["dataset"]].drop_duplicates().set_axis(["run_on"], axis=1))


def _of_part(settings: StudySettings, runs: pd.DataFrame, part: str, asked: pd.DataFrame) -> pd.DataFrame:
    """The scores of a part that have the values of a row of `asked`."""
    known = by_rule(settings, runs, part).assign(part=part).merge(asked)
    return known.rename(columns={"run_on": "dataset"})[list(SCORES)]


def graphs(stats: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """What is counted in the graphs, a row per data set, group (none: the whole graph) and quantity.

    Args:
        stats: the content of .stats.json files.
    """
    rows = []
    for entry in stats:
        counts = entry["counts"]
        for group, known in {None: counts, **counts["by_group"]}.items():
            numbers = {name: value for name, value in known.items() if isinstance(value, int | float)}
            rows += [(entry["dataset"], group, quantity, value) for quantity, value in numbers.items()]
    return pd.DataFrame(rows, columns=["dataset", "group", "quantity", "value"])


def by_rule(settings: StudySettings, runs: pd.DataFrame, part: str) -> pd.DataFrame:
    """The scores of a part, with the rule that chose the epoch in `epochs` and the data set in `run_on`."""
    ours = runs["protocol"].isin(["", *settings.protocols])
    runs = runs.assign(epochs=runs["protocol"].mask(ours, OURS)).rename(columns={"dataset": "run_on"})
    return runs.loc[
        (runs["part"] == part) & runs["value"].notna(),
        ["run_on", "method", "cell", "epochs", "split", "metric", "value"],
    ]


def constant(settings: StudySettings, runs: pd.DataFrame) -> pd.DataFrame:
    """Count the splits on which a cell gives nearly everyone in each group the same answer: `constant`."""
    known, cell = by_rule(settings, runs, settings.part), ["run_on", "method", "cell", "epochs"]
    rates = known[known["metric"].str.fullmatch(r"positive_rate_\d+")].groupby([*cell, "split"])["value"]
    same = (rates.max() <= 1 - ALIKE) | (rates.min() >= ALIKE)
    return same.groupby(cell).sum().rename("constant").reset_index()


def metrics_of(settings: StudySettings, task: str) -> list[str]:
    """The metrics that the study compares; by default with AUC beside accuracy, as a cut-off may be tuned to it."""
    return settings.metrics or [*measures.names(task, "utility"), *measures.names(task, "chosen")]


def tasks(frame: pd.DataFrame) -> list[str]:
    """The tasks that the study has a block of."""
    return [task for task in TASKS if task in set(frame["task"])]


def compared_with(settings: StudySettings) -> str:
    """Name what the differences are to: a method, where all variants have the same."""
    titles = [*base_titles(settings).values()]
    return titles[0] if len(titles) == 1 else "each row's reference"


def base_titles(settings: StudySettings) -> dict[str, str]:
    """The titles of the methods that have variants, by name."""
    varied = {row.of for row in settings.rows if row.changes}
    return {row.of: row.title for row in settings.rows if not row.changes and row.of in varied}


def with_variants(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of methods that have a variant."""
    return frame.groupby(["dataset", "of"], sort=False).filter(lambda lines: (lines["changes"] != "").any())


def rows_of(block: pd.DataFrame) -> Iterable[tuple[int, pd.Series, list[pd.Series]]]:
    """Each row of a block: the number of its method (a rule is drawn between methods), its first line, its lines."""
    methods = list(dict.fromkeys(block["of"]))
    for (method, *_), lines in block.groupby(ROW[1:], sort=False):
        yield methods.index(method), lines.iloc[0], [line for _, line in lines.iterrows()]


def published_gap(line: pd.Series) -> float:
    """A variant's published difference; of a method as it is, what is published less ours."""
    return line["paper_difference"] if line["changes"] else line["paper_mean"] - line["mean"]


# ---------------------------------------------------------------------------------------------- the steps of `compare`


def _lines(settings: StudySettings, runs: pd.DataFrame, chosen: Selections) -> pd.DataFrame:
    """A line for each row and metric, with the cell that is compared, or why there is none."""
    more_groups = {*runs.loc[runs["metric"] == measures.MORE_GROUPS, "dataset"]}
    lines = []
    for block in settings.blocks:
        for row in block.rows:
            given = row.model_dump(include={"of", "method", "epochs", "of_epochs", "title", "rules"})
            given |= {"dataset": block.name, "run_on": row.dataset, "task": block.task, "dataset_title": block.title}
            given |= {"changes": row.changes or "", "cell": _cell(settings, runs, row, chosen)}
            given |= {"note": row.note_of_more_groups if row.dataset in more_groups else None}
            given |= {"failure": _failure(block.name, row, chosen)}
            lines += [given | {"metric": metric} for metric in metrics_of(settings, block.task)]
    return pd.DataFrame(lines)


def _cell(settings: StudySettings, runs: pd.DataFrame, row: StudyRow, chosen: Selections) -> str | None:
    """The selected cell; or, of a row that is as good as another method, the one whose AUC is nearest to it."""
    winner = _winner(chosen, row.dataset, row.method)
    if not row.as_good_as or winner is None:
        return winner
    known = by_rule(settings, runs, "validation")
    known = known[(known["run_on"] == row.dataset) & (known["metric"] == measures.AUC.name) & (known["epochs"] == OURS)]
    auc = known.groupby(["method", "cell"])["value"].agg(["mean", "size"])
    aim = _winner(chosen, row.dataset, row.as_good_as)
    if aim is None:
        return None
    mine = auc.loc[row.method]
    finished = mine.loc[mine["size"] == mine["size"].max(), "mean"]
    return str((finished - auc.loc[(row.as_good_as, aim), "mean"]).abs().idxmin())


def _winner(chosen: Selections, dataset: str, method: str) -> str | None:
    entry = chosen.get((dataset, method))
    return entry and entry["winner"]


def _failure(dataset: str, row: StudyRow, chosen: Selections) -> str | None:
    """Say why a row, or what it is compared with, has no scores; None where it has."""

    def why(dataset: str, method: str) -> str | None:
        if (dataset, method) not in chosen:
            return "not run"
        entry = chosen[dataset, method]
        return of_selection(entry) if entry["winner"] is None else None

    if own := why(row.dataset, row.method):
        return own
    if row.as_good_as and (aim := why(row.dataset, row.as_good_as)):
        return f"what it is to be as good as: {aim}"
    base = why(dataset, row.of)
    return f"what it is compared with: {base}" if base and row.changes else None


def _summary(scored: pd.DataFrame, ddof: int) -> pd.DataFrame:
    """Mean and standard deviation over the splits."""
    values = scored.groupby([*ROW, "metric"], sort=False)["value"]
    summary = values.agg(n_splits="size", mean=fmean, std=lambda each: deviation(each, ddof))
    return summary.reset_index()


def _differences(scored: pd.DataFrame) -> pd.DataFrame:
    """Each variant's paired difference to the method as it is, over `pairs` splits."""
    as_it_is = scored["changes"] == ""
    same = ["dataset", "of", "of_epochs", "metric", "split"]
    gaps = against(scored[~as_it_is], scored[as_it_is], same, [*ROW, "metric"])
    return gaps.rename(columns={"n_splits": "pairs"})


def _with_published(compared: pd.DataFrame) -> pd.DataFrame:
    """The published means and differences, and the splits that it takes to find these."""
    paper = pd.concat(map(means, TASKS)).assign(epochs=OURS).rename(columns={"dataset": "run_on"})
    compared = compared.merge(paper, how="left", on=["run_on", "method", "metric", "epochs"])
    varied, bases = compared["changes"] != "", ["dataset", "of", "of_epochs", "metric"]
    published = compared.loc[~varied, [*bases, "paper_mean"]].rename(columns={"paper_mean": "paper_base"})
    compared = compared.merge(published, how="left", on=bases)
    compared["paper_difference"] = (compared["paper_mean"] - compared["paper_base"]).where(varied)
    known = compared["paper_difference"].notna() & (compared["spread"] > ROUNDING)
    compared["splits_needed"] = [
        splits_needed(line.paper_difference, line.spread) if asked else None
        for asked, line in zip(known, compared.itertuples(), strict=True)
    ]
    return compared


def _splits_run(settings: StudySettings, runs: pd.DataFrame) -> pd.DataFrame:
    """The number of splits that each cell was run on: `ran`."""
    mine = runs[runs["part"] == settings.part].rename(columns={"dataset": "run_on"})
    return mine.groupby(["run_on", "method", "cell"])["split"].nunique().rename("ran").reset_index()
