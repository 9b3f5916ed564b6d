"""Time and memory of one epoch as a generated graph grows to 20 million directed edges."""

import time
from typing import Any

import numpy as np

from fairgat import environment
from fairgat.bench import isolated
from fairgat.bench.networks import epoch, use_threads
from fairgat.data.graph import Graph
from fairgat.training import memory

NETWORKS = ("FairGAT", "PyG GAT, eager")


def measure(
    nodes: int, edges: list[int], features: int, hidden: int, threads: int, limit_gib: float, seed: int = 0
) -> dict[str, Any]:
    """All figures of `fairgat bench scale`; a network that needs more than `limit_gib`, or fails, is out from there on.

    Args:
        nodes: N of every graph.
        edges: numbers of directed edges, ascending.
        features, hidden: widths.
        threads: CPU threads.
        limit_gib: memory that one process may take.
    """
    rows = []
    for name in NETWORKS:
        for count in edges:
            row = {"network": name, "edges": count}
            try:
                row |= isolated.run(_one, name, nodes, count, features, hidden, threads, seed, limit_gib=limit_gib)
            except MemoryError:
                rows.append(row | {"failure": f"needs more than {limit_gib:g} GiB"})
                break
            except RuntimeError as error:
                if name == NETWORKS[0]:
                    raise
                # torch_geometric is not installed: what was measured is kept
                rows.append(row | {"failure": str(error).partition("\n")[0]})
                break
            rows.append(row)
    return {
        "nodes": nodes,
        "features": features,
        "hidden": hidden,
        "threads": threads,
        "rows": rows,
        "exponents": {name: exponent([row for row in rows if row["network"] == name]) for name in NETWORKS},
        "lines": {name: per_edge([row for row in rows if row["network"] == name]) for name in NETWORKS},
        "machine": environment.machine(),
    }


def exponent(rows: list[dict[str, Any]]) -> float | None:
    """Slope of log time over log edges by least squares; None for fewer than two measured sizes."""
    measured = _measured(rows)
    return None if len(measured) < 2 else float(np.polyfit(*np.log(measured).T, 1)[0])


def per_edge(rows: list[dict[str, Any]]) -> tuple[float, float] | None:
    """Seconds that the nodes take and seconds per edge, by least squares; None for fewer than two measured sizes."""
    measured = _measured(rows)
    if len(measured) < 2:
        return None
    slope, constant = np.polyfit(*measured.T, 1)
    return float(constant), float(slope)


def _measured(rows: list[dict[str, Any]]) -> np.ndarray:
    """(n, 2) edges and seconds of the rows that were measured, on a graph with edges."""
    return np.array([(row["edges"], row["seconds"]) for row in rows if "seconds" in row and row["edges"]])


def random_graph(nodes: int, edges: int, features: int, seed: int) -> Graph:
    """About `edges` directed edges (both directions of each), neighbours near in the numbering, two random groups."""
    rng = np.random.default_rng(seed)
    source = rng.integers(nodes, size=edges // 2)
    target = (source + rng.geometric(1 / 1000, size=edges // 2)) % nodes
    source, target = source[source != target], target[source != target]
    codes = np.unique(np.concatenate([source * nodes + target, target * nodes + source]))
    edge_index = np.stack([codes // nodes, codes % nodes])
    return Graph(
        features=rng.standard_normal((nodes, features), dtype=np.float32),
        labels=rng.integers(2, size=nodes),
        sensitive=rng.integers(2, size=nodes),
        edge_index=edge_index,
    )


def _one(name, nodes, edges, features, hidden, threads, seed) -> dict[str, Any]:
    use_threads(name, threads)
    memory.keep_freed()
    graph = random_graph(nodes, edges, features, seed)
    run = epoch(name, graph, hidden)
    run()  # compiles the kernels, fills the caches
    started = time.perf_counter()
    run()
    return {"edges": graph.num_edges, "seconds": time.perf_counter() - started, "memory_gib": isolated.peak_gib()}
