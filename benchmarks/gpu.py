"""Time training steps on a GPU, ours beside PyTorch Geometric's, and write benchmarks/measured/gpu.json.

Each library in each setting: plain, compiled, with `mode="reduce-overhead"`, and the whole step as a CUDA graph; in
float32 (TF32 off) and bfloat16. PyTorch Geometric's graph has its self-loops added and its edges sorted beforehand. A
step is forward, backward and fused Adam. Outputs and gradients are compared with our reference in float64.

    python benchmarks/gpu.py --graphs recidivism --rows GAT PyG --ways eager graph
"""

import argparse
import itertools
import json
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from epoch import OURS, Network
from torch import Tensor, nn

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
    """(2, E) edges, both directions of each, without self-loops, and (N,) groups."""
    draw = torch.Generator().manual_seed(0)
    share = (
        (torch.randn(size.nodes, generator=draw) * size.skew).exp().double().cumsum(0)
    )
    ends = [
        torch.rand(size.edges // 2, generator=draw, dtype=torch.double) * share[-1]
        for _ in range(2)
    ]
    source, target = (
        torch.searchsorted(share, each).clamp_max(size.nodes - 1) for each in ends
    )
    source[: size.hub] = 0
    source, target = source[source != target], target[source != target]
    edge_index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    return edge_index, torch.randint(2, (size.nodes,), generator=draw)


def peer(name: str, edge_index: Tensor, nodes: int) -> tuple[Callable, object]:
    import torch_geometric

    loops = torch.arange(nodes).expand(2, -1)
    whole = torch.cat([edge_index, loops], 1)
    whole = whole[:, whole[1].argsort(stable=True)].cuda()
    if name == "PyG, EdgeIndex":
        whole = torch_geometric.EdgeIndex(
            whole, sparse_size=(nodes, nodes), sort_order="col"
        )
    return partial(torch_geometric.nn.GATConv, add_self_loops=False), whole


def ours(name: str, edge_index: Tensor, sensitive: Tensor) -> tuple[Callable, CSRGraph]:
    options, nodes = OURS[name], len(sensitive)
    if options is None:
        return GATConv, CSRGraph.from_edge_index(edge_index.cuda(), nodes)
    shares = None
    if retention := options.get("retention"):
        shares = balanced_shares(sensitive, edge_index, retention)
        options = {"alpha_chi": shares}
    groups = None if options.get("alpha_chi", 0.5) is None else sensitive
    return partial(FairGATConv, **options), CSRGraph.from_edge_index(
        edge_index.cuda(), nodes, groups, True, shares
    )


def captured(step: Callable[[], None]) -> Callable[[], None]:
    """The step as a CUDA graph."""
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
    """Kernels of a step, their milliseconds, and those that take the most, for whoever makes it faster."""
    step()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CUDA]
    ) as profile:
        step()
        torch.cuda.synchronize()
    found = [
        each
        for each in profile.events()
        if each.device_type == torch.autograd.DeviceType.CUDA
    ]
    taken = {}
    for each in found:
        count, time = taken.get(each.name, (0, 0.0))
        taken[each.name] = count + 1, time + each.device_time
    longest = sorted(taken.items(), key=lambda item: -item[1][1])
    lines = [
        f"{time:8.1f} us {count:3d} x {name[:90]}" for name, (count, time) in longest
    ]
    return len(found), sum(time for _, time in taken.values()) / 1000, lines


def exact(
    size: Size,
    edge_index: Tensor,
    sensitive: Tensor,
    name: str,
    x: Tensor,
    y: Tensor,
    weight: Tensor,
) -> list:
    """Logits and gradients of the reference in float64, for graphs of which it has room."""
    layer, given = ours(name, edge_index, sensitive)
    torch.manual_seed(0)
    model = Network(layer, size.features, 128).cuda().double()
    out = model(x.double(), given)
    nn.functional.binary_cross_entropy_with_logits(
        out, y.double(), weight.double()
    ).backward()
    return [out.detach(), *(each.grad for each in model.parameters())]


def apart(found: list[Tensor], expected: list[Tensor]) -> float:
    """The largest relative distance of a logit's or a gradient's array."""
    return max(
        float((a.double() - b).norm() / b.norm().clamp_min(1e-12))
        for a, b in zip(found, expected, strict=True)
    )


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
    """Milliseconds and peak memory of a step; with `expected`, how far off it is; with `count`, its kernels.

    Args:
        layer: what makes a layer, and its argument after x.
        data: features, labels and weights of the nodes.
    """
    (make, given), (x, y, weight) = layer, data
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
    call = model
    if way != "eager" and way != "graph":
        call = torch.compile(
            model,
            dynamic=False,
            mode="reduce-overhead" if way == "reduce-overhead" else None,
        )

    def loss() -> None:
        nn.functional.binary_cross_entropy_with_logits(
            call(x, given).float(), y, weight
        ).backward()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss()
        optimizer.step()

    found = {"row": row, "way": way, "type": str(dtype).removeprefix("torch.")}
    if expected is not None:
        loss()
        gradients = [each.grad.clone() for each in model.parameters()]
        with torch.no_grad():
            found["apart"] = apart([model(x, given), *gradients], expected)
    if count:
        found["launches"], found["device_ms"], kernels = launches(step)
        print("\n".join(kernels), flush=True)
    found["ms"] = median_ms(
        captured(step) if way.endswith("graph") else step, size.steps
    )
    return found | {"peak_gb": torch.cuda.max_memory_allocated() / 1e9}


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
        result["graphs"][name] = {"size": asdict(SIZES[name]), "measured": []}
        for measured in of_graph(
            SIZES[name],
            given.rows or SIZES[name].rows,
            given.ways or SIZES[name].ways,
            given.types,
        ):
            result["graphs"][name]["measured"].append(measured)
            print(name, json.dumps(measured), flush=True)
            given.output.write_text(json.dumps(result, indent=1), encoding="utf-8")


def of_graph(
    size: Size, rows: Iterable[str], ways: Iterable[str], types: Iterable[str]
) -> Iterator[dict]:
    """Measure each row in each way on one graph; one that fails says why, and the others go on."""
    edge_index, sensitive = graph(size)
    torch.manual_seed(0)
    x, y = (
        torch.randn(size.nodes, size.features, device="cuda"),
        torch.rand(size.nodes, device="cuda").round(),
    )
    data = x, y, (torch.rand(size.nodes, device="cuda") < 0.4).float()
    small = size.nodes < 100_000
    for row in rows:
        layer = (
            peer(row, edge_index, size.nodes)
            if row in PEERS
            else ours(row, edge_index, sensitive)
        )
        plain = "GAT" if row in PEERS else row
        expected = exact(size, edge_index, sensitive, plain, *data) if small else None
        for way, dtype in itertools.product(ways, types):
            try:
                count = small and way == "eager" and dtype == "float32"
                yield measure(
                    row, way, TYPES[dtype], size, layer, data, expected, count
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
