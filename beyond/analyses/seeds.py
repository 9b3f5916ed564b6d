"""`seeds`: how much of a score, and of a difference between methods, is the split's and how much the seed's.

Reads scores.csv of methods that are there once for each seed, as NAME and NAME-seed-K. Writes seeds.csv and seeds.md,
the shares of variance, and the figure `seeds`.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution

from beyond.analyses import common
from fairgat.report import labels, style
from fairgat.report.model import Block, Panel, Row, Table, row

BASE, OTHER = "gat", "fairgat"
DIFFERENCE = "difference"
_SHADES = {"split": "#0072B2", "seed": "#E69F00"}


def by_seed(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores of BASE and OTHER with the `seed` of each, and their differences on the same split and seed."""
    names = (
        scores["method"]
        .str.extract(r"^(?P<name>.+?)(?:-seed-(?P<seed>\d+))?$")
        .fillna({"seed": "0"})
    )
    known = scores.assign(of=names["name"], seed=names["seed"].astype(int))
    keys = ["dataset", "metric", "split", "seed"]
    wide = known.set_index([*keys, "of"])["value"].unstack("of")[[BASE, OTHER]]
    wide[DIFFERENCE] = wide[OTHER] - wide[BASE]
    return wide.stack().rename_axis([*keys, "of"]).rename("value").reset_index()


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Divide variance between splits and seeds, by a one-way analysis with random effects.

    Seeds are other on every split, so that what is left within a split is the seed's.

    Returns:
        A row per data set, metric and `of` (BASE, OTHER, DIFFERENCE): `splits`, `seeds`, the deviations `of_split` and
        `of_seed` (fractions), and `share`, the seed's part of the variance, with its 95 % interval `low` to `high` by
        the F distribution, for normal effects. `of_split` is 0 where splits differ less than seeds make them.
    """
    found = []
    for keys, mine in rows.groupby(["dataset", "metric", "of"], sort=False):
        table = mine.pivot(index="split", columns="seed", values="value").dropna()
        splits, seeds = table.shape
        within = float(table.var(axis=1, ddof=1).mean())
        between = float(seeds * table.mean(axis=1).var(ddof=1))
        freedom = splits - 1, splits * (seeds - 1)
        ratio = between / within if within else np.inf
        quantiles = 1, *f_distribution.ppf((0.025, 0.975), *freedom)
        share, low, high = (
            _seeds_share(ratio / quantile, seeds) for quantile in quantiles
        )
        of_split = max(between - within, 0) / seeds
        found.append(
            (*keys, splits, seeds, of_split**0.5, within**0.5, share, low, high)
        )
    columns = [
        "dataset",
        "metric",
        "of",
        "splits",
        "seeds",
        "of_split",
        "of_seed",
        "share",
        "low",
        "high",
    ]
    return pd.DataFrame(found, columns=columns)


def _seeds_share(ratio: float, seeds: int) -> float:
    """The seed's part of the variance where the mean squares between and within splits have this ratio."""
    return float(np.clip(seeds / (ratio + seeds - 1), 0, 1))


def figure(rows: pd.DataFrame, datasets: dict[str, str], titles: dict[str, str]):
    """A bar for each metric and method: the seed's part of the variance, its interval, and the rest, the split's."""
    names, kinds = list(rows["dataset"].unique()), list(rows["of"].unique())
    most = rows.groupby("dataset")["metric"].nunique().max()
    drawn, axes = style.grid(
        len(names), len(kinds), height=0.6 + 0.25 * most, sharex=True
    )
    for dataset, panels in zip(names, axes, strict=True):
        for kind, ax in zip(kinds, panels, strict=True):
            mine = rows[(rows["dataset"] == dataset) & (rows["of"] == kind)]
            places = np.arange(len(mine))
            ax.barh(places, 1, color=_SHADES["split"], alpha=0.35, height=0.7)
            ax.barh(places, mine["share"], color=_SHADES["seed"], height=0.7)
            ax.hlines(places, mine["low"], mine["high"], color="black", linewidth=1)
            ax.set_title(f"{datasets[dataset]}: {titles[kind]}", loc="left")
            style.rows(
                ax,
                [style.label(metric) for metric in mine["metric"]]
                if ax is panels[0]
                else [""] * len(mine),
            )
            ax.set_xlim(0, 1)
    drawn.supxlabel(
        "part of the variance; line: 95 % interval of the seed's part", fontsize=8
    )
    words = {"seed": "the seed", "split": "the split"}
    drawn.legend(
        handles=[
            style.sign(text, color=_SHADES[name], marker="s")
            for name, text in words.items()
        ],
        loc="outside upper center",
        ncols=2,
        frameon=False,
    )
    return drawn


def table(
    rows: pd.DataFrame, datasets: dict[str, str], titles: dict[str, str]
) -> Table:
    """A block for each data set, a row for each metric and method."""
    blocks = []
    for dataset, mine in rows.groupby("dataset", sort=False):
        lines = []
        for place, (name, group) in enumerate(mine.groupby("of", sort=False)):
            lines += [_row(titles[name], line, place) for line in group.itertuples()]
        blocks.append(Block(datasets[dataset], lines))
    splits, seeds = rows["splits"].max(), rows["seeds"].max()
    return Table(
        name="seeds",
        caption="How much of a score is the seed's.",
        explanation=(
            f"Standard deviations in points, of {splits} splits with {seeds} seeds each: of a split's mean over all "
            "seeds, and of a seed on one split; the seed's part of the variance with its 95 % interval. The difference "
            "is of runs with the same split and seed."
        ),
        panels=[
            Panel(
                "multirow",
                ["Data set", "Of", "Measure", "split", "seed", "seed's part"],
                blocks,
                align="lllrrr",
            )
        ],
        notes=[],
    )


def _row(title: str, line, place: int) -> Row:
    deviations = (f"{100 * value:.2f}" for value in (line.of_split, line.of_seed))
    share = f"{100 * line.share:.0f} % ({100 * line.low:.0f} to {100 * line.high:.0f})"
    return row(title, labels.metric(line.metric), *deviations, share, group=place)


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; the paths written."""
    compared = common.read(folder, "differences", columns=("metric",))[
        "metric"
    ].unique()
    scores = common.scores(folder)
    found = shares(by_seed(scores[scores["metric"].isin(compared)]))
    kinds = pd.DataFrame({"of": [BASE, OTHER, DIFFERENCE]})
    found = common.ordered(
        common.ordered(common.ordered(found, scores, "metric"), kinds, "of"),
        scores,
        "dataset",
    )
    datasets, titles = (
        common.datasets(folder),
        common.titles(folder) | {DIFFERENCE: "their difference"},
    )
    return [
        *common.tabled(folder, "seeds", found, table(found, datasets, titles)),
        *common.published(folder, "seeds", figure(found, datasets, titles)),
    ]
