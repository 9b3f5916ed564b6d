"""`groups`: fairness for one attribute and for several, each attribute's own gap beside that over their combinations.

A method that is fair to either attribute may still treat a combination of them, a smaller group, unlike all others.

Reads scores.csv, with the rates of single groups, differences.csv and graphs.csv, and writes attributes.csv; where
scores.csv has no such rates, as in studies before 0.4, attributes.csv is read. Draws the figure `attributes`.
"""

import math
import re
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from fairgat.report import style

GAPS = {
    "statistical_parity": "positive_rate",
    "equal_opportunity": "true_positive_rate",
}
"""The gaps, and the rates of single groups that they are the largest differences of."""
COUNTED = {"statistical_parity": "labelled", "equal_opportunity": "label_1"}
"""The people that a rate is about, as graphs.csv calls them."""
COMBINED = "all groups"
TESTED = 0.3  # of the people, as config.yaml divides them
DRAWS = 10_000
KEYS = ["dataset", "method", "measure", "over"]
COLUMNS = (
    *KEYS,
    "cell",
    "n_splits",
    "mean",
    "std",
    "chance",
    "difference",
    "low",
    "high",
    "lowest",
    "highest",
)
_LOOKS = (
    ("#0072B2", "o"),
    ("#E69F00", "^"),
    ("#009E73", "D"),
    ("#CC79A7", "v"),
)  # of attributes
_ALL = ("#000000", "s")


def gaps(
    scores: pd.DataFrame, differences: pd.DataFrame, graphs: pd.DataFrame
) -> pd.DataFrame:
    """Every method's gaps over all groups and, where these combine several attributes, over each of them.

    Args:
        scores: test scores by split, with the rates of single groups.
        differences: the study's comparison; its cells are shown.
        graphs: what is counted in the graphs.

    Returns:
        A row per data set, method, gap and what it is over, with COLUMNS; fractions. `chance` is the gap to expect in a
        test set where all groups have the same rate: the more groups, and the smaller, the larger. `difference` is that
        to GAT, with the 95 % interval of the paired t; of a method that was trained on another data set, to GAT trained
        there. `lowest` and `highest` name the groups with the smallest and largest mean rate, of gaps over all groups.
    """
    chosen = (
        differences[["run_on", "method", "cell"]]
        .drop_duplicates()
        .set_axis(["dataset", "method", "cell"], axis=1)
    )
    elsewhere = scores[scores["method"].str.contains("@")][
        [*common.RUN]
    ].drop_duplicates()  # at the chosen cell only
    scored = scores.merge(pd.concat([chosen, elsewhere]))
    names = scored["metric"].str.extract(
        rf"^(?P<measure>{'|'.join(GAPS)})(?:_(?P<over>.+))?$"
    )
    found = scored.join(names).dropna(subset="measure").fillna({"over": COMBINED})
    found = found.sort_values(
        "measure", key=lambda each: each.map([*GAPS].index), kind="stable"
    )
    summary = found.groupby([*KEYS, "cell"], sort=False)["value"].agg(
        n_splits="count", mean="mean", std="std"
    )
    rows = summary.reset_index().merge(_less_gat(found), how="left", on=KEYS)
    named = [_rates(scored, graphs, row) for row in rows.itertuples()]
    attributes = {name: _attributes(rows, name) for name in rows["dataset"].unique()}
    ends = [
        _ends(each) if row.over == COMBINED else ("", "")
        for row, each in zip(rows.itertuples(), named, strict=True)
    ]
    return rows.assign(
        chance=[
            _chance(each, row.over, attributes[row.dataset])
            for row, each in zip(rows.itertuples(), named, strict=True)
        ],
        lowest=[low for low, _ in ends],
        highest=[high for _, high in ends],
    )[list(COLUMNS)]


def _less_gat(found: pd.DataFrame) -> pd.DataFrame:
    """The differences to GAT, that of the same data set."""
    base, where = (
        found["method"].str.partition("@")[0],
        found["method"].str.partition("@")[2],
    )
    found = found.assign(trained_on=where)
    is_gat = base == "gat"
    pairs = common.less(found[~is_gat], found[is_gat], "measure", "over", "trained_on")
    return pairs[[*KEYS, "difference", "low", "high"]]


def _rates(scored: pd.DataFrame, graphs: pd.DataFrame, row) -> pd.DataFrame:
    """Each group's mean `rate` and its number of `nodes` that have one, by its name; not those without a rate."""
    mine = scored[(scored["dataset"] == row.dataset) & (scored["method"] == row.method)]
    means = mine.groupby("metric")["value"].mean()
    counts = graphs[
        (graphs["dataset"] == row.dataset)
        & (graphs["quantity"] == COUNTED[row.measure])
    ]
    nodes = counts.dropna(subset="group").set_index("group")["value"]
    rates = [
        means.get(f"{GAPS[row.measure]}_{number}", np.nan)
        for number in range(len(nodes))
    ]
    return pd.DataFrame(
        {"rate": rates, "nodes": nodes.to_numpy()}, index=nodes.index
    ).dropna()


