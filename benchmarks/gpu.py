"""Time training steps on a GPU, ours beside PyTorch Geometric's.

Writes benchmarks/measured/gpu.json. Each library in each setting: plain, compiled, with
`mode="reduce-overhead"`, and the whole step as a CUDA graph; in float32 (TF32 off) and
bfloat16. PyTorch Geometric's graph has its self-loops added and its edges sorted
beforehand. A step is forward, backward and fused Adam. Outputs and gradients are
compared with our reference in float64.

    python benchmarks/gpu.py --graphs recidivism --rows GAT PyG --ways eager graph
"""

import argparse
import itertools
import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from epoch import OURS, Network
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat.nn import CSRGraph, FairGATConv, GATConv, balanced_shares

MEASURED = Path(__file__).parent / "measured" / "gpu.json"
WAYS = ("eager", "compiled", "reduce-overhead", "graph", "compiled, graph")
PEERS = ("PyG", "PyG, EdgeIndex")
LARGE = {
    "steps": 8,
    "rows": ("GAT", "FairGAT", *PEERS),
    "ways": ("eager", "compiled", "graph"),
}
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Size:
    nodes: int
    edges: int  # directed
    features: int
    skew: float  # standard deviation of the logarithm of a node's share of the edges
    hub: int = 0  # edges of node 0
    steps: int = 30
    rows: tuple[str, ...] = (
        "GAT",
        "FairGAT",
        *PEERS,
        "step 1",
        "FairGAT, balanced shares",
    )
    ways: tuple[str, ...] = WAYS


SIZES = {
    "recidivism": Size(18_876, 624_000, 18, 0.6),
    "million": Size(1_000_000, 20_000_000, 64, 1.0, **LARGE),
    "hub": Size(1_000_000, 20_000_000, 64, 0.5, hub=300_000, **LARGE),
}


