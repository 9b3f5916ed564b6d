"""Statistics of the data sets: counts, the attention that follows, and mixing."""

from collections.abc import Mapping, Sequence
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
MIXING: dict[str, Text] = {
    "label_homophily": "equal labels",
    "group_homophily": "equal groups",
    "without_other_group": "no other group",
    "tau": "τ",
}
_DRAWN = ("inter_edges", "intra_edges")  # of the training graph in link prediction
_MARKS = "✓ equal to the paper's, ✗ different, ≈ different as the splits are random."
# What a panel shows, where it is not plain.
_TRAINING_GRAPH = "Where links are predicted, they are the training graph's."
_FAIR_ATTENTION = (
    "Fair attention: the share of each group's nodes that have an inter-edge, and the "
    "cap that follows from it, 1 / (R_0 + R_1): the attention on inter-edges is the "
    "smaller of it and α_χ^max."
)
_INTER_EDGES = "Where links are predicted, the attention is the limit itself."
_MIXING = (
    "Mixing, in the whole graph: the share of the edges that join equal labels "
    "(between labelled nodes) and equal groups, and of the nodes that have no "
    "neighbour of another group, and τ of the mean over neighbours: how much of the "
    "distance between two groups' means is left by it, at most."
)
_GROUPS = (
    "Groups: of each, its nodes, the share of label 1 among the labelled ones, the "
    "share of its nodes that have an inter-edge, and of its edges that stay in it."
)

Counts = Mapping[str, Any]
"""What is counted in a graph (`fairgat.data.statistics.counts`)."""
Columns = Mapping[Text, tuple[str, ...]]
"""Headings, and the keys of their quantity in the counts of a graph."""


def build(settings: Settings, files: Files) -> Table:
    """Make the paper's two tables, ours above the paper's; then what follows of them.

    Where the run is not about the paper, these are its own data and no others.
    """
    stats = by_dataset(files["stats"])
    social = [each for each in settings.datasets if not _predicts_links(each)]
    citation = [each for each in settings.datasets if _predicts_links(each)]
    people = _counted(social, stats)
    papers = _counted(citation, stats)

    of_people, of_papers = "People", "Linked nodes"
    caption = "Dataset statistics."
    marks = ""
    if settings.compares_with_paper:
        of_people, of_papers = "Social networks", "Citation networks"
        caption = (
            "Dataset statistics for social networks and for citation networks, ours "
            "and the paper's."
        )
        marks = _MARKS
    notes = Notes()
    ours = "ours" if settings.compares_with_paper else ""
    attention = {**_reaches(people), "cap": ("cap",)}
    mixing = {title: (name,) for name, title in MIXING.items()}
    panels = {
        "": _counts(of_people, SOCIAL, social, stats, ours, notes),
        _TRAINING_GRAPH: _counts(of_papers, CITATION, citation, stats, ours, notes),
        _FAIR_ATTENTION: _shares("Fair attention", people, attention),
        _INTER_EDGES: _shares("Nodes with inter-edges", papers, _reaches(papers)),
        _MIXING: _shares("Mixing", people | papers, mixing),
        _GROUPS: _groups(people),
    }
    shown = {said: panel for said, panel in panels.items() if panel.blocks}
    said = [marks, "Edges are directed.", *shown]
    return Table(
        name="dataset_statistics",
        caption=caption,
        explanation=" ".join(filter(None, said)),
        panels=[*shown.values()],
        notes=notes.all(),
    )


def _predicts_links(dataset: ShownDataset) -> bool:
    return TASKS[dataset.task].divides == "edges"


def _counted(
    datasets: Sequence[ShownDataset], stats: Mapping[str, Any]
) -> dict[str, Counts]:
    """Give the counts of those data sets whose graph was made, by title."""
    made = [each for each in datasets if each.name in stats]
    return {each.title: stats[each.name]["counts"] for each in made}


# ----------------------------------------------------- the counts of the paper's tables


def _counts(
    title: str,
    quantities: Mapping[str, Text],
    datasets: Sequence[ShownDataset],
    stats: Mapping[str, Any],
    ours: str,
    notes: Notes,
) -> Panel:
    """Show the counts of graphs of one kind, and below them the paper's.

    Args:
        ours: the name of our rows.
    """
    blocks = []
    for dataset in datasets:
        entry = stats.get(dataset.name)
        if entry is None:
            reason = dataset.reason or "its graph was not made"
            blocks.append(Block(dataset.title, reason=reason))
            continue
        mark = ""
        if entry["notes"]:
            mark = notes.mark(f"{dataset.title}: {' '.join(entry['notes'])}")
        papers = entry["paper"] or {}
        counts = [_count(name, dataset, entry["counts"], papers) for name in quantities]
        rows = [row(Cell(ours, mark=mark), *counts)]
        if papers:
            rows.append(row("paper", *[papers.get(name, "–") for name in quantities]))
        blocks.append(Block(dataset.title, rows))
    header = [title, "", *quantities.values()]
    return Panel("multirow", header, blocks, align="ll" + "r" * len(quantities))


def _count(
    quantity: str, dataset: ShownDataset, counts: Counts, papers: Mapping[str, int]
) -> Text:
    """Show a count, marked by how it compares with the paper's."""
    ours = counts.get(quantity)
    if len(counts["r_chi"]) > 2 and quantity in ("s0", "s1"):
        ours = None  # as these leave out people: the last panel has all groups
    if ours is None:
        return DASH
    if quantity not in papers:
        return str(ours)
    if ours == papers[quantity]:
        return f"{ours} ✓"
    by_split = quantity in _DRAWN and _predicts_links(dataset)
    return f"{ours} ≈" if by_split else f"{ours} ✗"


# ------------------------------------------------------------------------------- shares


def _reaches(counted: Mapping[str, Counts]) -> dict[Text, tuple[str, ...]]:
    """Give the share of the nodes that have an inter-edge, of each group."""
    groups = {group for counts in counted.values() for group in counts["r_chi"]}
    columns = {}
    for group in sorted(groups, key=int):
        heading = Math(f"R{group}^χ", rf"$R_{{{group}}}^{{\chi}}$")
        columns[heading] = ("r_chi", group)
    return columns


def _shares(title: str, counted: Mapping[str, Counts], columns: Columns) -> Panel:
    """Show a row of shares for each data set."""
    rows = []
    for name, counts in counted.items():
        values = [_value(counts, keys) for keys in columns.values()]
        rows.append(row(name, *map(_share, values)))
    blocks = [Block(title, rows)] if rows else []
    return Panel("stacked", [title, *columns], blocks)


def _value(counts: Counts, keys: tuple[str, ...]) -> float | None:
    value: Any = counts
    for key in keys:
        value = value.get(key)
    return value


def _groups(counted: Mapping[str, Counts]) -> Panel:
    """Show every group of every data set, under the values that it stands for."""
    blocks = []
    for title, counts in counted.items():
        rows = []
        for name, group in counts.get("by_group", {}).items():
            positive = None
            if group["labelled"]:
                positive = group["label_1"] / group["labelled"]
            shares = map(_share, (positive, group["r_chi"], group["homophily"]))
            rows.append(row(name, group["nodes"], *shares))
        if rows:
            blocks.append(Block(title, rows))
    header: list[Text] = ["Groups", "", "nodes", "label 1", "R", "homophily by group"]
    return Panel("multirow", header, blocks, align="llrrrr")


def _share(value: float | None) -> Text:
    return percent.formatted("{:.4f}", value)
