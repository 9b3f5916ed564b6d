"""`groups`: gaps for one attribute and for several, beside those of their combinations.

A method that is fair to either attribute may still treat a combination of them, a
smaller group, unlike all others.

Reads scores.csv, with the rates of single groups, differences.csv and graphs.csv;
writes attributes.csv and the figure `attributes`. Where scores.csv has no such rates,
as in results/reference, attributes.csv is read.
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
    *("cell", "n_splits", "mean", "std"),
    *("chance", "difference", "low", "high"),
    *("lowest", "highest"),
)
# The colour and the marker of all groups, and of one attribute after the other.
_LOOK_OF_ALL = ("#000000", "s")
_LOOKS = (
    ("#0072B2", "o"),
    ("#E69F00", "^"),
    ("#009E73", "D"),
    ("#CC79A7", "v"),
)


def gaps(
    scores: pd.DataFrame, differences: pd.DataFrame, graphs: pd.DataFrame
) -> pd.DataFrame:
    """Give every method's gaps over all groups, and over each attribute of several.

    Args:
        scores: test scores by split, with the rates of single groups.
        differences: the study's comparison; its cells are shown.
        graphs: what is counted in the graphs.

    Returns:
        A row per data set, method, gap and what it is over, with COLUMNS; fractions.
        `chance` is the gap to expect in a test set where all groups have the same rate:
        the more groups, and the smaller, the larger. `difference` is that to GAT, with
        the 95 % interval of the paired t; of a method that was trained on another data
        set, to GAT trained there. `lowest` and `highest` name the groups with the
        smallest and largest mean rate, of gaps over all groups.
    """
    chosen = differences[["run_on", "method", "cell"]].drop_duplicates()
    chosen.columns = common.RUN
    # Of what was trained on another data set, scores.csv has the chosen cell only.
    elsewhere = scores[scores["method"].str.contains("@")]
    shown = pd.concat([chosen, elsewhere[common.RUN].drop_duplicates()])
    scored = scores.merge(shown, on=common.RUN)

    found = _gaps_by_split(scored)
    by_cell = found.groupby([*KEYS, "cell"], sort=False)["value"]
    rows = by_cell.agg(n_splits="count", mean="mean", std="std").reset_index()
    rows = rows.merge(_less_gat(found), how="left", on=KEYS)

    chances, ends = [], []
    for row in rows.itertuples():
        groups = _rates(scored, graphs, row)
        attributes = _attributes(rows, row.dataset)
        chances.append(_chance(groups, row.over, attributes))
        ends.append(_ends(groups) if row.over == COMBINED else ("", ""))
    rows["chance"] = chances
    rows["lowest"] = [low for low, _ in ends]
    rows["highest"] = [high for _, high in ends]
    return rows[[*COLUMNS]]


def _gaps_by_split(scored: pd.DataFrame) -> pd.DataFrame:
    """Take the gaps out of scores: `measure` is one of GAPS, `over` what it is over."""
    any_gap = "|".join(GAPS)
    pattern = rf"^(?P<measure>{any_gap})(?:_(?P<over>.+))?$"
    named = scored.join(scored["metric"].str.extract(pattern))
    named = named.fillna({"over": COMBINED})
    return pd.concat([named[named["measure"] == gap] for gap in GAPS])


def _less_gat(found: pd.DataFrame) -> pd.DataFrame:
    """Compute the differences to the GAT that was trained on the same data set."""
    names = found["method"].str.partition("@")
    is_gat = names[0] == "gat"
    found = found.assign(trained_on=names[2])
    less = common.less(found[~is_gat], found[is_gat], "measure", "over", "trained_on")
    return less[[*KEYS, "difference", "low", "high"]]


def _rates(scored: pd.DataFrame, graphs: pd.DataFrame, row) -> pd.DataFrame:
    """Give the groups that have a mean rate: it, and their number of people, by name.

    Args:
        row: says of which data set, method and measure.
    """
    is_run = (scored["dataset"] == row.dataset) & (scored["method"] == row.method)
    means = scored[is_run].groupby("metric")["value"].mean()

    is_count = graphs["quantity"] == COUNTED[row.measure]
    counts = graphs[is_count & (graphs["dataset"] == row.dataset)]
    groups = counts.dropna(subset="group").set_index("group")

    rate = GAPS[row.measure]
    metrics = [f"{rate}_{number}" for number in range(len(groups))]
    rates = means.reindex(metrics).to_numpy()
    people = groups["value"]
    return pd.DataFrame({"rate": rates, "people": people}, people.index).dropna()


def _ends(groups: pd.DataFrame) -> tuple[str, str]:
    """Name the groups with the smallest and the largest mean rate, if rates differ."""
    rates = groups["rate"]
    if rates.nunique() < 2:
        return "", ""
    return str(rates.idxmin()), str(rates.idxmax())


def _chance(groups: pd.DataFrame, over: str, attributes: list[str]) -> float:
    """Simulate the mean gap in a test set between groups that all have the same rate.

    NaN for fewer than two groups.
    """
    people = groups["people"]
    if over != COMBINED:
        values = _values(groups.index, over, attributes)
        people = people.groupby(values).sum()
    tested = (TESTED * people).round().astype(int)
    sizes = tested[tested > 0].to_numpy()
    if len(sizes) < 2:
        return math.nan

    rate = np.average(groups["rate"], weights=groups["people"])
    random = np.random.default_rng(0)
    rates = random.binomial(sizes, rate, (DRAWS, len(sizes))) / sizes
    return float(np.ptp(rates, axis=1).mean())


def _values(groups: pd.Index, attribute: str, attributes: list[str]) -> np.ndarray:
    """Read each group's value of an attribute from its name, such as "race=1, sex=0".

    A value may have a comma, and ends where another attribute follows.
    """
    others = "|".join(map(re.escape, attributes))
    pattern = rf"(?:^|, ){re.escape(attribute)}=(.*?)(?=, (?:{others})=|$)"
    return groups.str.extract(pattern, expand=False).to_numpy()


def _attributes(rows: pd.DataFrame, dataset: str) -> list[str]:
    """List the attributes that a data set's groups combine; none for a single one."""
    over = rows.loc[rows["dataset"] == dataset, "over"].unique()
    return [each for each in over if each != COMBINED]