def _ends(groups: pd.DataFrame) -> tuple[str, str]:
    """The names of the groups whose mean rates are the smallest and the largest."""
    rates = groups["rate"]
    return (
        (str(rates.idxmin()), str(rates.idxmax()))
        if len(rates) and np.ptp(rates) > 0
        else ("", "")
    )


def _chance(groups: pd.DataFrame, over: str, attributes: list[str]) -> float:
    """Simulate the mean gap in a test set between groups that all have the same rate; NaN for fewer than two groups."""
    nodes = groups["nodes"]
    if (
        over != COMBINED
    ):  # groups are named "race=1, sex=0", and a value may have a comma
        following = "|".join(map(re.escape, attributes))
        values = nodes.index.str.extract(
            rf"(?:^|, ){re.escape(over)}=(.*?)(?=, (?:{following})=|$)", expand=False
        )
        nodes = nodes.groupby(values.to_numpy()).sum()
    sizes = (TESTED * nodes).round().astype(int)
    sizes = sizes[sizes > 0].to_numpy()
    if len(sizes) < 2:
        return math.nan
    rate = np.average(groups["rate"], weights=groups["nodes"])
    rates = np.random.default_rng(0).binomial(sizes, rate, (DRAWS, len(sizes))) / sizes
    return float(np.ptp(rates, axis=1).mean())


def _attributes(rows: pd.DataFrame, dataset: str) -> list[str]:
    """The attributes that a data set's groups combine; none for a single one."""
    over = rows.loc[rows["dataset"] == dataset, "over"].drop_duplicates()
    return [each for each in over if each != COMBINED]


def figure(rows: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]):
    """A line per method on each data set with several attributes: its gaps over all groups and over each attribute.

    Means over the splits and their standard deviations, in points; a bar where equal rates would put the gap.
    """
    shown = {name: _attributes(rows, name) for name in rows["dataset"].unique()}
    shown = {
        name: attributes for name, attributes in shown.items() if attributes
    } or shown
    methods = {
        name: list(rows.loc[rows["dataset"] == name, "method"].unique())
        for name in shown
    }
    most = max(map(len, methods.values()))
    drawn, axes = style.grid(
        len(shown), len(GAPS), height=max(1.3, 0.5 + 0.22 * most), sharey="row"
    )
    for (dataset, attributes), panels in zip(shown.items(), axes, strict=True):
        looks = {COMBINED: _ALL} | dict(zip(attributes, cycle(_LOOKS), strict=False))
        for gap, ax in zip(GAPS, panels, strict=True):
            mine = rows[(rows["dataset"] == dataset) & (rows["measure"] == gap)]
            _panel(ax, mine, methods[dataset], looks)
            ax.set_xlabel(style.label(gap))
            style.rows(
                ax,
                [
                    style.plain(_title(name, titles, datasets))
                    for name in methods[dataset]
                ],
            )
        panels[0].set_title(
            style.plain(datasets[dataset]), loc="left", fontweight="bold"
        )
        panels[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return drawn


def _panel(
    ax, rows: pd.DataFrame, methods: list[str], looks: dict[str, tuple[str, str]]
) -> None:
    for step, (over, (colour, marker)) in enumerate(looks.items()):
        mine = rows[rows["over"] == over].set_index("method")
        lines = 100 * mine[["mean", "std", "chance"]].reindex(methods)
        places = [
            place + 0.2 * (step - (len(looks) - 1) / 2) for place in range(len(lines))
        ]
        ax.errorbar(
            lines["mean"],
            places,
            xerr=lines["std"].fillna(0),
            fmt=marker,
            color=colour,
            markersize=4,
            elinewidth=0.8,
            label=style.plain(over),
        )
        chance = ax.scatter(
            lines["chance"], places, marker="|", s=30, color=colour, linewidths=0.8
        )
    chance.set_label("if rates were equal")


def _title(method: str, titles: dict[str, str], datasets: dict[str, str]) -> str:
    """A method's title; of one that was trained on another data set, with that one's."""
    name, _, where = method.partition("@")
    return f"{titles[name]}, trained on {datasets[where]}" if where else titles[name]


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; the paths written."""
    scores, paths = common.read(folder, "scores"), []
    if scores["metric"].str.startswith("positive_rate_").any():
        rows = gaps(
            common.scores(folder),
            common.read(folder, "differences"),
            common.read(folder, "graphs"),
        )
        paths = common.tabled(folder, "attributes", rows)
    rows = common.read(folder, "attributes", columns=COLUMNS)
    drawn = figure(rows, common.titles(folder), common.datasets(folder))
    return paths + common.published(folder, "attributes", drawn)
