"""`when`: what fair attention gains on generated graphs that differ in one quantity at a time.

Reads differences.csv and graphs.csv; writes along.csv and the figure `along`. A graph belongs to the quantity that its
name begins with; the one in the middle to all.
"""

from pathlib import Path

import pandas as pd

from beyond.analyses import common
from fairgat import measures
from fairgat.config import NodeTraining
from fairgat.report import style

VARIED = {"group": "group_homophily", "label": "label_homophily", "gap": "label_gap"}
AXES = {
    "group_homophily": "homophily by group",
    "label_homophily": "homophily by label",
    "label_gap": "label gap between the groups",
}
MIDDLE = "middle"
SHOWN = measures.names(NodeTraining.task, "audited")


def rows(differences: pd.DataFrame, graphs: pd.DataFrame) -> pd.DataFrame:
    """A row per quantity, graph, method and metric: the quantity as measured, and the difference to GAT there."""
    counted = graphs[graphs["group"].isna()].set_index(["quantity", "dataset"])["value"]
    varied = differences[
        (differences["method"] != differences["of"]) & differences["metric"].isin(SHOWN)
    ]
    varied = varied[["dataset", "method", "metric", "difference", "low", "high"]]
    parts = []
    for beginning, quantity in VARIED.items():
        mine = varied[
            varied["dataset"].str.startswith(f"{beginning}-")
            | (varied["dataset"] == MIDDLE)
        ]
        places = counted[quantity].rename("value")
        parts.append(
            mine.assign(quantity=quantity).merge(
                places, left_on="dataset", right_index=True
            )
        )
    order = ["quantity", "metric", "method", "value"]
    return pd.concat(parts).sort_values(order, key=_in_order, kind="stable")[
        [
            "quantity",
            "dataset",
            "value",
            "method",
            "metric",
            "difference",
            "low",
            "high",
        ]
    ]


def _in_order(column: pd.Series) -> pd.Series:
    """Texts in the order of their first appearance, and numbers by size."""
    return (
        column
        if column.dtype == float
        else column.map({name: k for k, name in enumerate(column.unique())})
    )


def figure(rows: pd.DataFrame, titles: dict[str, str]):
    """A row of panels for each quantity: differences to GAT in points against it, with bands of 95 % intervals."""
    looks = common.looks({name: titles[name] for name in rows["method"].unique()})
    drawn, axes = style.grid(len(VARIED), len(SHOWN), height=1.9)
    for quantity, panels in zip(VARIED.values(), axes, strict=True):
        for metric, ax in zip(SHOWN, panels, strict=True):
            style.zero(ax)
            mine = rows[(rows["quantity"] == quantity) & (rows["metric"] == metric)]
            for method, lines in mine.groupby("method", sort=False):
                gaps = 100 * lines[["difference", "low", "high"]]
                common.curve(ax, lines["value"], gaps, looks[method])
            ax.set_xlabel(AXES[quantity])
    for metric, ax in zip(SHOWN, axes[0], strict=True):
        ax.set_title(style.label(metric))
    drawn.supylabel("difference to GAT, in points", fontsize=8)
    style.legend(drawn, looks.values())
    return drawn


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; the paths written."""
    found = rows(common.read(folder, "differences"), common.read(folder, "graphs"))
    paths = common.tabled(folder, "along", found)
    return paths + common.published(
        folder, "along", figure(found, common.titles(folder))
    )