def figure(rows: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]):
    """Draw each method's gaps over all groups and over each attribute, a line for each.

    On the data sets with several attributes, or on all where none has. Means over the
    splits and their standard deviations, in points; a bar where equal rates would put
    the gap.
    """
    names = rows["dataset"].unique()
    with_several = [name for name in names if _attributes(rows, name)]
    shown = with_several or list(names)
    methods = {}
    for dataset in shown:
        methods[dataset] = rows.loc[rows["dataset"] == dataset, "method"].unique()

    most = max(map(len, methods.values()))
    height = max(1.3, 0.5 + 0.22 * most)
    drawn, axes = style.grid(len(shown), len(GAPS), height=height, sharey="row")
    for dataset, panels in zip(shown, axes, strict=True):
        attributes = _attributes(rows, dataset)
        looks = dict(zip(attributes, cycle(_LOOKS), strict=False))
        looks = {COMBINED: _LOOK_OF_ALL} | looks
        lines = [_title(name, titles, datasets) for name in methods[dataset]]
        lines = [style.plain(title) for title in lines]
        for gap, ax in zip(GAPS, panels, strict=True):
            is_panel = (rows["dataset"] == dataset) & (rows["measure"] == gap)
            _panel(ax, rows[is_panel], methods[dataset], looks)
            ax.set_xlabel(style.label(gap))
            style.rows(ax, lines)
        title = style.plain(datasets[dataset])
        panels[0].set_title(title, loc="left", fontweight="bold")
        panels[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    text = "means over the splits and their standard deviations"
    drawn.supxlabel(text, fontsize=8)
    return drawn


def _panel(
    ax, rows: pd.DataFrame, methods: np.ndarray, looks: dict[str, tuple[str, str]]
) -> None:
    """Draw a gap of each method, one line for each, with a mark for all it is over."""
    for number, (over, (colour, marker)) in enumerate(looks.items()):
        of_methods = rows[rows["over"] == over].set_index("method")
        points = 100 * of_methods[["mean", "std", "chance"]].reindex(methods)
        offset = 0.2 * (number - (len(looks) - 1) / 2)  # marks of a line stand apart
        places = np.arange(len(methods)) + offset
        ax.errorbar(
            points["mean"],
            places,
            xerr=points["std"].fillna(0),
            fmt=marker,
            color=colour,
            markersize=4,
            elinewidth=0.8,
            label=style.plain(over),
        )
        bars = {"marker": "|", "s": 30, "linewidths": 0.8}
        chance = ax.scatter(points["chance"], places, color=colour, **bars)
    chance.set_label("if rates were equal")


def _title(method: str, titles: dict[str, str], datasets: dict[str, str]) -> str:
    """Give a method's title, and where it was trained, if on another data set."""
    name, _, trained_on = method.partition("@")
    if not trained_on:
        return titles[name]
    return f"{titles[name]}, trained on {datasets[trained_on]}"


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; give the paths written."""
    paths = []
    metrics = common.read(folder, "scores")["metric"]
    if metrics.str.startswith("positive_rate_").any():
        differences = common.read(folder, "differences")
        graphs = common.read(folder, "graphs")
        found = gaps(common.scores(folder), differences, graphs)
        paths = common.tabled(folder, "attributes", found)
    rows = common.read(folder, "attributes", columns=COLUMNS)
    drawn = figure(rows, common.titles(folder), common.datasets(folder))
    return paths + common.published(folder, "attributes", drawn)
