"""`dose`: how much attention to other groups? Every cell against its share.

Exploration: it shows cells that nobody chose. Reads scores.csv and accounts.csv and
writes curve.csv, every cell at its share with the account of its gaps, and
predicted.csv, the share at which two models say that mixing cancels the rest. Where
there is no accounts.csv, as in results/reference, these two are read. Draws two
figures, `dose`, differences to GAT, and `dose-parts`, the account.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from fairgat import cells, measures
from fairgat.config import NodeTraining
from fairgat.report import percent, style
from fairgat.report.figures.account import COLOURS, WORDS
from fairgat.report.tables.account import PARTS
from fairgat.theory.account import least_gap

GAT, STEP_1 = "gat", "fairgat-steps-1"
SHARE = "alpha_chi_max"
EQUAL_SHARES = 0.5
METRICS = measures.names(NodeTraining.task, "audited")
GAPS = METRICS[1:]
INTERVAL = ("difference", "low", "high")
OVER = {"all": "all nodes", "label 1": "label 1"}
"""The rows whose accounts are drawn. Of each, one of GAPS is the measure."""
TERMS = ["gap", *PARTS, "factor", "between", "spread", "reach"]
PREDICTED = [
    *("dataset", "over", "n_splits", "predicted", "predicted_std"),
    *("least_gap", "measure", "least_measure"),
]


def _column(over: str, term: str) -> str:
    """Name the column of a term of the account over some rows, as `label_1_gap`."""
    return f"{over.replace(' ', '_')}_{term}"


def curve(scores: pd.DataFrame, accounts: pd.DataFrame) -> pd.DataFrame:
    """Put every cell at its share of attention.

    Args:
        scores: test scores by split of every cell.
        accounts: of the logits.

    Returns:
        A row per data set, method and cell, means over the splits: `share`, the
        hyperparameter's value or else what the method turns out to give; each metric,
        and its difference to GAT with the 95 % interval of the paired t (`accuracy`,
        `accuracy_difference`, `accuracy_low`, ...; fractions); for each set of rows in
        OVER the terms of the account and the theory's optimum, 1 / reach
        (`all_mixing`, `all_optimum`, ...).
    """
    scores = scores[scores["metric"].isin(METRICS)]
    means = scores.groupby([*common.RUN, "metric"], sort=False)["value"].mean()
    rows = means.unstack("metric")[[*METRICS]]

    is_base = scores["method"] == GAT
    less = common.less(scores[~is_base], scores[is_base])
    less = less.set_index([*common.RUN, "metric"])
    for name in INTERVAL:
        by_metric = less[name].unstack("metric")
        rows = rows.join(by_metric.add_suffix(f"_{name}"))

    accounts = of_two_groups(accounts)
    for over in OVER:
        of_rows = accounts[accounts["over"] == over]
        terms = of_rows.groupby(common.RUN)[TERMS].mean()
        terms["optimum"] = 1 / terms["reach"]
        rows = rows.join(terms.add_prefix(_column(over, "")))

    rows = rows.reset_index()
    rows.insert(3, "share", _shares(rows))
    return rows


def _shares(rows: pd.DataFrame) -> pd.Series:
    """Give each cell's share: what it asks for, or what its attention gives.

    The latter is (1 - factor) / reach.
    """
    asked = [cells.from_path(cell).get(SHARE) for cell in rows["cell"]]
    given = (1 - rows["all_factor"]) / rows["all_reach"]
    return pd.Series(asked, dtype=float).fillna(given)


def of_two_groups(accounts: pd.DataFrame) -> pd.DataFrame:
    """Take the accounts of data sets with two groups.

    Of more groups there is one for each group against the rest.
    """
    groups = accounts.groupby("dataset")["group"].transform("nunique")
    return accounts[groups == 1]


def predicted(curve: pd.DataFrame, accounts: pd.DataFrame) -> pd.DataFrame:
    """Forecast the share of the least gap in mean logits, beside that of the curve.

    The forecast is `least_gap`'s, from only two models of each split: GAT, and step 1
    at equal shares, its cell nearest to 0.5.

    Returns:
        A row per data set and set of rows in OVER: `predicted`, the mean over the
        splits, `predicted_std`, the share of step 1's cell with the least mean gap of
        the logits (`least_gap`), in units of their spread, and with the least of the
        measure that these rows belong to (`least_measure`: ΔSP for all nodes, ΔEO for
        label 1).
    """
    accounts = of_two_groups(accounts)
    is_known = curve["share"].notna() & curve["all_gap"].notna()
    of_step = curve[is_known & (curve["method"] == STEP_1)]

    rows = []
    for dataset, steps in of_step.groupby("dataset", sort=False):
        distance = (steps["share"] - EQUAL_SHARES).abs()
        equal = steps.loc[distance.idxmin(), "cell"]
        is_model = (accounts["method"] == GAT) | is_cell(accounts, equal)
        models = accounts[is_model & (accounts["dataset"] == dataset)]
        for over, measure in zip(OVER, GAPS, strict=True):
            shares = _forecasts(models[models["over"] == over])
            gaps = steps[_column(over, "gap")] / steps[_column(over, "spread")]
            rows.append(
                {
                    "dataset": dataset,
                    "over": over,
                    "n_splits": len(shares),
                    "predicted": shares.mean(),
                    "predicted_std": shares.std(),
                    "least_gap": share_of_least(steps, gaps.abs()),
                    "measure": measure,
                    "least_measure": share_of_least(steps, steps[measure]),
                }
            )
    return pd.DataFrame(rows, columns=PREDICTED)


def is_cell(accounts: pd.DataFrame, cell: str) -> pd.Series:
    """Say which accounts are of this cell of step 1."""
    return (accounts["method"] == STEP_1) & (accounts["cell"] == cell)


def _forecasts(models: pd.DataFrame) -> pd.Series:
    """Forecast a share for each split of which both models have an account."""
    shares = []
    for _, pair in models.groupby("split"):
        if len(pair) == 2:
            share, _ = least_gap(pair)
            shares.append(share)
    return pd.Series(shares, dtype=float)


def share_of_least(steps: pd.DataFrame, values: pd.Series) -> float:
    """Give the share of the cell with the least value; NaN where all are missing."""
    if values.isna().all():
        return np.nan
    return float(steps.loc[values.idxmin(), "share"])


def differences(curve: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]):
    """Draw every method's differences to GAT against the share.

    A row of panels for each data set, a column for each metric.
    """
    names = list(curve["dataset"].unique())
    methods = [name for name in curve["method"].unique() if name != GAT]
    looks = common.looks({name: titles[name] for name in methods})
    curve = curve.dropna(subset=["share"])

    drawn, axes = style.grid(len(names), len(METRICS), height=1.7, sharex=True)
    for dataset, panels in zip(names, axes, strict=True):
        of_dataset = curve[curve["dataset"] == dataset]
        others = of_dataset[of_dataset["method"] != GAT]
        for metric, ax in zip(METRICS, panels, strict=True):
            style.zero(ax)
            columns = [f"{metric}_{name}" for name in INTERVAL]
            for method, lines in others.groupby("method", sort=False):
                lines = lines.sort_values("share")
                common.curve(ax, lines["share"], 100 * lines[columns], looks[method])
            _mark_shares(ax, of_dataset)
        panels[0].set_ylabel(style.plain(datasets[dataset]), fontweight="bold")

    _label_outside(axes, [style.label(metric) for metric in METRICS])
    drawn.supxlabel("share of attention on neighbours in other groups", fontsize=8)
    drawn.supylabel("difference to GAT, in points", fontsize=8)
    style.legend(drawn, looks.values(), _SHARES, percent.WITH_INTERVALS)
    return drawn


def parts(curve: pd.DataFrame, predicted: pd.DataFrame, datasets: dict[str, str]):
    """Draw the account of step 1's logits against the share.

    In standard deviations, and signed as in the figure `account`: GAT's gap is
    positive. A row of panels for each data set, a column for each set of rows in OVER.
    """
    names = list(curve.dropna(subset=["all_gap"])["dataset"].unique())
    curve = curve.dropna(subset=["share"])

    n_rows = max(1, len(names))  # none where all data sets have more than two groups
    drawn, axes = style.grid(n_rows, len(OVER), height=1.9, sharex=True)
    for dataset, panels in zip(names, axes, strict=False):
        of_dataset = curve[curve["dataset"] == dataset]
        forecasts = predicted[predicted["dataset"] == dataset]
        for over, ax in zip(OVER, panels, strict=True):
            style.zero(ax)
            _account(ax, of_dataset, over)
            forecast = forecasts[forecasts["over"] == over]["predicted"]
            at_bottom = {"transform": ax.get_xaxis_transform(), "clip_on": False}
            zeros = np.zeros(len(forecast))
            ax.plot(forecast, zeros, "v", color="black", **at_bottom)
            _mark_shares(ax, of_dataset)
        panels[0].set_ylabel(style.plain(datasets[dataset]), fontweight="bold")

    _label_outside(axes, [*OVER.values()])
    drawn.supxlabel(
        "share of attention on neighbours in the other group (step 1); "
        "GAT's gap is positive",
        fontsize=8,
    )
    drawn.supylabel(
        "difference of the groups' mean logits\n(second layer), in standard deviations",
        fontsize=8,
    )
    handles = []
    for part, text in WORDS.items():
        handles.append(style.sign(text, color=COLOURS[part], linestyle="-"))
    handles += [_GAP, *_SHARES, _FORECAST]
    drawn.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    return drawn


_SHARES = (
    style.sign("the share that GAT turns out to give", linestyle="--"),
    style.sign("the share at which mixing is 0", linestyle=":"),
)
_GAP = style.sign("the gap: their sum", color="black", linestyle="-", linewidth=1.8)
_FORECAST = style.sign(
    "forecast of the least gap from GAT and ½", color="black", marker="v"
)


def _account(ax, of_dataset: pd.DataFrame, over: str) -> None:
    """Draw the parts of step 1's gap, and their sum, for a data set."""
    base = of_dataset[of_dataset["method"] == GAT]
    sign = np.sign(base[_column(over, "gap")].mean())
    steps = of_dataset[of_dataset["method"] == STEP_1].sort_values("share")
    spread = steps[_column(over, "spread")]
    for part, colour in {**COLOURS, "gap": "black"}.items():
        values = sign * steps[_column(over, part)] / spread
        width = 1.8 if part == "gap" else 1.2
        ax.plot(steps["share"], values, color=colour, marker=".", linewidth=width)


