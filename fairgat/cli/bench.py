"""`fairgat bench`: the attention layers beside PyTorch Geometric's and DGL's, and how their cost grows."""

import argparse
import math
from pathlib import Path
from typing import Any

from fairgat import config, files
from fairgat.cli.graphs import make_graph
from fairgat.errors import FairGATError, nearest


def declare(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True)
    attention = kinds.add_parser("attention", help="one graph: time and memory of an epoch beside the peers'")
    attention.add_argument("--dataset", default="recidivism", help="whose graph (default: recidivism)")
    attention.add_argument("--hidden", type=int, default=128)
    attention.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    attention.add_argument("--pairs", type=int, default=9, help="turns of which the median counts (default: 9)")
    attention.add_argument("--config", nargs="+", default=["config.yaml"], metavar="FILE", help="configuration files")
    attention.add_argument("--results-dir", help="in place of the configuration's")
    attention.add_argument("--data-mirror", help="in place of the configuration's")
    attention.set_defaults(run=_attention)
    scale = kinds.add_parser("scale", help="a generated graph that grows: time and memory")
    scale.add_argument("--nodes", type=int, default=1_000_000)
    scale.add_argument("--edges", type=float, nargs="+", default=[1, 2, 5, 10, 20], help="millions of directed edges")
    scale.add_argument("--features", type=int, default=64)
    scale.add_argument("--hidden", type=int, default=64)
    scale.add_argument("--threads", type=int, default=2)
    scale.add_argument("--limit-gib", type=float, default=16, help="memory that a process may take (default: 16)")
    scale.set_defaults(run=_scale)
    for kind in (attention, scale):
        kind.add_argument("--output", type=Path, metavar="FILE", help="write everything here as JSON, too")


def _attention(arguments: argparse.Namespace) -> None:
    from fairgat.bench import attention

    if arguments.pairs < 1 or arguments.hidden < 1 or min(arguments.threads) < 1:
        raise FairGATError("--pairs, --hidden and --threads count from 1")
    _check_output(arguments)
    settings = config.load_files(*arguments.config)
    if arguments.dataset not in settings.datasets:
        raise FairGATError(
            f"--dataset {arguments.dataset!r} is unknown; {nearest(arguments.dataset, settings.datasets)}"
        )
    results = Path(arguments.results_dir or settings.results_dir)
    graph = results / "data" / "graphs" / f"{arguments.dataset}.npz"
    if not graph.exists():  # never written where the workflow keeps its own
        graph = make_graph(settings, arguments.dataset, "by-hand", arguments.data_mirror)
    try:
        result = attention.measure(graph, arguments.hidden, arguments.threads, arguments.pairs)
    except MemoryError as error:
        raise FairGATError(f"the memory does not suffice for --hidden {arguments.hidden} ({error})") from None
    _say(arguments, result, attention.table)


def _scale(arguments: argparse.Namespace) -> None:
    from fairgat.bench import scale

    if min(arguments.nodes, arguments.features, arguments.hidden, arguments.threads) < 1:
        raise FairGATError("--nodes, --features, --hidden and --threads count from 1")
    if not all(2 <= 1_000_000 * count < math.inf for count in arguments.edges):
        raise FairGATError("--edges are millions of directed edges, at least 2 of them: 0.000002")
    if not 0 < arguments.limit_gib < math.inf:
        raise FairGATError(f"--limit-gib must be above 0, got {arguments.limit_gib:g}")
    _check_output(arguments)
    edges = [int(count * 1_000_000) for count in arguments.edges]
    result = scale.measure(
        arguments.nodes, edges, arguments.features, arguments.hidden, arguments.threads, arguments.limit_gib
    )
    _say(arguments, result, scale.table)


def _check_output(arguments: argparse.Namespace) -> None:
    if arguments.output and arguments.output.is_dir():  # said before minutes of measuring
        raise FairGATError(f"--output {arguments.output} is a folder; give a file")


def _say(arguments: argparse.Namespace, result: dict[str, Any], table: Any) -> None:
    if arguments.output:
        files.write_json(arguments.output, result)
    print("\n".join(table(result)))
