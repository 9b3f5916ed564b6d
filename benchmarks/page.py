"""Write the measured parts of docs/performance.md from benchmarks/measured/*.json."""

import statistics
from collections import defaultdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from epoch import PEERS
from turns import EDGES, HERE, KEPT

from fairgat import files

PAGE = HERE.parent / "docs" / "performance.md"
MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"
GPU_MARKS = "<!-- gpu: begin -->", "<!-- gpu: end -->"
REFERENCE = "GAT" + KEPT
COLUMNS = {
    ("recidivism", "1"): "Recidivism, 1 thread",
    ("recidivism", "2"): "Recidivism, 2 threads",
    ("small", "1"): "6,000 nodes, 1 thread",
    ("small", "2"): "6,000 nodes, 2 threads",
}
"""The titles of what is measured on a graph with a number of threads."""
Rows = dict[str, dict[str, Any]]


def measured(folder: Path) -> str:
    """Write the part between the marks, as Markdown."""
    graphs = {}
    for name in ("recidivism", "small"):
        graphs[name] = files.read_json(folder / f"{name}.json")
    growth = files.read_json(folder / "growth.json")
    rows = {name: result["rows"] for name, result in graphs.items()}
    machine = graphs["recidivism"]["machine"]
    ours = rows["recidivism"]["GAT"]
    sizes = {name: in_words(each["GAT"]) for name, each in rows.items()}

    lines = [
        f"{machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gib']} GiB; {machine['system']}; "
        f"Python {machine['python']}, PyTorch {machine['torch']}, {ours['version']}.",
        f"Recidivism: {sizes['recidivism']}. The generated graph: {sizes['small']}.",
    ]
    lines += ["", "## The fastest setting of each library", ""]
    titles = list(COLUMNS.values())
    lines += table("times as long as our GAT", titles, fastest_peers(rows))
    lines += ["", "## Settings", ""]
    title = "milliseconds per epoch (ratio to the row GAT, memory kept)"
    lines += table(title, titles, our_settings(rows))
    lines += [
        "",
        "## A million nodes",
        "",
        "Seconds per epoch, and the peak memory of the process in GiB; 64 features, "
        "width 64, two threads.",
        "",
    ]
    lines += table("directed edges", list(growth["rows"]), grown(growth["rows"]))
    return "\n".join(lines)


def table(first: str, columns: list[str], rows: dict[str, list[str]]) -> list[str]:
    """Write the lines of a table, whose rows have their cells by their names."""
    body = [line(name, cells) for name, cells in rows.items()]
    return [line(first, columns), line(":--", ["--:"] * len(columns)), *body]


def line(first: str, cells: list[str]) -> str:
    return f"| {' | '.join([first, *cells])} |"


def fastest_peers(rows: dict[str, Rows]) -> dict[str, list[str]]:
    """Give each peer's library, with its version, its best ratio in each column."""
    cells = {}
    for library, names in peers(rows["recidivism"]).items():
        cells[library] = [fastest(rows[graph], n, names) for graph, n in COLUMNS]
    return cells


def our_settings(rows: dict[str, Rows]) -> dict[str, list[str]]:
    """Give each of our rows its time in each column."""
    ours = [name for name in rows["recidivism"] if not name.startswith(PEERS)]
    cells = {}
    for name in ours:
        cells[name] = [cell(rows[graph], name, n) for graph, n in COLUMNS]
    return cells


def grown(rows: dict[str, list[dict]]) -> dict[str, list[str]]:
    """Give each number of edges the time and the memory of each row."""
    cells = {}
    for edges, *results in zip(EDGES, *rows.values(), strict=False):
        cells[f"{edges:,}"] = [large(result) for result in results]
    return cells


def peers(rows: Rows) -> dict[str, list[str]]:
    """List the rows of each peer's library, by its name and version."""
    rows_of = defaultdict(list)
    for name, row in rows.items():
        if name.startswith(PEERS):
            library = row.get("version", name.removesuffix(KEPT))
            rows_of[library].append(name)
    return rows_of


def ratio(rows: Rows, row: str, threads: str, base: str = REFERENCE) -> float:
    """Compute how many times as long as `base` a row takes.

    It is the median over the turns that both were measured in.
    """
    theirs, own = rows[row]["seconds"][threads], rows[base]["seconds"][threads]
    pairs = zip(theirs, own, strict=False)
    return statistics.median(a / b for a, b in pairs)


def median(row: dict[str, Any], threads: str) -> float:
    """Give the median seconds of a row's turns."""
    return statistics.median(row["seconds"][threads])


