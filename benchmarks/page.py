"""Write the measured parts of docs/performance.md from benchmarks/measured/*.json."""

import statistics
from pathlib import Path
from typing import Any

from epoch import PEERS
from turns import EDGES, HERE, KEPT

from fairgat import files

PAGE = HERE.parent / "docs" / "performance.md"
MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"
GPU_MARKS = "<!-- gpu: begin -->", "<!-- gpu: end -->"
REFERENCE = "GAT" + KEPT
Rows = dict[str, dict[str, Any]]


def measured(folder: Path) -> str:
    """The part between the marks, as Markdown."""
    graphs = {
        name: files.read_json(folder / f"{name}.json")
        for name in ("recidivism", "small")
    }
    growth = files.read_json(folder / "growth.json")
    machine = graphs["recidivism"]["machine"]
    rows = [result["rows"] for result in graphs.values()]
    ours = rows[0]["GAT"]
    sizes = {name: in_words(result["rows"]["GAT"]) for name, result in graphs.items()}
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; {machine['system']}; "
        f"Python {machine['python']}, PyTorch {machine['torch']}, {ours['version']}.",
        f"Recidivism: {sizes['recidivism']}. The generated graph: {sizes['small']}.",
        "",
        "## The fastest setting of each library",
        "",
        *header("times as long as our GAT"),
        *(
            line(library, [fastest(each, n, names) for each, n in columns(rows)])
            for library, names in peers(rows[0])
        ),
        "",
        "## Settings",
        "",
        *header("milliseconds per epoch (ratio to the row GAT, memory kept)"),
        *(
            line(row, [cell(each, row, n) for each, n in columns(rows)])
            for row in rows[0]
            if not row.startswith(PEERS)
        ),
        "",
        "## A million nodes",
        "",
        "Seconds per epoch, and the peak memory of the process in GiB; 64 features, width 64, two threads.",
        "",
        line("directed edges", list(growth["rows"])),
        line(":--", ["--:"] * len(growth["rows"])),
        *(
            line(f"{edges:,}", [*map(large, each)])
            for edges, *each in zip(EDGES, *growth["rows"].values(), strict=False)
        ),
    ]
    return "\n".join(lines)


def header(first: str) -> list[str]:
    names = [
        f"{graph}, {threads}"
        for graph in ("Recidivism", "6,000 nodes")
        for threads in ("1 thread", "2 threads")
    ]
    return [line(first, names), line(":--", ["--:"] * len(names))]


def line(first: str, cells: list[str]) -> str:
    return f"| {' | '.join([first, *cells])} |"


def columns(rows: list[Rows]) -> list[tuple[Rows, str]]:
    return [(each, threads) for each in rows for threads in ("1", "2")]


def peers(rows: Rows) -> list[tuple[str, list[str]]]:
    """Each peer's library with its version, and its rows."""
    of: dict[str, list[str]] = {}
    for name in (name for name in rows if name.startswith(PEERS)):
        of.setdefault(rows[name].get("version", name.removesuffix(KEPT)), []).append(
            name
        )
    return list(of.items())


def ratio(rows: Rows, row: str, threads: str, base: str = REFERENCE) -> float:
    """How many times as long as `base` a row takes: the median over the turns that both were measured in."""
    pairs = zip(
        rows[row]["seconds"][threads], rows[base]["seconds"][threads], strict=False
    )
    return statistics.median(theirs / own for theirs, own in pairs)


def fastest(rows: Rows, threads: str, names: list[str]) -> str:
    """The least ratio of a peer's settings to the fastest of our GAT's."""
    own = min(
        ("GAT", REFERENCE),
        key=lambda row: statistics.median(rows[row]["seconds"][threads]),
    )
    timed = {
        name: ratio(rows, name, threads, own)
        for name in names
        if "seconds" in rows[name]
    }
    if not timed:
        return "not run"
    best = min(timed, key=timed.get)
    return f"{timed[best]:.1f} ({best.partition(', ')[2] or 'as it is'})"