def _mark_shares(ax, of_dataset: pd.DataFrame) -> None:
    """Mark the share that GAT gives, and the theory's optimum where it is a share."""
    base = of_dataset[of_dataset["method"] == GAT]
    optimum = base["all_optimum"].mean()
    looks = {"color": style.GREY, "zorder": 1}
    ax.axvline(base["share"].mean(), linestyle="--", linewidth=0.8, **looks)
    if optimum <= 1:
        ax.axvline(optimum, linestyle=":", linewidth=1.2, **looks)


def _label_outside(axes, titles: list[str]) -> None:
    """Title the columns of panels, and mark quarters on the lowest axes."""
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xticks([0.25, 0.5, 0.75], ["¼", "½", "¾"])


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; give the paths written."""
    paths = []
    if (folder / "accounts.csv").exists():
        accounts = common.read(folder, "accounts")
        found = curve(common.scores(folder), accounts)
        paths += common.tabled(folder, "curve", found)
        paths += common.tabled(folder, "predicted", predicted(found, accounts))

    found = common.read(folder, "curve")
    forecast = common.read(folder, "predicted")
    titles, datasets = common.titles(folder), common.datasets(folder)
    drawn = differences(found, titles, datasets)
    paths += common.published(folder, "dose", drawn)
    drawn = parts(found, forecast, datasets)
    return paths + common.published(folder, "dose-parts", drawn)