def fastest(rows: Rows, threads: str, names: list[str]) -> str:
    """Give the least ratio of a peer's settings to the fastest of our GAT's."""
    own = min("GAT", REFERENCE, key=lambda name: median(rows[name], threads))
    timed = [name for name in names if "seconds" in rows[name]]
    ratios = {name: ratio(rows, name, threads, own) for name in timed}
    if not ratios:
        return "not run"
    best = min(ratios, key=ratios.get)
    _, _, setting = best.partition(", ")
    return f"{ratios[best]:.1f} ({setting or 'as it is'})"


def cell(rows: Rows, row: str, threads: str) -> str:
    if "seconds" not in rows[row]:
        return f"not run: {rows[row]['failure']}"
    milliseconds = 1000 * median(rows[row], threads)
    return f"{milliseconds:.1f} ({ratio(rows, row, threads):.2f})"


def large(result: dict[str, Any]) -> str:
    if "failure" in result:
        return result["failure"]
    return f"{result['seconds']['2']:.1f} s, {result['peak_gib']:.1f} GiB"


def in_words(row: dict[str, Any]) -> str:
    """Say how large a row's graph is, and how many turns were taken."""
    graph, turns = row["graph"], len(row["seconds"]["1"])
    size = f"{graph['nodes']:,} nodes, {graph['edges']:,} directed edges"
    return f"{size}, {graph['features']} features, {turns} turns"


# ----------------------------------------------------------------------------- on a GPU


def on_a_gpu(folder: Path) -> str:
    """Write the part on a GPU, as Markdown: the fastest setting on each graph."""
    run = files.read_json(folder / "gpu.json")
    graphs = {GRAPHS[name]: result for name, result in run["graphs"].items()}
    versions = [f"{name} {version}" for name, version in run["versions"].items()]
    lines = [f"{run['card']}; {', '.join(versions)}."]
    lines += [f"{name}: {size_of(result)}." for name, result in graphs.items()]
    lines.append("")
    lines += table("fastest setting", list(graphs), fastest_settings(graphs))
    return "\n".join(lines)


GRAPHS = {
    "recidivism": "Recidivism's size",
    "million": "a million nodes",
    "hub": "with a hub",
}


def size_of(result: dict[str, Any]) -> str:
    size = result["size"]
    text = f"{size['nodes']:,} nodes, {size['edges']:,} directed edges"
    if size["hub"]:
        text += f", a node with {size['hub']:,} of them"
    return f"{text}, {size['features']} features"


def fastest_settings(graphs: dict[str, dict]) -> dict[str, list[str]]:
    """Give each library its fastest setting on each graph, by type."""
    rows = defaultdict(list)
    for dtype in ("float32", "bfloat16"):
        for result in graphs.values():
            of_type = [each for each in result["measured"] if each["type"] == dtype]
            timed = [each for each in of_type if "ms" in each]
            gat = fastest_of(timed, "GAT")
            rows[f"GAT, {dtype}"].append(shown(gat))
            rows[f"FairGAT, {dtype}"].append(shown(fastest_of(timed, "FairGAT")))
            rows[f"PyTorch Geometric, {dtype}"].append(peer_beside(gat, timed))
    return rows


def fastest_of(timed: list[dict[str, Any]], row: str) -> dict[str, Any]:
    """Find the fastest setting of a row."""
    of_row = [each for each in timed if each["row"] == row]
    return min(of_row, key=itemgetter("ms"))


def peer_beside(gat: dict[str, Any], timed: list[dict[str, Any]]) -> str:
    """Give PyTorch Geometric's fastest setting, if it was run in all ways.

    With how many times as long as our GAT's it takes.
    """
    theirs = [each for each in timed if each["row"].startswith("PyG")]
    ways = {each["way"] for each in timed}
    if ways != {each["way"] for each in theirs}:
        return "not run in all ways"
    best = min(theirs, key=itemgetter("ms"))
    return f"{best['ms'] / gat['ms']:.1f} times GAT: {shown(best)}"


def shown(measured: dict[str, Any]) -> str:
    return f"{measured['ms']:.2f} ms, {measured['peak_gb']:.1f} GB ({measured['way']})"


def write(page: Path = PAGE, folder: Path = HERE / "measured") -> None:
    """Put the measured parts between the page's marks."""
    text = page.read_text(encoding="utf-8")
    for (begin, end), make in ((MARKS, measured), (GPU_MARKS, on_a_gpu)):
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([before + begin, make(folder), end + after])
    files.write_text(page, text)


if __name__ == "__main__":
    write()
