"""How much attention to other groups: every cell of a study against its share, with the account of its gaps.

The curve is exploration: it shows cells that nobody chose. What a method gives at the cell that validation chooses is
in the study's table.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fairgat import cells, measures
from fairgat.config.shown import StudySettings
from fairgat.report import style
from fairgat.report.figures.account import COLOURS
from fairgat.report.study import by_rule, compared_with
from fairgat.report.tables.account import PARTS
from fairgat.scores.paired import against
from fairgat.theory.account import least_gap

METRICS = measures.names("node_classification", "audited")  # accuracy and the gaps
OVER = ("all", "label 1")  # the rows whose accounts are drawn
_COLOURS = COLOURS | {"gap": "#000000"}
EQUAL = 0.5
_CELL = ["dataset", "method", "cell"]
_TERMS = ["gap", *PARTS, "factor", "between", "spread", "reach", "decided", "by_means"]


def curve(settings: StudySettings, runs: pd.DataFrame, accounts: pd.DataFrame) -> pd.DataFrame:
    """Every cell of the study's methods, and of what they are compared with, at its share of attention.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them.
        accounts: the rows of account.csv files.

    Returns:
        A row per data set, method and cell, means over the splits: `share`, the hyperparameter's value or else
        (1 - factor) / reach of the logits' account; each metric, and its difference to the method that it is compared
        with, with the 95 % interval of the paired t (`accuracy`, `accuracy_difference`, `accuracy_low`, ...; fractions,
        NaN for that method); for each set of rows in OVER the terms of the logits' account and the theory's optimum,
        1 / reach (`all_mixing`, `all_optimum`, ...).
    """
    rows = pd.DataFrame([row.model_dump() for row in settings.rows])
    variants = rows.loc[rows["changes"].notna(), ["dataset", "method", "of"]].drop_duplicates()
    scored = by_rule(settings, runs).rename(columns={"run_on": "dataset"})
    scored = scored[(scored["epochs"] == "accuracy") & scored["metric"].isin(METRICS)]
    bases = scored.merge(variants[["dataset", "of"]].drop_duplicates().rename(columns={"of": "method"}))
    mine, base = scored.merge(variants), bases.rename(columns={"method": "of"})
    gaps = against(mine, base, ["dataset", "of", "split", "metric"], [*_CELL, "metric"]).set_index([*_CELL, "metric"])
    both = pd.concat([bases, mine]).drop_duplicates([*_CELL, "split", "metric"])
    points = both.groupby([*_CELL, "metric"], sort=False)["value"].mean().unstack("metric")[[*METRICS]]
    for name in ("difference", "low", "high"):
        points = points.join(gaps[name].unstack("metric").add_suffix(f"_{name}"))
    logits = _logits(accounts)
    for over in OVER:
        terms = logits[logits["over"] == over].groupby(_CELL)[_TERMS].mean()
        terms["optimum"] = 1 / terms["reach"]
        points = points.join(terms.add_prefix(f"{over.replace(' ', '_')}_"))
    points = points.reset_index()
    given = [cells.from_path(cell).get(settings.dose) for cell in points["cell"]]
    turned_out = (1 - points["all_factor"]) / points["all_reach"]
    points.insert(3, "share", pd.Series(given, dtype=float).fillna(turned_out))
    return points


def _logits(accounts: pd.DataFrame) -> pd.DataFrame:
    """The logits' accounts of data sets with two groups: of more there is one for each against the rest."""
    logits = accounts[accounts["layer"] == "logit"]
    return logits[logits.groupby("dataset")["group"].transform("nunique") == 1]