def graph(size: Size) -> tuple[Tensor, Tensor]:
    """Generate edges (2, E), both directions of each, and groups (N,).

    There are no self-loops.
    """
    random = torch.Generator().manual_seed(0)
    weight = (torch.randn(size.nodes, generator=random) * size.skew).exp()
    ends = weight.double().cumsum(0)  # of each node's piece of a line

    def draw() -> Tensor:
        uniform = torch.rand(size.edges // 2, generator=random, dtype=torch.double)
        nodes = torch.searchsorted(ends, uniform * ends[-1])
        return nodes.clamp_max(size.nodes - 1)

    source, target = draw(), draw()
    source[: size.hub] = 0
    no_loop = source != target
    there = torch.stack([source[no_loop], target[no_loop]])
    edge_index = torch.cat([there, there.flip(0)], dim=1)
    return edge_index, torch.randint(2, (size.nodes,), generator=random)


def peer(name: str, edge_index: Tensor, nodes: int) -> tuple[Callable, object]:
    """Make PyTorch Geometric's layer, and the graph that it takes."""
    import torch_geometric

    loops = torch.arange(nodes).expand(2, -1)
    edges = torch.cat([edge_index, loops], 1)
    order = edges[1].argsort(stable=True)
    edges = edges[:, order].cuda()
    if name == "PyG, EdgeIndex":
        options = {"sparse_size": (nodes, nodes), "sort_order": "col"}
        edges = torch_geometric.EdgeIndex(edges, **options)
    return partial(torch_geometric.nn.GATConv, add_self_loops=False), edges


def ours(name: str, edge_index: Tensor, sensitive: Tensor) -> tuple[Callable, CSRGraph]:
    """Make a layer of ours, and the graph that it takes."""
    options, nodes = OURS[name], len(sensitive)
    if options is None:
        return GATConv, CSRGraph.from_edge_index(edge_index.cuda(), nodes)
    shares = None
    if "retention" in options:
        shares = balanced_shares(sensitive, edge_index, options["retention"])
        options = {"alpha_chi": shares}
    has_step_1 = options.get("alpha_chi", 0.5) is not None
    graph = CSRGraph.from_edge_index(
        edge_index.cuda(),
        nodes,
        sensitive if has_step_1 else None,
        add_self_loops=True,
        shares=shares,
    )
    return partial(FairGATConv, **options), graph


def captured(step: Callable[[], None]) -> Callable[[], None]:
    """Make a CUDA graph of the step."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(4):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        step()
    return recorded.replay


def median_ms(step: Callable[[], None], count: int) -> float:
    """Give the median milliseconds of `count` steps, after five that do not count."""
    for _ in range(5):
        step()
    taken = []
    for _ in range(count):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        step()
        end.record()
        end.synchronize()
        taken.append(begin.elapsed_time(end))
    return statistics.median(taken)


def launches(step: Callable[[], None]) -> tuple[int, float, list[str]]:
    """Count a step's kernels and their milliseconds.

    And list those that take the most, for whoever makes it faster.
    """
    step()
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        step()
        torch.cuda.synchronize()
    on_gpu = torch.autograd.DeviceType.CUDA
    events = [each for each in profile.events() if each.device_type == on_gpu]

    counts, times = Counter(), Counter()
    for event in events:
        counts[event.name] += 1
        times[event.name] += event.device_time
    lines = []
    for name, time in times.most_common():
        lines.append(f"{time:8.1f} us {counts[name]:3d} x {name[:90]}")
    return len(events), times.total() / 1000, lines


def exact(
    size: Size,
    edge_index: Tensor,
    sensitive: Tensor,
    name: str,
    x: Tensor,
    y: Tensor,
    weight: Tensor,
) -> list:
    """Give logits and gradients of our reference in float64; it needs much memory."""
    layer, graph = ours(name, edge_index, sensitive)
    torch.manual_seed(0)
    model = Network(layer, size.features, 128).cuda().double()
    logits = model(x.double(), graph)
    loss = binary_cross_entropy_with_logits(logits, y.double(), weight.double())
    loss.backward()
    return [logits.detach(), *(each.grad for each in model.parameters())]


def apart(found: list[Tensor], expected: list[Tensor]) -> float:
    """Give the largest relative distance of an array of logits or gradients."""
    distances = []
    for a, b in zip(found, expected, strict=True):
        distance = (a.double() - b).norm()
        distances.append(float(distance / b.norm().clamp_min(1e-12)))
    return max(distances)


def measure(
    row: str,
    way: str,
    dtype: torch.dtype,
    size: Size,
    layer: tuple,
    data: tuple,
    expected,
    count: bool,
) -> dict:
    """Measure the milliseconds and the peak memory of a step.

    Args:
        layer: what makes a layer, and the graph, its argument after x.
        data: features, labels and weights of the nodes.
        expected: what `apart` compares with, or None.
        count: whether to count its kernels.
    """
    make, graph = layer
    x, y, weight = data
    torch.compiler.reset()
    torch.cuda.empty_cache()
    torch.manual_seed(0)
    model = Network(make, size.features, 128)
    if row in PEERS:  # the same weights
        torch.manual_seed(0)
        model.load_state_dict(Network(GATConv, size.features, 128).state_dict())
    model, x = model.to("cuda", dtype), x.to(dtype)
    torch.cuda.reset_peak_memory_stats()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True, capturable=True)
    forward = model
    if way not in ("eager", "graph"):
        mode = "reduce-overhead" if way == "reduce-overhead" else None
        forward = torch.compile(model, dynamic=False, mode=mode)

    def backward() -> None:
        logits = forward(x, graph).float()
        loss = binary_cross_entropy_with_logits(logits, y, weight)
        loss.backward()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        backward()
        optimizer.step()

    found = {"row": row, "way": way, "type": str(dtype).removeprefix("torch.")}
    if expected is not None:
        backward()
        gradients = [each.grad.clone() for each in model.parameters()]
        with torch.no_grad():
            logits = model(x, graph)
        found["apart"] = apart([logits, *gradients], expected)
    if count:
        found["launches"], found["device_ms"], kernels = launches(step)
        print("\n".join(kernels), flush=True)
    if way.endswith("graph"):
        step = captured(step)
    found["ms"] = median_ms(step, size.steps)
    found["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--graphs", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument(
        "--rows",
        nargs="+",
        metavar="ROW",
        help='such as GAT or "PyG, EdgeIndex"; all by default',
    )
    parser.add_argument("--ways", nargs="+", choices=WAYS)
    parser.add_argument("--types", nargs="+", default=list(TYPES), choices=TYPES)
    parser.add_argument("--output", type=Path, default=MEASURED)
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    result = {
        "card": torch.cuda.get_device_name(),
        "versions": versions(),
        "graphs": {},
    }
    for name in given.graphs:
        size = SIZES[name]
        measured: list[dict] = []
        result["graphs"][name] = {"size": asdict(size), "measured": measured}
        rows, ways = given.rows or size.rows, given.ways or size.ways
        for each in of_graph(size, rows, ways, given.types):
            measured.append(each)
            print(name, json.dumps(each), flush=True)
            given.output.write_text(json.dumps(result, indent=1), encoding="utf-8")


def of_graph(
    size: Size, rows: Iterable[str], ways: Iterable[str], types: Iterable[str]
) -> Iterator[dict]:
    """Measure each row in each way on one graph.

    One that fails says why, and the others go on.
    """
    edge_index, sensitive = graph(size)
    torch.manual_seed(0)
    x = torch.randn(size.nodes, size.features, device="cuda")
    y = torch.rand(size.nodes, device="cuda").round()
    weight = (torch.rand(size.nodes, device="cuda") < 0.4).float()
    data = x, y, weight
    small = size.nodes < 100_000  # so that the reference has room
    for row in rows:
        if row in PEERS:
            reference, layer = "GAT", peer(row, edge_index, size.nodes)
        else:
            reference, layer = row, ours(row, edge_index, sensitive)
        expected = None
        if small:
            expected = exact(size, edge_index, sensitive, reference, *data)
        for way, dtype in itertools.product(ways, types):
            count = small and way == "eager" and dtype == "float32"
            try:
                yield measure(
                    row,
                    way,
                    TYPES[dtype],
                    size,
                    layer,
                    data,
                    expected=expected,
                    count=count,
                )
            except Exception as error:
                text = f"{type(error).__name__}: {error}".replace("\n", " ")
                yield {"row": row, "way": way, "type": dtype, "failure": text[:300]}


def versions() -> dict[str, str]:
    import torch_geometric
    import triton

    return {
        "PyTorch": torch.__version__,
        "Triton": triton.__version__,
        "PyTorch Geometric": torch_geometric.__version__,
    }


if __name__ == "__main__":
    main()
