"""Feed the layer's operators, graphs and steps what does not fit, at random.

Each try either is refused by an error or gives what plain PyTorch gives: nothing is
read beyond an array, and the process lives. For ten minutes:

    python tests/unit/fuzz.py 600

Each process has NUMBA_BOUNDSCHECK=1, and a folder of its own for kernels so compiled.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import torch
from graphs import edge_features, features, random_graph
from torch import Tensor

from fairgat.nn import CSRGraph, FairGATConv, GATConv, balanced_shares
from fairgat.nn.attention import reference_softmax, reference_sum
from fairgat.nn.operators import DTYPES

REFUSALS = ValueError, RuntimeError, TypeError, IndexError, NotImplementedError
TRIES = 500  # of a process
N = 30


def attempt(seed: int) -> str:
    """Make one try, and say how it went.

    Raises:
        AssertionError: numbers are wrong.
    """
    draw = random.Random(seed)
    torch.manual_seed(seed)
    kind = draw.choice([operators, backward_operators, graph_by_hand, steps])
    try:
        found, expected = kind(draw)
    except REFUSALS as error:
        return f"{kind.__name__}: refused, {type(error).__name__}"
    # Step 3 of columns that hardly vary makes much of roundings, as plain PyTorch does.
    distance = (found - expected).norm()
    assert found.shape == expected.shape and distance <= 1e-3 * expected.norm() + 1e-6
    return f"{kind.__name__}: computed"


# ------------------------------------------------------------------------ what is fed


def damaged(draw: random.Random, array: Tensor) -> Tensor:
    """An array of another shape, type, place or order, or with other numbers."""
    length = len(array) if array.dim() else 1
    ways = [
        lambda: array[: draw.randrange(length + 1)],
        lambda: torch.cat([array, array])[: length + draw.randrange(1, 4)],
        lambda: array.repeat_interleave(2, array.dim() - 1)[..., ::2],
        lambda: array.unsqueeze(draw.randrange(array.dim() + 1)),
        lambda: array.flatten(),
        lambda: array.mT if array.dim() > 1 else array.flip(0),
        lambda: array[:1].expand_as(array),
        lambda: array.to("meta"),
        lambda: array.to(draw.choice([torch.float64, torch.int32, torch.int64])),
        lambda: array.to(draw.choice([torch.bool, torch.float16, torch.uint8])),
        lambda: array.to_sparse(),
        lambda: array.new_empty(0),
        lambda: written(draw, array.clone()),
        lambda: written(draw, array.clone()),
    ]
    return draw.choice(ways)()


def written(draw: random.Random, array: Tensor) -> Tensor:
    """An array of which a few numbers are overwritten."""
    flat = array.view(-1)
    for _ in range(draw.randrange(1, 4)):
        place = draw.randrange(len(flat))
        values = [-1, 0, 1, N - 1, N, len(flat), 10**6, 2**31 - 1, -(2**31)]
        if array.dtype == torch.bool or array.is_floating_point():
            values = [0, 1, -3]
        flat[place] = draw.choice([*values, int(flat[draw.randrange(len(flat))])])
    return array


def damage_some(draw: random.Random, arguments: list) -> list:
    """The arguments with one or two of them damaged, left out or exchanged; or none."""
    arguments = list(arguments)
    places = [k for k, each in enumerate(arguments) if isinstance(each, Tensor)]
    for _ in range(draw.randrange(3)):
        place, other = draw.choices(places, k=2)
        if not isinstance(arguments[place], Tensor):
            continue
        way = draw.randrange(10)
        if way == 0:
            arguments[place] = None
        elif way == 1:
            arguments[place] = arguments[other]
        else:
            arguments[place] = damaged(draw, arguments[place])
    return arguments


def any_graph(draw: random.Random) -> CSRGraph:
    edge_index, sensitive = random_graph(N, groups=3, seed=draw.randrange(9))
    shares = balanced_shares(sensitive, edge_index, 0.5)
    groups, shares = draw.choice([(None, None), (sensitive, None), (sensitive, shares)])
    return CSRGraph.from_edge_index(edge_index, N, groups, shares=shares)


# ------------------------------------------------------------------------ who is fed


def operators(draw: random.Random) -> tuple[Tensor, Tensor]:
    """Both operators, called without the layer."""
    graph, heads = any_graph(draw), draw.randrange(1, 4)
    mass = graph.masses(0.3, torch.float32)
    scores = torch.randn(3, heads, N)
    edge = draw.choice([None, torch.randn(heads, graph.num_edges)])
    keep = draw.choice([None, torch.rand(graph.num_edges) < 0.7])
    tptr, ttarget, tedge, position, tcuts = graph.transposed()

    if draw.random() < 0.5:
        given = [*scores[:2], edge, graph.rowptr, graph.segptr, mass, graph.source]
        given += [graph.cuts(), tptr, tedge, tcuts, keep]
        given = damage_some(draw, given)
        found = torch.ops.fairgat.segment_softmax(*given, 0.2)
        s, t, u, rowptr, segptr, mass, source, *_, keep = given
        graph = arrays_of(rowptr, source, segptr)
        return found, reference_softmax(s, t, u, graph, mass, keep, 0.2)

    shape = draw.choice([(N, heads, 16), (N, 48)])
    given = [torch.rand(heads, graph.num_edges), torch.randn(shape), graph.rowptr]
    given += [graph.source, graph.cuts(), tptr, ttarget, tedge, position, tcuts]
    given = damage_some(draw, given)
    found = torch.ops.fairgat.sum_of_neighbours(*given)
    alpha, x, rowptr, source, *_ = given
    return found, reference_sum(alpha, x, arrays_of(rowptr, source))


def arrays_of(rowptr: Tensor, source: Tensor, segptr=None) -> SimpleNamespace:
    """What the reference reads of a graph."""
    target = torch.arange(len(rowptr) - 1).repeat_interleave(rowptr.diff())
    return SimpleNamespace(
        source=source, target=target, segptr=segptr, num_rows=len(rowptr) - 1
    )


def backward_operators(draw: random.Random) -> tuple[Tensor, Tensor]:
    """The operators of gradients and of step 3, of which only shapes are compared."""
    graph, heads = any_graph(draw), draw.randrange(1, 4)
    tptr, ttarget, tedge, position, tcuts = graph.transposed()
    alpha, grad = torch.rand(2, heads, graph.num_edges)
    scores = torch.randn(2, heads, N)
    x, grad_sums = torch.randn(2, N, heads, 16)
    flat, vectors = x.flatten(1), torch.rand(3, heads * 16)
    by_target = graph.rowptr, graph.segptr, graph.source, graph.cuts()
    by_source = [tptr, ttarget, tedge, position, tcuts]

    name, given, last = draw.choice(
        [
            (
                "segment_softmax_backward",
                [grad, alpha, *scores, None, *by_target, tptr, tedge, tcuts],
                [0.2],
            ),
            ("sum_of_neighbours_backward", [grad_sums, alpha, x, *by_source], []),
            (
                "dot_products",
                [grad_sums, x, graph.rowptr, graph.source, graph.cuts()],
                [],
            ),
            ("column_factor", [flat, vectors[0]], [1.0]),
            ("column_factor_backward", [vectors[0], flat, *vectors[1:]], [1.0]),
            ("scale_and_shift", [flat, *vectors[:2]], []),
            ("scale_and_shift_backward", [flat, flat, vectors[0]], []),
        ]
    )
    function = getattr(torch.ops.fairgat, name)
    found = function(*damage_some(draw, given), *last)
    first = found if isinstance(found, Tensor) else found[0]
    return first, first


def graph_by_hand(draw: random.Random) -> tuple[Tensor, Tensor]:
    """A graph made of arrays that need not fit, or written to, in a layer."""
    graph = any_graph(draw)
    names = ["rowptr", "segptr", "source", "permutation", "mass", "given"]
    changed = {name: getattr(graph, name) for name in names}
    shared = graph.shares
    layer = FairGATConv(5, 8, heads=2, alpha_chi=shared or 0.5)
    if not graph.segmented:
        layer = GATConv(5, 8, heads=2)
    run(layer, graph)

    if draw.random() < 0.5:
        array = draw.choice([each for each in changed.values() if each is not None])
        written(draw, array)
    else:
        arrays = damage_some(draw, list(changed.values()))
        changed = dict(zip(names, arrays, strict=True))
        if draw.random() < 0.2:
            changed["num_nodes"] = draw.choice([0, N - 1, N + 1, -1, 2**40])
        if draw.random() < 0.2:
            changed["segments"] = draw.choice([0, 1, 2, 3, 7])
        graph = replace(graph, **changed)
    return run(layer, graph)


def steps(draw: random.Random) -> tuple[Tensor, Tensor]:
    """A layer whose steps are overridden by ones that give what does not fit."""
    edge_index, sensitive = random_graph(N)
    seed = draw.random()
    overridden = draw.choice(["scores", "attend", "normalise", "keep", "edge_attr"])

    class Odd(FairGATConv):
        def scores(self, c):
            given = list(super().scores(c))
            if overridden == "scores":
                way = random.Random(seed)
                given[way.randrange(2)] = damaged(way, given[0])
            return tuple(given)

        def attend(self, *arguments):
            alpha = super().attend(*arguments)
            if overridden == "attend":
                alpha = damaged(random.Random(seed), alpha)
            return alpha

        def normalise(self, features):
            features = super().normalise(features)
            if overridden == "normalise":
                values = damaged(random.Random(seed), features.values)
                features = replace(features, values=values)
            return features

    width = draw.choice([3, 8])
    layer = Odd(5, width, heads=draw.randrange(1, 4), edge_dim=3)
    given = edge_features(edge_index)
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive)
    keep = torch.rand(graph.num_edges) < 0.8
    if overridden == "keep":
        keep = damaged(draw, keep)
    if overridden == "edge_attr":
        given = damaged(draw, given)
    return run(layer, graph, keep=keep, edge_attr=given)


def run(layer: GATConv, graph: CSRGraph, **options) -> tuple[Tensor, Tensor]:
    """The layer's output after a backward pass, and what plain PyTorch gives."""
    results = []
    for dtypes in ((), (torch.float32,)):
        with mock.patch.dict(DTYPES, cpu=dtypes):
            out = layer(features(), graph, **options)
            out.sum().backward()
        results.append(out)
    plain, found = results
    return found, plain


# --------------------------------------------------------------------------- by hand


def main(seconds: float) -> int:
    """Start processes until the time is over, and print how their tries went."""
    end, first, counts, deaths = time.time() + seconds, 0, Counter(), []
    with tempfile.TemporaryDirectory() as cache:
        settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
        while time.time() < end:
            command = [sys.executable, __file__, "--from", str(first)]
            done = subprocess.run(
                command, env=os.environ | settings, capture_output=True, text=True
            )
            counts.update(done.stdout.splitlines())
            if done.returncode:
                deaths.append((first, done.returncode, done.stderr[-2000:]))
            first += TRIES
    for what, count in sorted(counts.items()):
        print(f"{count:8,}  {what}")
    print(f"{sum(counts.values()):8,}  tries, in processes of {TRIES}")
    for seed, code, said in deaths:
        print(f"process of seeds from {seed} ended with {code}:\n{said}")
    return bool(deaths)


if __name__ == "__main__":
    if sys.argv[1] == "--from":
        start = int(sys.argv[2])
        for seed in range(start, start + TRIES):
            print(attempt(seed), flush=True)
        sys.exit()
    sys.exit(main(float(sys.argv[1])))
