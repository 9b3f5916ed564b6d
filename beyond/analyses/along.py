"""`when`: what fair attention gains on graphs that differ in one quantity at a time.

Reads differences.csv and graphs.csv; writes along.csv and the figure `along`. A graph
belongs to the quantity that its name begins with; the one in the middle to all.
"""

from pathlib import Path

import pandas as pd

from beyond.analyses import common
from fairgat import measures
from fairgat.config import NodeTraining
from fairgat.report import percent, style

QUANTITIES = {
    "group": "group_homophily",
    "label": "label_homophily",
    "gap": "label_gap",
}
"""By how the names of its graphs begin."""
AXES = {
    "group_homophily": "homophily by group",
    "label_homophily": "homophily by label",
    "label_gap": "label gap between the groups",
}
MIDDLE = "middle"
METRICS = measures.names(NodeTraining.task, "audited")
INTERVAL = ["difference", "low", "high"]
COLUMNS = ["quantity", "dataset", "value", "method", "metric", *INTERVAL]


def rows(differences: pd.DataFrame, graphs: pd.DataFrame) -> pd.DataFrame:
    """List what each method differs from GAT by, along each quantity.

    Returns:
        A row per quantity, graph, method and metric; `value` is the quantity as it is
        measured in the graph.
    """
    of_whole_graph = graphs[graphs["group"].isna()]
    is_base = differences["method"] == differences["of"]
    is_shown = differences["metric"].isin(METRICS)
    compared = differences[~is_base & is_shown]

    parts = []
    for beginning, quantity in QUANTITIES.items():
        is_varied = compared["dataset"].str.startswith(f"{beginning}-")
        is_middle = compared["dataset"] == MIDDLE
        part = compared[is_varied | is_middle].assign(quantity=quantity)
        measured = of_whole_graph[["dataset", "quantity", "value"]]
        parts.append(part.merge(measured, on=["dataset", "quantity"]))

    found = pd.concat(parts)
    along = found.sort_values("value", kind="stable")
    return common.ordered(along, found, "quantity", "metric", "method")[COLUMNS]


def figure(rows: pd.DataFrame, titles: dict[str, str]):
    """Draw the differences to GAT, in points, with bands of 95 % intervals.

    A row of panels for each quantity, a column for each metric.
    """
    looks = common.looks({name: titles[name] for name in rows["method"].unique()})
    drawn, axes = style.grid(len(QUANTITIES), len(METRICS), height=1.9)
    for quantity, panels in zip(QUANTITIES.values(), axes, strict=True):
        for metric, ax in zip(METRICS, panels, strict=True):
            style.zero(ax)
            is_panel = (rows["quantity"] == quantity) & (rows["metric"] == metric)
            for method, lines in rows[is_panel].groupby("method", sort=False):
                common.curve(ax, lines["value"], 100 * lines[INTERVAL], looks[method])
            ax.set_xlabel(AXES[quantity])
    for metric, ax in zip(METRICS, axes[0], strict=True):
        ax.set_title(style.label(metric))
    drawn.supylabel("difference to GAT, in points", fontsize=8)
    style.legend(drawn, looks.values(), title=percent.WITH_INTERVALS)
    return drawn


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; give the paths written."""
    differences = common.read(folder, "differences")
    found = rows(differences, common.read(folder, "graphs"))
    drawn = figure(found, common.titles(folder))
    tables = common.tabled(folder, "along", found)
    return tables + common.published(folder, "along", drawn)
