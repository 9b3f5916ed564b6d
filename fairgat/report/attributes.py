"""Fairness for one attribute and for several: each attribute's own gap beside that over their combinations.

A method that is fair to either attribute may still treat a combination of them, a smaller group, unlike all others.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.config import NodeTraining
from fairgat.config.shown import StudySettings
from fairgat.report import style
from fairgat.report.study import by_rule
from fairgat.scores.paired import against
from fairgat.scores.summary import deviation

GAPS = {"statistical_parity": "positive_rate", "equal_opportunity": "true_positive_rate"}
"""The gaps, and the rates of single groups that they are the largest differences of."""
COMBINED = "all groups"
_KEYS = ["dataset", "method", "measure", "over"]
COLUMNS = (*_KEYS, "cell", "n_splits", "mean", "std", "chance", "difference", "low", "high", "lowest", "highest")
_LOOKS = (("#0072B2", "o"), ("#E69F00", "^"), ("#009E73", "D"), ("#CC79A7", "v"))  # of attributes
_ALL = ("#000000", "s")
DRAWS = 10_000


def with_others(
    settings: StudySettings, runs: pd.DataFrame, frame: pd.DataFrame, more: pd.DataFrame, dataset: str, stats: Mapping
) -> tuple[StudySettings, pd.DataFrame, pd.DataFrame]:
    """Add methods that were trained for one attribute to those of a data set that has several.

    Args:
        settings, runs, frame, stats: as for `gaps`.
        more: their scores there, as `fairgat.scores.regrouped` gives them.
        dataset: on which they were trained.
    """
    by, attribute = settings.measured_by[dataset], next(iter(stats[dataset]["counts"]["by_group"])).partition("=")[0]
    own = next(block.rows for block in settings.blocks if block.name == dataset)
    mine = frame[frame["run_on"] == dataset]
    renamed = {key: mine[key] + f"@{dataset}" for key in ("method", "of")}
    added = [
        row.model_copy(
            update={
                "dataset": by, "method": f"{row.method}@{dataset}", "of": f"{row.of}@{dataset}",
                "title": f"{row.title}, for {attribute}",
            }
        )
        for row in own
    ]  # fmt: skip
    blocks = [
        block.model_copy(update={"rows": [*block.rows, *added]}) if block.name == by else block
        for block in settings.blocks
    ]
    return (
        settings.model_copy(update={"blocks": blocks}),
        pd.concat([runs, more]),
        pd.concat([frame, mine.assign(run_on=by, **renamed)]),
    )


def gaps(settings: StudySettings, runs: pd.DataFrame, frame: pd.DataFrame, stats: Mapping[str, Any]) -> pd.DataFrame:
    """Every method's gaps over all groups and, where these combine several attributes, over each of them.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them.
        frame: the comparison, as `fairgat.report.study.compare` gives it; its cells are shown.
        stats: the content of .stats.json, by data set.

    Returns:
        A row per data set, method, gap and what it is over, with COLUMNS; fractions. `chance` is the gap to expect in a
        test set where all groups have the same rate: the more groups, and the smaller, the larger. `difference` is that
        to the method compared with, with the 95 % interval of the paired t. `lowest` and `highest` name the groups with
        the smallest and largest mean rate, for gaps over all groups.
    """
    cells = frame[["run_on", "method", "of", "cell"]].dropna(subset="cell").drop_duplicates()
    scored = by_rule(settings, runs).merge(cells).rename(columns={"run_on": "dataset"})
    scored = scored[scored["epochs"] == "accuracy"]
    measured = scored["metric"].str.extract(rf"^(?P<measure>{'|'.join(GAPS)})(?:_(?P<over>.+))?$")
    found = scored.join(measured).dropna(subset="measure").fillna({"over": COMBINED})
    found = found.sort_values("measure", key=lambda names: names.map([*GAPS].index), kind="stable")
    once = found.drop_duplicates([*_KEYS, "split"])  # a method may be a variant, and have variants
    summary = once.groupby([*_KEYS, "cell"], sort=False)["value"].agg(
        n_splits="count", mean="mean", std=lambda values: deviation(values, settings.ddof)
    )
    base = once.drop(columns="of").rename(columns={"method": "of"})
    varied = found[found["method"] != found["of"]]
    paired = against(varied, base, ["dataset", "of", "measure", "over", "split"], _KEYS)
    paired = paired.drop(columns=["n_splits", "spread"])
    rows = summary.reset_index().merge(paired, how="left", on=_KEYS)
    groups = [(row, _groups(scored, row, stats)) for row in rows.itertuples()]
    ends = [_ends(each) if row.over == COMBINED else ("", "") for row, each in groups]
    attributes, tested = {name: _attributes(rows, name) for name in stats}, settings.tested[NodeTraining.task]
    return rows.assign(
        chance=[_chance(each, row.over, attributes[row.dataset], tested) for row, each in groups],
        lowest=[low for low, _ in ends],
        highest=[high for _, high in ends],
    )[list(COLUMNS)]


def _groups(scored: pd.DataFrame, row: Any, stats: Mapping[str, Any]) -> pd.DataFrame:
    """Each group's mean `rate` and its number of `nodes` that have one, by its name; not those without a rate."""
    mine = scored[(scored["dataset"] == row.dataset) & (scored["method"] == row.method)]
    means, groups = mine.groupby("metric")["value"].mean(), stats[row.dataset]["counts"]["by_group"]
    counted = "labelled" if row.measure == "statistical_parity" else "label_1"
    rates = [means.get(f"{GAPS[row.measure]}_{group}", np.nan) for group in range(len(groups))]
    nodes = [each[counted] for each in groups.values()]
    return pd.DataFrame({"rate": rates, "nodes": nodes}, index=list(groups)).dropna()


