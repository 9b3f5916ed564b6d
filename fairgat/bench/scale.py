"""Measure time and memory of one epoch as a generated graph grows to 20 million directed edges."""

from functools import partial
from typing import Any

import numpy as np

from fairgat import environment
from fairgat.bench.networks import FAIRGAT, PYG, Training
from fairgat.bench.worker import Worker
from fairgat.data.graph import Graph

NETWORKS = (FAIRGAT, PYG)
COUNTED = 3.0  # seconds of epochs, at least one


def measure(
    nodes: int, edges: list[int], features: int, hidden: int, threads: int, limit_gib: float, seed: int = 0
) -> dict[str, Any]:
    """Measure all that `fairgat bench scale` shows; a network that fails or needs too much memory stops there.

    `edges` are numbers of directed edges, ascending; `limit_gib` is the memory that one process may take.
    """
    rows = []
    for name in NETWORKS:
        for count in edges:
            row = {"network": name, "edges": count}
            generate = partial(random_graph, nodes, count, features, seed)
            try:
                with Worker(Training, name, generate, hidden, threads, limit_gib=limit_gib) as worker:
                    rows.append(row | {"seconds": worker.call("epoch", COUNTED)} | worker.call("facts"))
            except MemoryError:
                rows.append(row | {"failure": f"needs more than {limit_gib:g} GiB"})
                break
            except ImportError as error:  # what was measured is kept
                rows.append(row | {"failure": str(error)})
                break
    return {
        "nodes": nodes,
        "features": features,
        "hidden": hidden,
        "threads": threads,
        "rows": rows,
        "lines": {name: line([row for row in rows if row["network"] == name]) for name in NETWORKS},
        "machine": environment.machine(),
    }


def random_graph(nodes: int, edges: int, features: int, seed: int = 0) -> Graph:
    """Generate about `edges` directed edges, both directions of each, between nodes of near numbers and two groups."""
    rng = np.random.default_rng(seed)
    source = rng.integers(nodes, size=edges // 2)
    target = (source + rng.geometric(1 / 1000, size=edges // 2)) % nodes
    source, target = source[source != target], target[source != target]
    codes = np.unique(np.concatenate([source * nodes + target, target * nodes + source]))
    return Graph(
        features=rng.standard_normal((nodes, features), dtype=np.float32),
        labels=rng.integers(2, size=nodes),
        sensitive=rng.integers(2, size=nodes),
        edge_index=np.stack([codes // nodes, codes % nodes]),
    )


def line(rows: list[dict[str, Any]]) -> tuple[float, float] | None:
    """Fit the seconds that the nodes take and the seconds per edge; None for fewer than two measured sizes."""
    measured = [(row["edges"], row["seconds"]) for row in rows if "seconds" in row]
    if len({edges for edges, _ in measured}) < 2:
        return None
    slope, constant = np.polyfit(*zip(*measured, strict=True), 1)
    return float(constant), float(slope)


def table(result: dict[str, Any]) -> list[str]:
    """Format the result as Markdown, which also reads well on a terminal."""
    lines = [
        f"One training epoch on {result['nodes']:,} nodes, {result['features']} features, {result['hidden']} hidden, "
        f"{result['threads']} threads.",
        "",
        "| network | directed edges | seconds | peak memory of the process (GiB) |",
        "|:--|--:|--:|--:|",
    ]
    for row in result["rows"]:
        shown = f"{row['failure']} |" if "failure" in row else f"{row['seconds']:.2f} | {row['peak_gib']:.2f}"
        lines.append(f"| {row['network']} | {row['edges']:,} | {shown} |")
    lines.append("")
    for name, fitted in result["lines"].items():
        if fitted:
            nodes, edge = fitted
            lines.append(f"{name}: on a line, {nodes:.2f} s for the nodes and {1e6 * edge:.3f} s per million edges.")
    return lines
