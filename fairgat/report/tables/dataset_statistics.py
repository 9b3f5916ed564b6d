"""Statistics of the data sets: the paper's two tables with ours, and the attention that follows from R_chi."""

from collections.abc import Mapping
from typing import Any

from fairgat.config import TASKS
from fairgat.config.shown import ShownDataset
from fairgat.report import percent
from fairgat.report.inputs import Files, Settings, by_dataset
from fairgat.report.model import DASH, Block, Cell, Math, Notes, Panel, Table, Text, row

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

MIXING = {
    "label_homophily": "homophily by label",
    "group_homophily": "homophily by group",
    "without_other_group": "nodes without a neighbour of another group",
    "tau": "τ of the mean over neighbours",
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
    social, citation = (
        [dataset for dataset in settings.datasets if TASKS[dataset.task].divides == what] for what in ("nodes", "edges")
    )
    people, papers = (
        {dataset.title: stats[dataset.name]["counts"] for dataset in datasets if dataset.name in stats}
        for datasets in (social, citation)
    )
    panels = [
        _counts("Social networks", SOCIAL, social, stats, notes),
        _counts("Citation networks", CITATION, citation, stats, notes),
        _shares("Fair attention", people, "r_chi", "alpha_chi"),
        _shares("Nodes with inter-edges", papers, "r_chi"),
        _mixing(people | papers),
        _groups(people),
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
    title: str, quantities: Mapping[str, Text], datasets: list[ShownDataset], stats: Mapping[str, Any], notes: Notes
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
        rows = [row(Cell("ours", mark=mark), *counts)]
        if paper:
            rows.append(row("paper", *(paper.get(quantity, "–") for quantity in quantities)))
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


def _shares(title: str, counted: Mapping[str, Mapping[str, Any]], *quantities: str) -> Panel:
    """A row for each data set, with a column for each key of these quantities, such as each group's R_chi."""
    columns = [
        (quantity, key)
        for quantity in quantities
        for key in sorted({key for counts in counted.values() for key in counts[quantity]}, key=float)
    ]
    rows = [row(name, *(_share(counts[of].get(key)) for of, key in columns)) for name, counts in counted.items()]
    header = [title, *(_HEADINGS[of](key) for of, key in columns)]
    return Panel("stacked", header, [Block(title, rows)] if rows else [])


def _mixing(counted: Mapping[str, Mapping[str, Any]]) -> Panel:
    """Show the homophily of labels and groups in every data set."""
    rows = [row(name, *(_share(counts.get(quantity)) for quantity in MIXING)) for name, counts in counted.items()]
    return Panel("stacked", ["Mixing", *MIXING.values()], [Block("Mixing", rows)] if rows else [])


def _groups(counted: Mapping[str, Mapping[str, Any]]) -> Panel:
    """Every group of every data set, under the values that it stands for."""
    blocks = []
    for title, counts in counted.items():
        rows = []
        for name, group in counts.get("by_group", {}).items():
            share = group["label_1"] / group["labelled"] if group["labelled"] else None
            rows.append(row(name, group["nodes"], *map(_share, (share, group["r_chi"], group["homophily"]))))
        blocks += [Block(title, rows)] if rows else []
    header: list[Text] = ["Groups", "", "nodes", "label 1", "R", "homophily by group"]
    return Panel("multirow", header, blocks, align="llrrrr")


def _share(value: float | None) -> Text:
    return percent.formatted("{:.4f}", value)
