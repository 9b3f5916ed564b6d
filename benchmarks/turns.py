"""Time the layers beside their peers, by a process for each measurement.

The networks take turns.

    python benchmarks/turns.py recidivism    both settings of memory, 1 and 2 threads
    python benchmarks/turns.py small         the same on 6,000 nodes
    python benchmarks/turns.py growth        1,000,000 nodes, up to 20 million edges

Each writes benchmarks/measured/*.json, which `page.py` turns into docs/performance.md.
Run nothing else on the machine.
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
ROWS = []
for name in (*OURS, *PEERS):
    # Steps are compared as the workflow trains them, with memory kept; both settings
    # are for what others have, too.
    if name in ("GAT", "FairGAT", *PEERS):
        ROWS.append(name)
    ROWS.append(name + KEPT)
EDGES = [1_000_000 * count for count in (1, 2, 5, 10, 20)]
LIMIT_GIB = 16  # a process of `growth`


def measure(
    row: str,
    graph: str,
    *options: str,
    code: str | None = None,
    limit_gib: int | None = None,
) -> dict:
    """Measure a row in a process of its own.

    Args:
        row: of ROWS.
        graph: as `epoch.load` has it.
        options: of epoch.py.
        code: a checkout whose layers are timed in place of these.
        limit_gib: memory that the process may take.

    Returns:
        The result of `epoch.measure`, or why there is none: `failure`, in a line.
    """

    def limit() -> None:
        if limit_gib:
            size = limit_gib * 2**30
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    environ = {}
    for name, value in os.environ.items():
        if not name.startswith("MALLOC_"):
            environ[name] = value
    if row.endswith(KEPT):
        environ |= KEEPING
    if code:
        environ["PYTHONPATH"] = code
    network = row.removesuffix(KEPT)
    command = [sys.executable, str(HERE / "epoch.py"), network, graph, *options]
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, preexec_fn=limit
    )
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"failure": failure(done, limit_gib)}


def failure(done: subprocess.CompletedProcess, limit_gib: int | None) -> str:
    """Say why a process ended, in a line."""
    no_memory = "allocate memory" in done.stderr or "MemoryError" in done.stderr
    if limit_gib and (no_memory or done.returncode < 0):
        return f"needs more than {limit_gib} GiB"
    errors = [line for line in done.stderr.splitlines() if ": " in line]
    if not errors:
        return f"exit {done.returncode}"
    return errors[-1]


def take_turns(
    rows: Iterable[str], turns: int, one: Callable[[str], dict[str, Any]]
) -> Iterator[dict[str, dict]]:
    """Measure all rows `turns` times by `one`; a row that fails is out.

    `seconds` become a list for each number of threads. Yields everything that is known
    after each measurement, so that a benchmark can be interrupted.
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
                for threads, value in result["seconds"].items():
                    result["seconds"][threads] = [*earlier.get(threads, []), value]
            measured[row] = result
            text = result.get("failure") or result["seconds"]
            print(f"turn {turn + 1}: {row}: {text}", flush=True)
            yield measured


def grow() -> Iterator[dict[str, list[dict]]]:
    """Measure time and memory at each number of edges.

    Yields everything that is known after each measurement.
    """
    rows: dict[str, list[dict]] = {"FairGAT": [], "FairGAT" + KEPT: [], "PyG": []}
    options = ["--threads", "2", "--hidden", "64", "--fewest", "1"]
    for edges in EDGES:
        graph = f"1000000,{edges},64"
        for row, results in rows.items():
            result = measure(row, graph, *options, limit_gib=LIMIT_GIB)
            results.append(result)
            print(f"{edges:,} edges: {row}: {result}", flush=True)
            yield rows


def compared(given: argparse.Namespace) -> Iterator[dict[str, dict]]:
    """Let the rows take turns, with `--against` also those of another checkout."""
    graph = "6000,30000,60"
    if given.graph == "recidivism":
        settings = config.load_files("config.yaml")
        path = make_graph(settings, "recidivism", "by-hand", given.data_mirror)
        graph = str(path)
    mark = f" at {given.against}"
    rows = []
    for row in given.rows:
        rows.append(row)
        if given.against and not row.startswith(PEERS):
            rows.append(row + mark)

    def one(row: str) -> dict[str, Any]:
        code = given.against if row.endswith(mark) else None
        name = row.removesuffix(mark)
        return measure(name, graph, "--threads", "1", "2", code=code)

    return take_turns(rows, given.turns, one)


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
    path = given.output or HERE / "measured" / f"{given.graph}.json"
    machine = environment.machine()
    measured = grow() if given.graph == "growth" else compared(given)
    for rows in measured:
        files.write_json(path, {"machine": machine, "rows": rows})


if __name__ == "__main__":
    main()
