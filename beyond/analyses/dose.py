"""`dose`: how much attention to other groups? Every cell against its share, with the account of its gaps.

Exploration: it shows cells that nobody chose. Reads scores.csv and accounts.csv and writes curve.csv, every cell at its
share, and predicted.csv, the share at which two models say that mixing cancels the rest. Where there is no
accounts.csv, as in studies before 0.4, these two are read. Draws two figures, `dose`, differences to GAT, and
`dose-parts`, the account.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from fairgat import cells, measures
from fairgat.config import NodeTraining
from fairgat.report import style
from fairgat.report.figures.account import COLOURS, WORDS
from fairgat.report.tables.account import PARTS
from fairgat.theory.account import least_gap

BASE, FIRST = "gat", "fairgat-steps-1"
SHARE = "alpha_chi_max"
EQUAL = 0.5
METRICS = measures.names(NodeTraining.task, "audited")
OVER = {"all": "all nodes", "label 1": "label 1"}
"""The rows whose accounts are drawn."""
TERMS = ["gap", *PARTS, "factor", "between", "spread", "reach"]


def curve(scores: pd.DataFrame, accounts: pd.DataFrame) -> pd.DataFrame:
    """Every cell at its share of attention.

    Args:
        scores: test scores by split of every cell.
        accounts: of the logits.

    Returns:
        A row per data set, method and cell, means over the splits: `share`, the hyperparameter's value or else
        (1 - factor) / reach, what the method turns out to give; each metric, and its difference to GAT with the 95 %
        interval of the paired t (`accuracy`, `accuracy_difference`, `accuracy_low`, ...; fractions); for each set of
        rows in OVER the terms of the account and the theory's optimum, 1 / reach (`all_mixing`, `all_optimum`, ...).
    """
    scores = scores[scores["metric"].isin(METRICS)]
    rows = (
        scores.groupby([*common.RUN, "metric"], sort=False)["value"]
        .mean()
        .unstack("metric")[[*METRICS]]
    )
    is_base = scores["method"] == BASE
    gaps = common.less(scores[~is_base], scores[is_base]).set_index(
        [*common.RUN, "metric"]
    )
    for name in ("difference", "low", "high"):
        rows = rows.join(gaps[name].unstack("metric").add_suffix(f"_{name}"))
    logits = of_two_groups(accounts)
    for over in OVER:
        terms = logits[logits["over"] == over].groupby(common.RUN)[TERMS].mean()
        terms["optimum"] = 1 / terms["reach"]
        rows = rows.join(terms.add_prefix(f"{over.replace(' ', '_')}_"))
    rows = rows.reset_index()
    given = pd.Series(
        [cells.from_path(cell).get(SHARE) for cell in rows["cell"]], dtype=float
    )
    rows.insert(3, "share", given.fillna((1 - rows["all_factor"]) / rows["all_reach"]))
    return rows


def of_two_groups(accounts: pd.DataFrame) -> pd.DataFrame:
    """The accounts of data sets with two groups: of more there is one for each group against the rest."""
    return accounts[accounts.groupby("dataset")["group"].transform("nunique") == 1]


def predicted(curve: pd.DataFrame, accounts: pd.DataFrame) -> pd.DataFrame:
    """Say at which share the mean logits of the groups differ least, and where the curve has its least gaps.

    The prediction is `least_gap`'s, from only two models of each split: GAT, and step 1 at equal shares, its cell
    nearest to 0.5.

    Returns:
        A row per data set and set of rows in OVER: `predicted`, the mean over the splits, `predicted_std`, the share of
        step 1's cell with the least mean gap of the logits (`least_gap`), in units of their spread, and with the least
        of the measure that these rows belong to (`least_measure`: ΔSP for all nodes, ΔEO for label 1).
    """
    logits, rows = of_two_groups(accounts), []
    for dataset, steps in (
        curve[curve["method"] == FIRST]
        .dropna(subset=["share", "all_gap"])
        .groupby("dataset", sort=False)
    ):
        equal = steps.loc[(steps["share"] - EQUAL).abs().idxmin(), "cell"]
        models = logits[
            (logits["dataset"] == dataset)
            & ((logits["method"] == BASE) | is_cell(logits, equal))
        ]
        for over, measure in zip(OVER, METRICS[1:], strict=True):
            pairs = [
                lines
                for _, lines in models[models["over"] == over].groupby("split")
                if len(lines) == 2
            ]
            shares = pd.Series([least_gap(lines)[0] for lines in pairs], dtype=float)
            name = over.replace(" ", "_")
            rows.append(
                {
                    "dataset": dataset,
                    "over": over,
                    "n_splits": len(shares),
                    "predicted": shares.mean(),
                    "predicted_std": shares.std(),
                    "least_gap": share_of_least(
                        steps, (steps[f"{name}_gap"] / steps[f"{name}_spread"]).abs()
                    ),
                    "measure": measure,
                    "least_measure": share_of_least(steps, steps[measure]),
                }
            )
    return pd.DataFrame(rows)


def is_cell(accounts: pd.DataFrame, cell: str) -> pd.Series:
    """Whether an account is of this cell of step 1."""
    return (accounts["method"] == FIRST) & (accounts["cell"] == cell)


def share_of_least(steps: pd.DataFrame, values: pd.Series) -> float:
    """The share of the cell with the least value; NaN where all are missing."""
    return (
        float(steps.loc[values.idxmin(), "share"]) if values.notna().any() else np.nan
    )


def differences(curve: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]):
    """For each data set and metric, every method's differences to GAT against the share."""
    names = list(curve["dataset"].unique())
    looks = common.looks(
        {name: titles[name] for name in curve["method"].unique() if name != BASE}
    )
    drawn, axes = style.grid(len(names), len(METRICS), height=1.7, sharex=True)
    for dataset, panels in zip(names, axes, strict=True):
        mine = curve[curve["dataset"] == dataset].dropna(subset=["share"])
        for metric, ax in zip(METRICS, panels, strict=True):
            style.zero(ax)
            for method, lines in mine[mine["method"] != BASE].groupby(
                "method", sort=False
            ):
                lines = lines.sort_values("share")
                gaps = (
                    100
                    * lines[
                        [f"{metric}_{name}" for name in ("difference", "low", "high")]
                    ]
                )
                common.curve(ax, lines["share"], gaps, looks[method])
            _marks(ax, mine)
        panels[0].set_ylabel(style.plain(datasets[dataset]), fontweight="bold")
    _headed(axes, [*map(style.label, METRICS)])
    drawn.supxlabel("share of attention on neighbours in other groups", fontsize=8)
    drawn.supylabel("difference to GAT, in points", fontsize=8)
    style.legend(drawn, looks.values(), _SHARES)
    return drawn


