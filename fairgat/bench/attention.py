"""Time and memory of one training epoch beside PyTorch Geometric's GATConv, on one graph, in one run.

Our networks and PyTorch Geometric's eager one take turns, so that a machine that slows down slows all of them; in a
turn a network runs two epochs and the second counts. Ours, of which some forty fit into a peer's, do so `ROUNDS` times
alternately, and the median counts. Times are given in epochs of our GAT, as the median over the turns of the ratio
within a turn, and speed-ups are quotients of these. The turns are shared out among `PROCESSES` processes: where a
process's arrays lie in memory was seen to make one 8 % faster than the next. Any other peer takes turns with our GAT in
processes of its own: after torch.compile had run, eager epochs beside it were seen to take twice their time.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from fairgat import environment
from fairgat.bench import isolated
from fairgat.bench.networks import OURS, PEERS, epoch, use_threads
from fairgat.data.graph import Graph
from fairgat.nn import bandwidth_order
from fairgat.training import memory

GAT, EAGER = OURS[0], PEERS[0]
PROCESSES, ROUNDS = 3, 5


def measure(
    graph_file: str | Path,
    hidden: int,
    threads: list[int],
    pairs: int,
    peers: Sequence[str] = PEERS,
    warmup: int = 2,
) -> dict[str, Any]:
    """All figures of `fairgat bench attention`.

    Args:
        graph_file: a graph's `.npz`; its nodes are renumbered for all networks alike.
        hidden: width of both layers.
        threads: numbers of CPU threads to measure with.
        pairs: turns that count.
        peers: what to compare with; `EAGER` is always among them.
        warmup: turns before them, in each process.

    Raises:
        MemoryError: there is not enough for our own networks; a peer for which there is not has a `failure`.
    """
    graph = Graph.load(graph_file)
    rows = []
    for count in threads:
        measured = _beside(graph_file, OURS, EAGER, hidden, count, pairs, warmup)
        for peer in peers:
            if peer != EAGER:
                measured += _beside(graph_file, [GAT], peer, hidden, count, pairs, warmup)[1:]
        eager = next((row["times GAT"] for row in measured if row["network"] == EAGER and "times GAT" in row), None)
        for row in measured:
            if "times GAT" in row:
                row["speed-up"] = eager / row["times GAT"] if eager else None
                row["memory_gib"] = isolated.run(_memory, str(graph_file), row["network"], hidden, count)
        rows += measured
    copy_rate = {str(count): isolated.run(_copy_rate, count) for count in threads}
    moved = bytes_moved(graph.num_nodes, graph.num_edges + graph.num_nodes, graph.num_features, hidden)
    for row in rows:
        if row["network"] == GAT:
            row["bandwidth_share"] = moved / (copy_rate[str(row["threads"])] * row["milliseconds"] / 1000)
    return {
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features},
        "hidden": hidden,
        "pairs": pairs,
        "rows": rows,
        "bytes_moved": moved,
        "copy_bytes_per_second": copy_rate,
        "machine": environment.machine(),
    }


def _beside(
    graph_file: str | Path, ours: Sequence[str], peer: str, hidden: int, threads: int, pairs: int, warmup: int
) -> list[dict[str, Any]]:
    """The rows of our networks and of a peer, taking turns; without it where there is not enough memory for it."""
    try:
        return _relative(graph_file, [*ours, peer], hidden, threads, pairs, warmup)
    except MemoryError as error:
        failed = {"network": peer, "threads": threads, "failure": f"not enough memory ({error})"}
        return [*_relative(graph_file, [*ours], hidden, threads, pairs, warmup), failed]


def _relative(
    graph_file: str | Path, networks: list[str], hidden: int, threads: int, pairs: int, warmup: int
) -> list[dict[str, Any]]:
    """One row per network, the epochs of all taking turns in each process; a network that fails says why."""
    taken: dict[str, list[float]] = {name: [] for name in networks}
    failures: dict[str, str] = {}
    for process in range(min(PROCESSES, pairs)):
        turns = len(range(process, pairs, PROCESSES))
        timed = isolated.run(_times, str(graph_file), networks, hidden, threads, turns, warmup)
        failures |= timed["failures"]
        for name, seconds in timed["seconds"].items():
            taken[name] += seconds
    rows = []
    for name, seconds in taken.items():
        row = {"network": name, "threads": threads}
        failure = failures.get(name) or failures.get(GAT)
        if failure:
            rows.append(row | {"failure": failure})
            continue
        relative = _ratio(seconds, taken[GAT])
        rows.append(
            row | {"milliseconds": 1000 * statistics.median(seconds), "times GAT": relative, "seconds": seconds}
        )
    return rows


def bytes_moved(nodes: int, edges: int, features: int, hidden: int) -> int:
    """Bytes that one GAT epoch reads and writes at the least, each gathered row counted every time it is gathered.

    Layer 1 aggregates `features` columns, layer 2 `hidden`, each once forward and once backward; attention weights and
    indices pass four times; and about 14 passes of (N, hidden) go to matrix products, bias and ReLU. Caches make the
    true traffic to memory smaller.
    """
    gathered = 2 * edges * (features + hidden)
    per_edge = 2 * 4 * 2 * edges
    dense = 14 * nodes * hidden
    return 4 * (gathered + per_edge + dense)


def _times(graph_file: str, networks: list[str], hidden: int, threads: int, pairs: int, warmup: int) -> dict[str, Any]:
    memory.keep_freed()  # as training does; PyTorch Geometric's arrays of E x F are too large to profit
    graph = Graph.load(graph_file)
    graph = graph.permute(bandwidth_order(graph.edge_index, graph.num_nodes))
    epochs, failures = {}, {}
    for name in networks:
        try:
            use_threads(name, threads)
            run = epoch(name, graph, hidden)
            for _ in range(warmup):
                run()
            epochs[name] = run
        except Exception as error:  # torch.compile without a compiler, torch_geometric not installed
            failures[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    seconds: dict[str, list[float]] = {name: [] for name in epochs}
    for _ in range(pairs):
        rounds: dict[str, list[float]] = {name: [] for name in epochs}
        for k in range(ROUNDS):
            for name, run in epochs.items():
                if k == 0 or name in OURS:
                    use_threads(name, threads)
                    run()  # in training an epoch follows one of its own, whose arrays the caches hold
                    started = time.perf_counter()
                    run()
                    rounds[name].append(time.perf_counter() - started)
        for name, each in rounds.items():
            seconds[name].append(statistics.median(each))
    return {"seconds": seconds, "failures": failures}


def _memory(graph_file: str, name: str, hidden: int, threads: int) -> float:
    """Peak memory of two epochs in GiB, less what the process held before the first."""
    use_threads(name, threads)
    memory.keep_freed()
    graph = Graph.load(graph_file)
    graph = graph.permute(bandwidth_order(graph.edge_index, graph.num_nodes))
    run = epoch(name, graph, hidden)
    before = isolated.peak_gib()
    run()
    run()
    return isolated.peak_gib() - before


def _copy_rate(threads: int) -> float:
    """Bytes read and written per second by a copy far larger than the caches."""
    torch.set_num_threads(threads)
    source = torch.ones(1 << 26)
    target = torch.empty_like(source)
    seconds = []
    for _ in range(7):
        started = time.perf_counter()
        target.copy_(source)
        seconds.append(time.perf_counter() - started)
    return 2 * source.nbytes / statistics.median(seconds)


def _ratio(above: list[float], below: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(above, below, strict=True))
