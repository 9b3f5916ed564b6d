"""Statistics of the data sets: the paper's two tables with ours, and the attention that follows from R_chi."""

from collections.abc import Mapping
from typing import Any

from fairgat.config import TASKS
from fairgat.config.shown import ShownDataset
from fairgat.report.inputs import Files, Settings, by_dataset
from fairgat.report.model import DASH, Block, Cell, Math, Notes, Panel, Row, Table, Text

READS = ("stats",)
TASK = None

SOCIAL: dict[str, Text] = {
    "s0": Math("nodes s=0", r"$|\mathcal{S}_{0}|$"),
    "s1": Math("nodes s=1", r"$|\mathcal{S}_{1}|$"),
    "inter_edges": Math("inter-edges", r"$|\mathcal{E}^{\chi}|$"),
    "intra_edges": Math("intra-edges", r"$|\mathcal{E}^{\omega}|$"),
    "features": Math("F", "$F$"),
}
CITATION: dict[str, Text] = {
    "nodes": Math("nodes", r"$|\mathcal{V}|$"),
    "groups": "# sensitive attr.",
    "inter_edges": SOCIAL["inter_edges"],
    "intra_edges": SOCIAL["intra_edges"],
    "train_edges": Math("edges", r"$|\mathcal{E}|$"),
}

_HEADINGS = {
    "r_chi": lambda group: Math(f"R{group}^χ", rf"$R_{{{group}}}^{{\chi}}$"),
    "alpha_chi": lambda limit: Math(f"α_χ (max {float(limit):g})", rf"$\alpha^{{\chi}}$ (max {float(limit):g})"),
}
_DRAWN = ("inter_edges", "intra_edges")  # of the training graph in link prediction


def build(settings: Settings, files: Files) -> Table:
    """Both of the paper's tables, ours above the paper's with a mark per number; then R_chi and alpha_chi."""
    stats = by_dataset(files["stats"])
    notes = Notes()
    social = [dataset for dataset in settings.datasets if TASKS[dataset.task].divides == "nodes"]
    citation = [dataset for dataset in settings.datasets if TASKS[dataset.task].divides == "edges"]
    panels = [
        _counts("Social networks", SOCIAL, social, stats, notes),
        _counts("Citation networks", CITATION, citation, stats, notes),
        _shares("Fair attention", social, stats, ["r_chi", "alpha_chi"]),
        _shares("Nodes with inter-edges", citation, stats, ["r_chi"]),
        _mixing(social + citation, stats),
        _groups(social, stats),
    ]
    return Table(
        name="dataset_statistics",
        caption="Dataset statistics for social networks and for citation networks, ours and the paper's.",
        explanation=(
            "✓ equal to the paper's, ✗ different, ~ different as the splits are random. Edges are directed; those of "
            "citation networks are the training graph's. Fair attention: the share of each group's nodes that have an "
            "inter-edge, and the attention on inter-edges that follows from it for each of its upper limits; on "
            "citation networks the attention is the limit itself. Mixing, in the whole graph: the share of the edges "
            "that join equal labels (between labelled nodes) and equal groups, and of the nodes without a neighbour "
            "of another group, and τ of the mean over neighbours: how much of the distance between two groups' means "
            "is left by it, at most. Groups: of each, its nodes, the share of label 1 among the labelled ones, the "
            "share of its nodes that have an inter-edge, and of its edges that stay in it."
        ),
        panels=[panel for panel in panels if panel.blocks],
        notes=notes.all(),
    )


def _counts(
    title: str,
    quantities: Mapping[str, Text],
    datasets: list[ShownDataset],
    stats: Mapping[str, Any],
    notes: Notes,
) -> Panel:
    blocks = []
    for dataset in datasets:
        entry = stats.get(dataset.name)
        if entry is None:
            blocks.append(Block(dataset.title, reason=dataset.reason or "its graph was not made"))
            continue
        ours, paper = entry["counts"], entry["paper"] or {}
        mark = notes.mark(f"{dataset.title}: {' '.join(entry['notes'])}") if entry["notes"] else ""
        drawn = _DRAWN if TASKS[dataset.task].divides == "edges" else ()
        counts = (_ours(ours, paper, quantity, quantity in drawn) for quantity in quantities)
        rows = [Row([Cell("ours", mark=mark), *counts])]
        if paper:
            rows.append(Row([Cell("paper"), *(Cell(str(paper.get(quantity, "–"))) for quantity in quantities)]))
        blocks.append(Block(dataset.title, rows))
    return Panel("multirow", [title, "", *quantities.values()], blocks, align="ll" + "r" * len(quantities))


def _ours(ours: Mapping[str, int], paper: Mapping[str, int], quantity: str, drawn: bool) -> Cell:
    """Our count, marked by how it compares with the paper's; `drawn` where the random split decides it."""
    if quantity not in ours:
        return Cell(DASH)
    if quantity not in paper:
        return Cell(str(ours[quantity]))
    mark = "✓" if ours[quantity] == paper[quantity] else "~" if drawn else "✗"
    return Cell(f"{ours[quantity]} {mark}")


def _shares(title: str, datasets: list[ShownDataset], stats: Mapping[str, Any], columns: list[str]) -> Panel:
    """A row for each data set, with a column for each key of the counts in `columns`, such as each group's R_chi."""
    counted = {dataset.title: stats[dataset.name]["counts"] for dataset in datasets if dataset.name in stats}
    header: list[Text] = [title]
    rows = {name: [] for name in counted}
    for column in columns:
        for key in sorted({key for counts in counted.values() for key in counts[column]}, key=float):
            header.append(_HEADINGS[column](key))
            for name, counts in counted.items():
                rows[name].append(Cell(f"{counts[column][key]:.4f}" if key in counts[column] else DASH))
    blocks = [Block(title, [Row([Cell(name), *cells]) for name, cells in rows.items()])] if rows else []
    return Panel("stacked", header, blocks)


def _mixing(datasets: list[ShownDataset], stats: Mapping[str, Any]) -> Panel:
    """Show the homophily of labels and groups in every data set."""
    quantities = {
        "label_homophily": "homophily by label",
        "group_homophily": "homophily by group",
        "without_other_group": "nodes without a neighbour of another group",
        "tau": "τ of the mean over neighbours",
    }
    counted = {dataset.title: stats[dataset.name]["counts"] for dataset in datasets if dataset.name in stats}
    rows = []
    for title, counts in counted.items():
        values = [counts.get(quantity) for quantity in quantities]
        rows.append(Row([Cell(title), *(Cell(DASH if value is None else f"{value:.4f}") for value in values)]))
    return Panel("stacked", ["Mixing", *quantities.values()], [Block("Mixing", rows)] if rows else [])


def _groups(datasets: list[ShownDataset], stats: Mapping[str, Any]) -> Panel:
    """Every group of every data set, under the values that it stands for."""
    blocks = []
    for dataset in datasets:
        rows = []
        for name, group in stats.get(dataset.name, {"counts": {}})["counts"].get("by_group", {}).items():
            share = group["label_1"] / group["labelled"] if group["labelled"] else None
            shares = (share, group["r_chi"], group["homophily"])
            shown = (Cell(DASH if value is None else f"{value:.4f}") for value in shares)
            rows.append(Row([Cell(name), Cell(str(group["nodes"])), *shown]))
        blocks += [Block(dataset.title, rows)] if rows else []
    header: list[Text] = ["Groups", "", "nodes", "label 1", "R", "homophily by group"]
    return Panel("multirow", header, blocks, align="llrrrr")