def _ends(groups: pd.DataFrame) -> tuple[str, str]:
    """The names of the groups whose mean rates are the smallest and the largest."""
    rates = groups["rate"]
    return (str(rates.idxmin()), str(rates.idxmax())) if np.ptp(rates) > 0 else ("", "")


def _chance(groups: pd.DataFrame, over: str, attributes: Sequence[str], tested: float) -> float:
    """Simulate the mean gap in a test set between groups that all have the same rate; NaN for fewer than two groups."""
    nodes = groups["nodes"]
    if over != COMBINED:  # groups are named "race=1, sex=0", and a value may have a comma
        following = "|".join(map(re.escape, attributes))
        values = nodes.index.str.extract(rf"(?:^|, ){re.escape(over)}=(.*?)(?=, (?:{following})=|$)", expand=False)
        nodes = nodes.groupby(values.to_numpy()).sum()
    sizes = (tested * nodes).round().astype(int)
    sizes = sizes[sizes > 0].to_numpy()
    if len(sizes) < 2:
        return math.nan
    rate = np.average(groups["rate"], weights=groups["nodes"])
    rates = np.random.default_rng(0).binomial(sizes, rate, (DRAWS, len(sizes))) / sizes
    return float(np.ptp(rates, axis=1).mean())


def figure(settings: StudySettings, rows: pd.DataFrame) -> Figure:
    """Draw each data set with several attributes: a line per method, its gaps over all groups and over each attribute.

    Means over the splits and their standard deviations, in points; a bar where equal rates would put the gap.
    """
    nodes = [block for block in settings.blocks if block.task == NodeTraining.task]
    blocks = [block for block in nodes if _attributes(rows, block.name)] or nodes
    most = max(len(block.rows) for block in blocks)
    drawn, axes = style.grid(len(blocks), len(GAPS), height=max(1.3, 0.5 + 0.22 * most), sharey="row")
    for block, row in zip(blocks, axes, strict=True):
        methods = {each.method: each.title for each in block.rows}
        looks = {COMBINED: _ALL} | dict(zip(_attributes(rows, block.name), cycle(_LOOKS), strict=False))
        for gap, ax in zip(GAPS, row, strict=True):
            mine = rows[(rows["dataset"] == block.name) & (rows["measure"] == gap)]
            for step, (over, (colour, marker)) in enumerate(looks.items()):
                lines = mine[mine["over"] == over].set_index("method").reindex(list(methods))
                factor = measures.find(gap).unit.factor
                places = [place + 0.2 * (step - (len(looks) - 1) / 2) for place in range(len(lines))]
                spread = None if lines["std"].isna().all() else factor * lines["std"]
                ax.errorbar(
                    factor * lines["mean"], places, xerr=spread, fmt=marker, color=colour, markersize=4,
                    elinewidth=0.8, label=style.plain(over),
                )  # fmt: skip
                chance = ax.scatter(factor * lines["chance"], places, marker="|", s=30, color=colour, linewidths=0.8)
            chance.set_label("if rates were equal")
            ax.set_xlabel(style.label(gap))
            style.rows(ax, list(methods.values()))
        row[0].set_title(style.plain(block.title), loc="left", fontweight="bold")
        row[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return drawn


def _attributes(rows: pd.DataFrame, dataset: str) -> list[str]:
    """The attributes that a data set's groups combine; none for a single one."""
    over = rows.loc[rows["dataset"] == dataset, "over"].drop_duplicates()
    return [each for each in over if each != COMBINED]