def cell(rows: Rows, row: str, threads: str) -> str:
    if "seconds" not in rows[row]:
        return f"not run: {rows[row]['failure']}"
    return f"{1000 * statistics.median(rows[row]['seconds'][threads]):.1f} ({ratio(rows, row, threads):.2f})"


def large(result: dict[str, Any]) -> str:
    return (
        result.get("failure")
        or f"{result['seconds']['2']:.1f} s, {result['peak_gib']:.1f} GiB"
    )


def in_words(row: dict[str, Any]) -> str:
    graph, turns = row["graph"], len(row["seconds"]["1"])
    size = f"{graph['nodes']:,} nodes, {graph['edges']:,} directed edges, {graph['features']} features"
    return f"{size}, {turns} turns"


# ------------------------------------------------------------------------------------------------------ on a GPU


def on_a_gpu(folder: Path) -> str:
    """The part on a GPU, as Markdown: the fastest setting on each graph."""
    run = files.read_json(folder / "gpu.json")
    graphs = {GRAPHS[name]: result for name, result in run["graphs"].items()}
    versions = ", ".join(
        f"{name} {version}" for name, version in run["versions"].items()
    )
    lines = [
        f"{run['card']}; {versions}.",
        *(f"{name}: {size_of(result)}." for name, result in graphs.items()),
        "",
    ]
    lines += table("fastest setting", list(graphs), fastest_settings(graphs))
    return "\n".join(lines)


GRAPHS = {
    "recidivism": "Recidivism's size",
    "million": "a million nodes",
    "hub": "with a hub",
}


def size_of(result: dict[str, Any]) -> str:
    size = result["size"]
    hub = f", a node with {size['hub']:,} of them" if size["hub"] else ""
    return f"{size['nodes']:,} nodes, {size['edges']:,} directed edges{hub}, {size['features']} features"


def table(first: str, columns: list[str], rows: dict[str, list[str]]) -> list[str]:
    body = [line(name, cells) for name, cells in rows.items()]
    return [line(first, columns), line(":--", ["--:"] * len(columns)), *body]


def fastest_settings(graphs: dict[str, dict]) -> dict[str, list[str]]:
    """Each library's best arm on each graph, by type, and how many times as long PyTorch Geometric's takes."""
    rows: dict[str, list[str]] = {}
    for dtype in ("float32", "bfloat16"):
        for result in graphs.values():
            timed = [
                each
                for each in result["measured"]
                if each["type"] == dtype and "ms" in each
            ]
            own = min(
                (each for each in timed if each["row"] == "GAT"), key=milliseconds
            )
            fair = min(
                (each for each in timed if each["row"] == "FairGAT"), key=milliseconds
            )
            rows.setdefault(f"GAT, {dtype}", []).append(best(own))
            rows.setdefault(f"FairGAT, {dtype}", []).append(best(fair))
            rows.setdefault(f"PyTorch Geometric, {dtype}", []).append(
                peer_beside(own, timed)
            )
    return rows


def peer_beside(own: dict[str, Any], timed: list[dict[str, Any]]) -> str:
    """PyTorch Geometric's best arm and how many times as long it takes, where it was run in all ways."""
    theirs = [each for each in timed if each["row"].startswith("PyG")]
    if {each["way"] for each in timed} - {each["way"] for each in theirs}:
        return "not run in all ways"
    best_of_theirs = min(theirs, key=milliseconds)
    return f"{best_of_theirs['ms'] / own['ms']:.1f} times GAT: {best(best_of_theirs)}"


def milliseconds(measured: dict[str, Any]) -> float:
    return measured["ms"]


def best(measured: dict[str, Any]) -> str:
    return f"{measured['ms']:.2f} ms, {measured['peak_gb']:.1f} GB ({measured['way']})"


def write(page: Path = PAGE, folder: Path = HERE / "measured") -> None:
    """Put the measured parts between the page's marks."""
    text = page.read_text(encoding="utf-8")
    for (begin, end), make in ((MARKS, measured), (GPU_MARKS, on_a_gpu)):
        before, _, rest = text.partition(begin)
        text = "\n".join([before + begin, make(folder), end + rest.partition(end)[2]])
    files.write_text(page, text)


if __name__ == "__main__":
    write()
