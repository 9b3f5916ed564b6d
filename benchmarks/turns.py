"""Time the layers beside their peers: one process for each measurement, the networks taking turns.

    python benchmarks/turns.py recidivism    two settings of memory, one and two threads; `small`: on 6,000 nodes
    python benchmarks/turns.py growth        time and memory on 1,000,000 nodes, up to 20 million edges

Each writes benchmarks/measured/*.json, which `page.py` turns into docs/performance.md. Run nothing else on the machine.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from epoch import OURS, PEERS

from fairgat import config, environment, files
from fairgat.cli.data import make_graph

HERE = Path(__file__).parent
KEPT = ", memory kept"
# What `fairgat.nn.keep_freed_memory()` asks of glibc, for any process.
KEEPING = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_TOP_PAD_": str(2**26),
}
# Steps are compared as the workflow trains them, with memory kept; both settings are for what others have, too.
ROWS = [
    name + kept
    for name in (*OURS, *PEERS)
    for kept in ("", KEPT)
    if kept or name in ("GAT", "FairGAT", *PEERS)
]
EDGES = [1_000_000 * count for count in (1, 2, 5, 10, 20)]
LIMIT_GIB = 16  # a process of `growth`


def measure(
    row: str,
    graph: str,
    *options: str,
    code: str | None = None,
    limit_gib: int | None = None,
) -> dict:
    """Start one process; the result of `epoch.measure`, or its `failure` in a line.

    Args:
        code: a checkout whose layers are timed in place of these.
        limit_gib: memory that the process may take.
    """

    def limit() -> None:
        if limit_gib:
            resource.setrlimit(resource.RLIMIT_DATA, (limit_gib * 2**30,) * 2)

    settings = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MALLOC_")
    }
    settings |= KEEPING if row.endswith(KEPT) else {}
    settings |= {"PYTHONPATH": code} if code else {}
    command = [
        sys.executable,
        str(HERE / "epoch.py"),
        row.removesuffix(KEPT),
        graph,
        *options,
    ]
    done = subprocess.run(
        command, env=settings, capture_output=True, text=True, preexec_fn=limit
    )
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"failure": failure(done, limit_gib)}


def failure(done: subprocess.CompletedProcess, limit_gib: int | None) -> str:
    """Why a process ended, in a line."""
    if limit_gib and (
        done.returncode < 0
        or "allocate memory" in done.stderr
        or "MemoryError" in done.stderr
    ):
        return f"needs more than {limit_gib} GiB"
    said = [line for line in done.stderr.splitlines() if ": " in line]
    return said[-1] if said else f"exit {done.returncode}"


def take_turns(
    rows: Iterable[str], turns: int, one: Callable[[str], dict[str, Any]]
) -> Iterator[dict[str, dict]]:
    """Measure all rows `turns` times; `seconds` become a list for each number of threads. A row that fails is out.

    Yields everything that is known after each measurement, so that a benchmark can be interrupted.
    """
    measured: dict[str, dict] = {}
    for turn in range(turns):
        for row in rows:
            so_far = measured.get(row, {})
            if "failure" in so_far:
                continue
            result = one(row)
            if "seconds" in result:
                earlier = so_far.get("seconds", {})
                result["seconds"] = {
                    n: [*earlier.get(n, []), value]
                    for n, value in result["seconds"].items()
                }
            measured[row] = result
            print(
                f"turn {turn + 1}: {row}: {result.get('failure') or result['seconds']}",
                flush=True,
            )
            yield measured


def grow() -> Iterator[dict[str, list[dict]]]:
    """Measure time and memory at each number of edges; yields everything that is known after each measurement."""
    rows: dict[str, list[dict]] = {"FairGAT": [], "FairGAT" + KEPT: [], "PyG": []}
    options = ["--threads", "2", "--hidden", "64", "--fewest", "1"]
    for edges in EDGES:
        for row, results in rows.items():
            results.append(
                measure(row, f"1000000,{edges},64", *options, limit_gib=LIMIT_GIB)
            )
            print(f"{edges:,} edges: {row}: {results[-1]}", flush=True)
            yield rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", choices=["recidivism", "small", "growth"])
    parser.add_argument(
        "--rows",
        nargs="+",
        default=ROWS,
        choices=ROWS,
        metavar="ROW",
        help=f"of: {'; '.join(ROWS)}",
    )
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--data-mirror", help="in place of the configuration's")
    parser.add_argument(
        "--against",
        metavar="CHECKOUT",
        help="time our rows with another commit's layers, too",
    )
    parser.add_argument(
        "--output", type=Path, help="in place of benchmarks/measured/GRAPH.json"
    )
    given = parser.parse_args()
    machine = {"machine": environment.machine()}
    if given.graph == "growth":
        measured = grow()
    else:
        graph = "6000,30000,60"
        if given.graph == "recidivism":
            graph = str(
                make_graph(
                    config.load_files("config.yaml"),
                    "recidivism",
                    "by-hand",
                    given.data_mirror,
                )
            )
        other = f" at {given.against}"
        rows = [
            row + mark
            for row in given.rows
            for mark in ("", other)
            if not mark or (given.against and not row.startswith(PEERS))
        ]

        def one(row: str) -> dict[str, Any]:
            code = given.against if row.endswith(other) else None
            return measure(
                row.removesuffix(other), graph, "--threads", "1", "2", code=code
            )

        measured = take_turns(rows, given.turns, one)
    for so_far in measured:
        files.write_json(
            given.output or HERE / "measured" / f"{given.graph}.json",
            machine | {"rows": so_far},
        )


if __name__ == "__main__":
    main()
