"""What kernels may read: arrays that do not fit are refused, whoever brings them."""

import warnings
from dataclasses import replace

import pytest
import torch
from fuzz import attempt
from graphs import features, random_graph

from fairgat.nn import CSRGraph, FairGATConv, GATConv, pointers

N = 30


@pytest.mark.parametrize("seed", range(0, 600, 100))
def test_what_does_not_fit_is_refused_or_computed_as_plain_pytorch_does(seed):
    """`python tests/unit/fuzz.py 600` tries more, with bounds checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tries = [attempt(each) for each in range(seed, seed + 100)]
    assert any("computed" in each for each in tries)
    assert any("refused" in each for each in tries)


class Odd(FairGATConv):
    """A layer one of whose steps gives something else."""

    def __init__(self, step, change, width=8):
        super().__init__(5, width, heads=2)
        self.step, self.change = step, change

    def scores(self, c):
        source, target = super().scores(c)
        return source, self.change(target) if self.step == "scores" else target

    def attend(self, *arguments):
        alpha = super().attend(*arguments)
        return self.change(alpha) if self.step == "attend" else alpha


@pytest.mark.parametrize("step", ["scores", "attend"])
@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:, :-1],
        lambda array: array[:1],
        lambda array: torch.cat([array, array], 1),
        lambda array: array[0],
    ],
)
def test_a_step_that_gives_another_shape_or_device_is_refused(step, width, change):
    layer = Odd(step, change, width)
    with pytest.raises(ValueError, match=r"must be float32|`attend` must"):
        layer(features(), *random_graph())


def test_keep_is_on_the_device_of_the_features():
    edge_index, sensitive = random_graph()
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive)
    keep = torch.ones(graph.num_edges, dtype=torch.bool, device="meta")
    with pytest.raises(ValueError, match=r"on cpu, got torch.bool .* on meta"):
        FairGATConv(5, 8)(features(), graph, keep=keep)


def with_number(array, place, value):
    array = array.clone()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rowptr", lambda array: with_number(array, 3, 10**6)),
        ("rowptr", lambda array: with_number(array, 0, -4)),
        ("rowptr", lambda array: array[:-1]),
        ("rowptr", lambda array: array.int()),
        ("segptr", lambda array: with_number(array, -1, 10**6)),
        ("segptr", lambda array: array[:-2]),
        ("segptr", lambda array: None),
        ("source", lambda array: with_number(array, 5, N)),
        ("source", lambda array: with_number(array, 5, -1)),
        ("source", lambda array: array.long()),
        ("source", lambda array: array[::2]),
        ("permutation", lambda array: with_number(array, 5, 10**6)),
        ("permutation", lambda array: with_number(array, 5, 6)),
        ("num_nodes", lambda number: number - 2),
        ("segments", lambda number: number + 1),
    ],
)
def test_a_graph_made_by_hand_is_looked_at(name, change):
    graph = CSRGraph.from_edge_index(random_graph()[0], N)
    changed = change(getattr(graph, name))
    with pytest.raises(ValueError, match=r"from_edge_index|a graph|permutation"):
        replace(graph, **{name: changed})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_graph_that_is_written_to_is_looked_at_again(dtype):
    edge_index, sensitive = random_graph()
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive)
    layer, x = FairGATConv(5, 8).to(dtype), features().detach().to(dtype)
    layer(x, graph).sum().backward()

    graph.source[4] = N + 1000
    with pytest.raises(ValueError, match=r"1031 nodes or more"):
        layer(x, graph)


def test_what_is_found_of_a_graph_follows_writes():
    """The edges by source among it, which the gradient reads."""
    edge_index, _ = random_graph()
    graph = CSRGraph.from_edge_index(edge_index, N)
    layer = GATConv(5, 8, heads=2)
    layer(features(), graph).sum().backward()

    row = graph.rowptr.diff().argmax()
    graph.source[graph.rowptr[row]] = 7

    anew = CSRGraph.from_edge_index(graph.edge_index, N, None, False)
    results = []
    for given in (graph, anew):
        x = features()
        out = layer(x, replace(given, add_self_loops=True))
        (grad,) = torch.autograd.grad(out.square().sum(), x)
        results.append((out, grad))
    torch.testing.assert_close(*results)


def test_a_graph_is_read_once(monkeypatch):
    edge_index, sensitive = random_graph()
    layer, reads = FairGATConv(5, 8, heads=2), []
    for name in ("_end_of", "_bound_of"):
        find = getattr(pointers, name)

        def counted(array, find=find):
            reads.append(1)
            return find(array)

        monkeypatch.setattr(pointers, name, counted)
    layer(features(), edge_index, sensitive).sum().backward()
    before = len(reads)
    for _ in range(3):
        layer(features(), edge_index, sensitive).sum().backward()
    assert len(reads) == before > 0


def test_nothing_is_kept_of_a_graph_that_is_gone():
    edge_index, sensitive = random_graph()
    before = len(pointers._memory)
    out = FairGATConv(5, 8)(features(), edge_index, sensitive)
    out.sum().backward()
    assert len(pointers._memory) > before
    del edge_index, sensitive, out
    assert len(pointers._memory) == before


def test_features_and_edges_in_shared_memory_are_read_at_every_call():
    """NumPy's write stands for another process's: neither is counted by PyTorch."""
    edge_index, sensitive = random_graph()
    x = torch.zeros(N, 60).index_fill_(1, torch.arange(5), 1.0)
    layer = FairGATConv(60, 8)
    for shared in (x, edge_index, sensitive):
        shared.share_memory_()
        layer(x, edge_index, sensitive)
        shared.numpy()[..., :9] = 1
        copies = x.clone(), edge_index.clone(), sensitive.clone()
        torch.testing.assert_close(layer(x, edge_index, sensitive), layer(*copies))


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_a_damaged_sparse_matrix_is_refused(layout):
    make = getattr(torch, f"sparse_{layout}_tensor")
    ptr = torch.arange(N + 1)
    matrix = make(ptr, torch.arange(N), torch.ones(N), (N, N), check_invariants=False)
    wrong = with_number(ptr, 5, 10**9)
    damaged = make(
        wrong, torch.arange(N), torch.ones(N), (N, N), check_invariants=False
    )
    GATConv(5, 2)(features(), matrix)
    with pytest.raises(ValueError, match="sparse adjacency is damaged"):
        GATConv(5, 2)(features(), damaged)
