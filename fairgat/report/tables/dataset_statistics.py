"""Statistics of the data sets: their counts, the attention that follows from them, and how groups mix."""

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
    "attention on inter-edges that follows from it for each of its upper limits."
)
_INTER_EDGES = "Where links are predicted, the attention is the limit itself."
_MIXING = (
    "Mixing, in the whole graph: the share of the edges that join equal labels (between "
    "labelled nodes) and equal groups, and of the nodes that have no neighbour of another "
    "group, and τ of the mean over neighbours: how much of the distance between two "
    "groups' means is left by it, at most."
)
_GROUPS = (
    "Groups: of each, its nodes, the share of label 1 among the labelled ones, the share "
    "of its nodes that have an inter-edge, and of its edges that stay in it."
)


def build(settings: Settings, files: Files) -> Table:
    """Make the paper's two tables, ours above the paper's; then what follows of them.

    Where the run is not about the paper, these are its own data and no others.
    """
    stats = by_dataset(files["stats"])
    notes = Notes()
    with_paper = settings.compares_with_paper
    social = [each for each in settings.datasets if _divides(each) == "nodes"]
    citation = [each for each in settings.datasets if _divides(each) == "edges"]
    people, papers = _counted(social, stats), _counted(citation, stats)

    titles = ("Social networks", "Citation networks")
    caption = (
        "Dataset statistics for social networks and for citation networks, ours and the "
        "paper's."
    )
    if not with_paper:
        titles = ("People", "Linked nodes")
        caption = "Dataset statistics."
    mixing = {(quantity,): label for quantity, label in MIXING.items()}
    panels = {
        "": _counts(titles[0], SOCIAL, social, stats, notes, with_paper),
        _TRAINING_GRAPH: _counts(
            titles[1], CITATION, citation, stats, notes, with_paper
        ),
        _FAIR_ATTENTION: _shares(
            "Fair attention", people, _groups_of(people) | _limits_of(people)
        ),
        _INTER_EDGES: _shares("Nodes with inter-edges", papers, _groups_of(papers)),
        _MIXING: _shares("Mixing", people | papers, mixing),
        _GROUPS: _groups(people),
    }
    shown = {said: panel for said, panel in panels.items() if panel.blocks}
    said = [_MARKS if with_paper else "", "Edges are directed.", *shown]
    return Table(
        name="dataset_statistics",
        caption=caption,
        explanation=" ".join(filter(None, said)),
        panels=[*shown.values()],
        notes=notes.all(),
    )


def _divides(dataset: ShownDataset) -> str:
    return TASKS[dataset.task].divides


def _counted(datasets: list[ShownDataset], stats: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of those data sets whose graph was made, by title."""
    return {
        each.title: stats[each.name]["counts"]
        for each in datasets
        if each.name in stats
    }


def _counts(
    title: str,
    quantities: Mapping[str, Text],
    datasets: list[ShownDataset],
    stats: Mapping[str, Any],
    notes: Notes,
    with_paper: bool,
) -> Panel:
    """The counts of graphs of one kind, and below them the paper's."""
    blocks = []
    for dataset in datasets:
        entry = stats.get(dataset.name)
        if entry is None:
            blocks.append(
                Block(dataset.title, reason=dataset.reason or "its graph was not made")
            )
            continue
        ours, paper = entry["counts"], entry["paper"] or {}
        mark = (
            notes.mark(f"{dataset.title}: {' '.join(entry['notes'])}")
            if entry["notes"]
            else ""
        )
        drawn = _DRAWN if TASKS[dataset.task].divides == "edges" else ()
        # Of more than two groups they would leave out people: the last panel has all.
        apart = ("s0", "s1") if len(ours["r_chi"]) > 2 else ()
        counts = (
            _ours(
                None if each in apart else ours.get(each),
                paper.get(each),
                each in drawn,
            )
            for each in quantities
        )
        rows = [row(Cell("ours" if with_paper else "", mark=mark), *counts)]
        if paper:
            rows.append(
                row("paper", *(paper.get(quantity, "–") for quantity in quantities))
            )
        blocks.append(Block(dataset.title, rows))
    return Panel(
        "multirow",
        [title, "", *quantities.values()],
        blocks,
        align="ll" + "r" * len(quantities),
    )


def _ours(ours: int | None, paper: int | None, drawn: bool) -> Text:
    """Our count, marked by how it compares with the paper's; `drawn` where the random split decides it."""
    if ours is None or paper is None:
        return DASH if ours is None else str(ours)
    if ours == paper:
        return f"{ours} ✓"
    return f"{ours} ≈" if drawn else f"{ours} ✗"


Columns = Mapping[tuple[str, ...], Text]
"""Headings by the keys under which the counts of a graph have a value."""


def _groups_of(counted: Mapping[str, Any]) -> dict[tuple[str, ...], Text]:
    groups = sorted(
        {group for counts in counted.values() for group in counts["r_chi"]}, key=int
    )
    return {
        ("r_chi", group): Math(f"R{group}^χ", rf"$R_{{{group}}}^{{\chi}}$")
        for group in groups
    }


def _limits_of(counted: Mapping[str, Any]) -> dict[tuple[str, ...], Text]:
    limits = sorted(
        {limit for counts in counted.values() for limit in counts["alpha_chi"]},
        key=float,
    )
    return {
        ("alpha_chi", limit): Math(
            f"α_χ at α_χ^max {float(limit):g}",
            rf"$\alpha^{{\chi}}$ at $\alpha_{{\max}}^{{\chi}}$ {float(limit):g}",
        )
        for limit in limits
    }


def _shares(
    title: str, counted: Mapping[str, Mapping[str, Any]], columns: Columns
) -> Panel:
    """A row of shares for each data set."""

    def value(counts: Mapping[str, Any], keys: tuple[str, ...]) -> Text:
        for key in keys[:-1]:
            counts = counts[key]
        return _share(counts.get(keys[-1]))

    rows = [
        row(name, *(value(counts, keys) for keys in columns))
        for name, counts in counted.items()
    ]
    return Panel(
        "stacked", [title, *columns.values()], [Block(title, rows)] if rows else []
    )


def _groups(counted: Mapping[str, Mapping[str, Any]]) -> Panel:
    """Every group of every data set, under the values that it stands for."""
    blocks = []
    for title, counts in counted.items():
        rows = []
        for name, group in counts.get("by_group", {}).items():
            share = group["label_1"] / group["labelled"] if group["labelled"] else None
            rows.append(
                row(
                    name,
                    group["nodes"],
                    *map(_share, (share, group["r_chi"], group["homophily"])),
                )
            )
        blocks += [Block(title, rows)] if rows else []
    header: list[Text] = ["Groups", "", "nodes", "label 1", "R", "homophily by group"]
    return Panel("multirow", header, blocks, align="llrrrr")


def _share(value: float | None) -> Text:
    return percent.formatted("{:.4f}", value)