def parts(curve: pd.DataFrame, predicted: pd.DataFrame, datasets: dict[str, str]):
    """For each data set the account of step 1's logits against the share, in their standard deviations.

    Signed as in the figure `account`: GAT's gap is positive.
    """
    names = list(curve.dropna(subset=["all_gap"])["dataset"].unique())
    drawn, axes = style.grid(len(names), len(OVER), height=1.9, sharex=True)
    for dataset, panels in zip(names, axes, strict=True):
        mine = curve[curve["dataset"] == dataset].dropna(subset=["share"])
        steps = mine[mine["method"] == FIRST].sort_values("share")
        for over, ax in zip(OVER, panels, strict=True):
            name = over.replace(" ", "_")
            sign = np.sign(mine.loc[mine["method"] == BASE, f"{name}_gap"].mean())
            style.zero(ax)
            for part, colour in {**COLOURS, "gap": "black"}.items():
                values, width = (
                    sign * steps[f"{name}_{part}"] / steps[f"{name}_spread"],
                    1.8 if part == "gap" else 1.2,
                )
                ax.plot(
                    steps["share"], values, color=colour, marker=".", linewidth=width
                )
            asked = predicted[
                (predicted["dataset"] == dataset) & (predicted["over"] == over)
            ]["predicted"]
            ax.plot(
                asked,
                np.zeros(len(asked)),
                "v",
                color="black",
                transform=ax.get_xaxis_transform(),
                clip_on=False,
            )
            _marks(ax, mine)
        panels[0].set_ylabel(style.plain(datasets[dataset]), fontweight="bold")
    _headed(axes, [*OVER.values()])
    drawn.supxlabel(
        "share of attention on neighbours in the other group (step 1); GAT's gap is positive",
        fontsize=8,
    )
    drawn.supylabel(
        "difference of the groups' mean logits\n(second layer), in standard deviations",
        fontsize=8,
    )
    lines = [
        style.sign(text, color=COLOURS[part], linestyle="-")
        for part, text in WORDS.items()
    ]
    gap = style.sign("the gap: their sum", color="black", linestyle="-", linewidth=1.8)
    forecast = style.sign(
        "forecast of the least gap from GAT and ½", color="black", marker="v"
    )
    handles = [*lines, gap, *_SHARES, forecast]
    drawn.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    return drawn


_SHARES = (
    style.sign("the share that GAT turns out to give", linestyle="--"),
    style.sign("the share at which mixing is 0", linestyle=":"),
)


def _marks(ax, mine: pd.DataFrame) -> None:
    """Mark the share that GAT gives, and the theory's optimum where it is a share."""
    base = mine[mine["method"] == BASE]
    own, optimum = base["share"].mean(), base["all_optimum"].mean()
    ax.axvline(own, color=style.GREY, linestyle="--", linewidth=0.8, zorder=1)
    if optimum <= 1:
        ax.axvline(optimum, color=style.GREY, linestyle=":", linewidth=1.2, zorder=1)


def _headed(axes, names: list[str]) -> None:
    for ax, title in zip(axes[0], names, strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xticks([0.25, 0.5, 0.75], ["¼", "½", "¾"])


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; the paths written."""
    paths = []
    if (folder / "accounts.csv").exists():
        accounts = common.read(folder, "accounts")
        found = curve(common.scores(folder), accounts)
        paths += common.tabled(folder, "curve", found)
        paths += common.tabled(folder, "predicted", predicted(found, accounts))
    found, forecast = common.read(folder, "curve"), common.read(folder, "predicted")
    titles, datasets = common.titles(folder), common.datasets(folder)
    paths += common.published(folder, "dose", differences(found, titles, datasets))
    return paths + common.published(
        folder, "dose-parts", parts(found, forecast, datasets)
    )