def predicted(settings: StudySettings, curve: pd.DataFrame, accounts: pd.DataFrame) -> pd.DataFrame:
    """Say at which share the mean logits of the groups differ least, and where the curve has its least gaps.

    The prediction is `least_gap`'s, from only two models of each split: the method that the study's first variant is
    compared with, and that variant at equal shares, its cell nearest to 0.5.

    Returns:
        A row per data set and set of rows in OVER: `predicted`, the mean over the splits, `predicted_std`, the share of
        the first variant's cell with the least mean gap of the logits (`least_gap`), in units of their spread, and with
        the least of the measure that these rows belong to (`least_measure`: ΔSP for all nodes, ΔEO for label 1).
    """
    logits = _logits(accounts)
    rows = []
    for block in settings.blocks:
        first = next(row for row in block.rows if row.changes)
        cells_of = curve[(curve["dataset"] == first.dataset) & (curve["method"] == first.method)].dropna(
            subset=["share", "all_gap"]
        )
        if cells_of.empty:
            continue
        equal = cells_of.loc[(cells_of["share"] - EQUAL).abs().idxmin(), "cell"]
        for over, measure in zip(OVER, METRICS[1:], strict=True):
            mine = logits[(logits["dataset"] == first.dataset) & (logits["over"] == over)]
            two = mine[(mine["method"] == first.of) | ((mine["method"] == first.method) & (mine["cell"] == equal))]
            shares = pd.Series(
                [least_gap(lines)[0] for _, lines in two.groupby("split") if len(lines) == 2], dtype=float
            )
            name = over.replace(" ", "_")
            relative = (cells_of[f"{name}_gap"] / cells_of[f"{name}_spread"]).abs()
            least = [
                cells_of.loc[values.idxmin(), "share"] if values.notna().any() else np.nan
                for values in (relative, cells_of[measure])
            ]
            rows.append(
                {"dataset": first.dataset, "over": over, "n_splits": len(shares),
                 "predicted": shares.mean(), "predicted_std": shares.std(),
                 "least_gap": least[0], "measure": measure, "least_measure": least[1]}
            )  # fmt: skip
    return pd.DataFrame(rows)


def figure(settings: StudySettings, curve: pd.DataFrame, predicted: pd.DataFrame) -> Figure:
    """Draw, for each data set, differences against the share, and the account of the first variant's logits.

    Dashed: the share that the method compared with turns out to give; dotted: the theory's optimum; a triangle at the
    bottom: the share predicted to have the least gap. Accounts are in standard deviations of the logits.
    """
    blocks = [block for block in settings.blocks if block.name in set(curve["dataset"])]
    titles = {row.method: row.title for block in blocks for row in block.rows}
    looks = style.looks(titles)
    compared = {row.of for block in blocks for row in block.rows}
    drawn, axes = style.grid(len(blocks), len(METRICS) + len(OVER), height=1.45, sharex=True)
    for block, (*panels, everyone, positive) in zip(blocks, axes, strict=True):
        mine = curve[curve["dataset"] == block.name]
        first = next(row for row in block.rows if row.changes)
        for metric, ax in zip(METRICS, panels, strict=True):
            style.zero(ax)
            for method, lines in mine[~mine["method"].isin(compared)].groupby("method", sort=False):
                lines = lines.dropna(subset=["share"]).sort_values("share")
                gaps = (100 * lines[f"{metric}_{name}"] for name in ("difference", "low", "high"))
                style.curve(ax, lines["share"], gaps, looks[method])
        for over, ax in zip(OVER, (everyone, positive), strict=True):
            name = over.replace(" ", "_")
            style.zero(ax)
            own = mine[mine["method"] == first.method].sort_values("share")
            for part, colour in _COLOURS.items():
                values, width = own[f"{name}_{part}"] / own[f"{name}_spread"], 1.4 if part == "gap" else 1
                ax.plot(own["share"], values, color=colour, marker=".", markersize=3, linewidth=width)
            marked = predicted[(predicted["dataset"] == block.name) & (predicted["over"] == over)]
            ax.plot(marked["predicted"], np.zeros(len(marked)), "v", color="black", transform=ax.get_xaxis_transform())
        own, optimum = (mine.loc[mine["method"] == first.of, key].mean() for key in ("share", "all_optimum"))
        for ax in (*panels, everyone, positive):
            ax.axvline(own, color=style.GREY, linestyle="--", linewidth=0.8, zorder=1)
            if optimum <= 1:
                ax.axvline(optimum, color=style.GREY, linestyle=":", linewidth=1, zorder=1)
        panels[0].set_ylabel(style.plain(block.title), fontweight="bold")
    names = [*map(style.label, METRICS), "gap, all nodes", "gap, label 1"]
    for ax, title in zip(axes[0], names, strict=True):
        ax.set_title(title, fontsize=8)
    for ax in axes[-1]:
        ax.set_xticks([0.25, 0.5, 0.75], ["¼", "½", "¾"])
    axes[-1][len(METRICS) // 2].set_xlabel(f"share on other groups; difference to {compared_with(settings)} in points")
    axes[-1][len(METRICS)].set_xlabel("logits, in their spread")
    parts = [style.sign(text, color=_COLOURS[part], linestyle="-") for part, text in {**PARTS, "gap": "gap"}.items()]
    style.legend(drawn, [look for name, look in looks.items() if name not in compared], below=parts)
    return drawn
