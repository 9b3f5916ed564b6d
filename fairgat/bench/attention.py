"""Measure time and memory of a training epoch on one graph, beside PyTorch Geometric and DGL.

Each network has a process of its own. The networks take turns, so that a machine that slows down slows all of them. A
turn counts with the median of its epochs, a network with the median of its turns, a ratio with the median of the ratios
within a turn.
"""

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from fairgat import environment
from fairgat.bench.networks import DGL, GAT, OURS, PEERS, PYG, Training
from fairgat.bench.scale import random_graph
from fairgat.bench.worker import Worker
from fairgat.data.graph import Graph

TURN = 0.5  # seconds of counted epochs; a peer's epoch may take longer than that, and is then the only one
FORWARD = {"forward_seconds": False, "new_forward_seconds": True}  # with a new edge_index at every call
SMALL = {"nodes": 6_000, "edges": 30_000, "features": 60}  # about pokec-n's


def measure(graph_file: str | Path, hidden: int, threads: Sequence[int], pairs: int) -> dict[str, Any]:
    """Measure all that `fairgat bench attention` shows.

    Args:
        hidden: width of both layers.
        threads: numbers of CPU threads to measure with.
        pairs: turns of each network.

    Raises:
        MemoryError: our own networks need more than there is; a peer that cannot run has a `failure` in its row.
    """
    graph = Graph.load(graph_file)
    load, generate = partial(Graph.load, graph_file), partial(random_graph, **SMALL)
    # The small graph comes first: memory on the large one is then without what Numba takes to compile the kernels once.
    small_rows = [row for count in threads for row in _take_turns(OURS, generate, hidden, count, pairs)]
    return {
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features},
        "small": SMALL,
        "hidden": hidden,
        "pairs": pairs,
        "rows": [row for count in threads for row in _take_turns(OURS + PEERS, load, hidden, count, pairs)],
        "small_rows": small_rows,
        "machine": environment.machine(),
    }


def _take_turns(
    names: Sequence[str], make_graph: Callable[[], Graph], hidden: int, threads: int, pairs: int
) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {name: {"network": name, "threads": threads} for name in names}
    workers: dict[str, Worker] = {}
    with ExitStack() as stack:
        for name in names:
            try:
                worker = stack.enter_context(Worker(Training, name, make_graph, hidden, threads))
                worker.call("epoch", 0)  # compiles the kernels, fills the caches
                rows[name] |= worker.call("facts") | {kind: [] for kind in ("seconds", *FORWARD)}
                workers[name] = worker
            except Exception as error:  # not installed, not enough memory, or not for this PyTorch
                if name in OURS:
                    raise
                rows[name]["failure"] = f"{type(error).__name__}: {error}".partition("\n")[0]
        for _ in range(pairs):
            for name, worker in workers.items():
                rows[name]["seconds"].append(worker.call("epoch", TURN))
                for kind, new in FORWARD.items() if name in OURS else ():
                    rows[name][kind].append(worker.call("forward", TURN / 5, new))
    for name in workers:
        seconds = rows[name]["seconds"]
        rows[name]["milliseconds"] = 1000 * statistics.median(seconds)
        rows[name]["times"] = {  # another's time over this one's
            other: statistics.median(theirs / own for theirs, own in zip(rows[other]["seconds"], seconds, strict=True))
            for other in workers
        }
    return list(rows.values())


def table(result: dict[str, Any]) -> list[str]:
    """Format the result as Markdown, which also reads well on a terminal."""
    small = {(row["network"], row["threads"]): row for row in result["small_rows"]}
    lines = [
        f"One training epoch, two layers of {result['hidden']} and a linear layer, {_size(result['graph'])};",
        f"medians of {result['pairs']} turns. The smaller graph is generated: {_size(result['small'])}.",
        "",
        "| network | threads | ms/epoch | faster than PyG eager | faster than DGL "
        "| time / GAT's | on the smaller graph | memory (GiB) | forward (ms) | new `edge_index` / same |",
        "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in result["rows"]:
        cells = [row["network"], str(row["threads"])]
        if "failure" in row:
            cells += [f"not run: {row['failure']}", *[""] * 7]
        else:
            cells += [f"{row['milliseconds']:.1f}", _ratio(row, PYG), _ratio(row, DGL), f"{1 / row['times'][GAT]:.2f}"]
            if row["network"] in OURS:
                own = small[row["network"], row["threads"]]
                same, new = (statistics.median(row[kind]) for kind in FORWARD)
                ours = [f"{1 / own['times'][GAT]:.2f}", f"{1000 * same:.1f}", f"{new / same:.2f}"]
            else:
                ours = ["–"] * 3
            cells += [ours[0], f"{row['memory_gib']:.2f}", *ours[1:]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _size(graph: dict[str, int]) -> str:
    return f"{graph['nodes']:,} nodes, {graph['edges']:,} directed edges, {graph['features']} features"


def _ratio(row: dict[str, Any], peer: str) -> str:
    return f"{row['times'][peer]:.1f}" if peer in row["times"] else "–"
