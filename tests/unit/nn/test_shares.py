"""Shares of attention for any number of groups: masses of each kind of neighbourhood, and the layer that takes them."""

import numpy as np
import pandas as pd
import pytest
import torch
from graphs import features, random_graph
from scipy.optimize import lsq_linear

from fairgat.data.graph import symmetrise
from fairgat.nn import CSRGraph, FairGATConv, Shares, balanced_shares, shares

N = 30
PHI = (0.5, 0.25, 0.0, -0.25)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "columns", "pi", "tau"),
    [
        ("recidivism/bail", ["WHITE"], [0.4948, 0.5052], [0.5, 0.25, 0, 0.25]),
        (
            "recidivism/bail",
            ["WHITE", "MALE"],
            [0.0313, 0.4635, 0.0237, 0.4816],
            [0.5, 0.25, 0, 0.25],
        ),
        ("income/income", ["race"], [0.6742, 0.3258], [0.6181, 0.5367, 0.4552, 0.3934]),
        (
            "income/income",
            ["race", "sex"],
            [0.2353, 0.4389, 0.1603, 0.1654],
            [0.6566, 0.5752, 0.5042, 0.4640],
        ),
    ],
)
def test_balance_and_what_is_reached_on_real_graphs(
    data_mirror, name, columns, pi, tau
):
    """Two attributes are the one whose groups are their combinations. What is out of reach is said by tau."""
    table = pd.read_csv(data_mirror / f"{name}.csv")
    groups = (
        table[columns[0]].astype(int)
        if len(columns) == 1
        else 2 * table[columns[0]] + table[columns[1]]
    )
    edges = symmetrise(
        np.loadtxt(data_mirror / f"{name}_edges.txt").astype(int).T, len(table)
    )
    found = [balanced_shares(groups.astype(int), edges, phi) for phi in PHI]
    np.testing.assert_allclose(found[2].target, np.tile(pi, (len(pi), 1)), atol=5e-5)
    np.testing.assert_allclose([each.tau for each in found], tau, atol=5e-5)


def test_balance_is_the_papers_share_where_everyone_has_both_kinds():
    nodes = torch.arange(20)
    source, target = torch.cartesian_prod(nodes, nodes).T
    found = balanced_shares(nodes % 2, torch.stack([source, target]), 0.5)
    np.testing.assert_allclose(found.masses, [[0.75, 0.25], [0.25, 0.75]], atol=1e-6)
    np.testing.assert_allclose(found.reached, 0.5 * np.eye(2) + 0.25, atol=1e-6)
    assert repr(found) == "Shares(2 groups, tau=0.5)"


@pytest.mark.parametrize("seed", range(10))
def test_masses_are_the_nearest_ones(seed):
    """Against SciPy's bounded least squares over all masses: as near to the aim, and then no farther from the means."""
    rng = np.random.default_rng(seed)
    size, kinds = rng.integers(2, 5), rng.integers(1, 8)
    present = rng.random((kinds, size)) < 0.6
    present[:, 0] = True
    mean = rng.random((kinds, size)) * present
    mean, weight = mean / mean.sum(1, keepdims=True), rng.dirichlet(np.ones(kinds))
    retention = rng.uniform(-1, 1)
    aim = (1 - retention) * rng.dirichlet(np.ones(size)) + retention * (
        np.arange(size) == 0
    )
    row, column = np.nonzero(present)
    whole = 1e4 * (np.arange(kinds)[:, None] == row)
    group_means, nearness = (
        (np.arange(size)[:, None] == column) * weight[row],
        1e-3 * np.diag(weight[row] ** 0.5),
    )
    system = np.vstack([whole, group_means, nearness])
    aims = np.concatenate([np.full(kinds, 1e4), aim, nearness @ mean[present]])
    expected = np.zeros_like(mean)
    expected[present] = lsq_linear(system, aims, (0, 1), method="bvls", tol=1e-14).x
    found = shares._nearest(mean, weight, aim)
    assert (found >= 0).all() and not found[~present].any()
    np.testing.assert_allclose(found.sum(1), 1)
    for masses in (
        lambda m: np.linalg.norm(weight @ m - aim),
        lambda m: weight @ ((m - mean) ** 2).sum(1),
    ):
        assert masses(found) <= masses(expected) + 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("groups", [1, 2, 3, 5])
def test_a_layer_gives_each_group_its_mass(dtype, groups):
    """Its attention is a softmax within each group of neighbours, and adds up to what the shares say."""
    torch.manual_seed(0)
    edge_index, sensitive = random_graph(groups=groups)
    found = balanced_shares(sensitive, edge_index, 0.3)
    layer = FairGATConv(5, 8, heads=2, alpha_chi=found, eta=None).to(dtype)
    x = features().to(dtype)
    out, (edges, alpha) = layer(x, edge_index, sensitive, return_attention_weights=True)
    by_group = torch.zeros(N, groups, 2, dtype=dtype).index_put(
        (edges[1], sensitive[edges[0]]), alpha, True
    )
    torch.testing.assert_close(by_group.sum(1), torch.ones(N, 2, dtype=dtype))
    torch.testing.assert_close(
        by_group[..., 0], by_group[..., 1]
    )  # the same in both heads
    means = torch.stack(
        [by_group[sensitive == group, :, 0].mean(0) for group in range(groups)]
    )
    np.testing.assert_allclose(means.detach(), found.reached, atol=1e-5)
    x, source, target = (x @ layer.weight().T).view(N, 2, -1), *edges
    score = (x * layer.att_src).sum(2)[source] + (x * layer.att_dst).sum(2)[target]
    weight = torch.nn.functional.leaky_relu(score, 0.2).exp()
    total = torch.zeros(N, groups, 2, dtype=dtype).index_put(
        (target, sensitive[source]), weight, True
    )
    expected = (
        weight / total[target, sensitive[source]] * by_group[target, sensitive[source]]
    )
    torch.testing.assert_close(alpha, expected)
    torch.testing.assert_close(
        out.view(N, 2, -1) - layer.bias.view(2, -1),
        torch.zeros_like(x).index_add(0, target, alpha[:, :, None] * x[source]),
    )


def test_two_groups_with_one_share_are_alpha_chi(edge_index, sensitive):
    shares = Shares([0, 1], [[0.7, 0.3], [0.3, 0.7]])
    plain, shared = (
        FairGATConv(5, 8, alpha_chi=each, add_self_loops=False)
        for each in (0.3, shares)
    )
    shared.load_state_dict(plain.state_dict())
    one, other = (
        CSRGraph.from_edge_index(edge_index, N, sensitive, False, each)
        for each in (None, shares)
    )
    keep = one.reorder_edges(
        torch.rand(edge_index.size(1), generator=torch.Generator().manual_seed(1)) < 0.6
    )
    for kept in (None, keep):
        torch.testing.assert_close(
            shared(features(), other, keep=kept), plain(features(), one, keep=kept)
        )


def test_shares_stay_what_they_were():
    target = np.full((2, 2), 0.5)
    shares = Shares(np.array([0, 1]), target)
    target[:] = 0
    assert (shares.target == 0.5).all()
    with pytest.raises(ValueError, match="read-only"):
        shares.target[:] = 0


def test_equal_shares_are_one_also_to_the_compiler(edge_index, sensitive, compiler):
    """A copied layer takes a graph that was made with the shares it was copied with."""
    made = balanced_shares(sensitive, edge_index, 0.5)
    again = balanced_shares(sensitive, edge_index, 0.5)
    assert made == again and hash(made) == hash(again)
    assert made != balanced_shares(sensitive, edge_index, 0.25)
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, shares=made)
    layer, x = FairGATConv(5, 8, alpha_chi=again), features()
    expected = layer(x, graph)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, graph), expected)


def test_kinds_that_are_not_listed_take_the_target():
    """As in a sample of the neighbours: the groups that are there share what the others would get."""
    shares = Shares(
        np.array(["a", "b", "c"]), [[0.5, 0.3, 0.2], [0, 0, 1], [0.25, 0.25, 0.5]]
    )
    edge_index = torch.tensor([[1, 1, 2, 0], [0, 1, 1, 2]])
    graph = CSRGraph.from_edge_index(
        edge_index, 4, np.array(["a", "b", "c", "b"]), True, shares
    )
    # Own group first: a's b 3/8; b among b and c gives c all; c's a 1/3; b alone.
    expected = [[5 / 8, 3 / 8, 0], [0, 1, 0], [2 / 3, 1 / 3, 0], [1, 0, 0]]
    torch.testing.assert_close(graph.mass, torch.tensor(expected, dtype=torch.float64))


def test_dropped_edges_leave_their_mass_to_the_groups_that_stay():
    shares = Shares([0, 1, 2], [[0.5, 0.3, 0.2]] * 3)
    edge_index = torch.tensor([[0, 1, 2], [0, 0, 0]])
    graph = CSRGraph.from_edge_index(edge_index, 3, torch.arange(3), False, shares)
    for dtype in (torch.float32, torch.float64):
        layer = FairGATConv(2, 2, alpha_chi=shares, add_self_loops=False).to(dtype)
        for kept, expected in (
            ([1, 1, 0], [5 / 8, 3 / 8, 0]),
            ([0, 1, 1], [0, 3 / 5, 2 / 5]),
            ([0, 0, 0], [0, 0, 0]),
        ):
            keep = torch.tensor(kept).bool()
            _, (_, alpha) = layer(
                torch.randn(3, 2, dtype=dtype),
                graph,
                keep=keep,
                return_attention_weights=True,
            )
            torch.testing.assert_close(alpha[:, 0], torch.tensor(expected, dtype=dtype))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shares([1, 0], np.eye(2)), "ascending order"),
        (lambda: Shares([], np.eye(0)), "1 to 50"),
        (lambda: Shares([0, 1], np.eye(3)), r"need target \(2, 2\)"),
        (
            lambda: Shares([0, 1], np.full((2, 2), np.nan)),
            r"sum to 1, .* got \[nan, nan\]",
        ),
        (
            lambda: Shares([0, 1], [[0.9, 0.9], [0.5, 0.5]]),
            r"sum to 1, .* got \[1.8, 1.0\]",
        ),
        (lambda: Shares([0, 1], np.eye(2), [6], [[1.5, -0.5]]), "no mass below 0"),
        (lambda: Shares([0, 1], np.eye(2), [6], [[3, 3]]), r"got \[1.0, 1.0, 6.0\]"),
        (lambda: balanced_shares([0, 1], torch.zeros(2, 0).long(), 1.5), r"\[-1, 1\]"),
        (lambda: balanced_shares([0, 1], torch.zeros(2, 0).long(), "0.5"), "got '0.5'"),
        (
            lambda: balanced_shares([0, 1], torch.zeros(2, 0).long(), 0.5, False),
            "no node has a neighbour",
        ),
        (
            lambda: CSRGraph.from_edge_index(*graph_of(3), shares=without_loops()),
            "made with add_self_loops=False",
        ),
        (lambda: balanced_shares(range(60), torch.zeros(2, 0).long(), 0.5), "got 60"),
        (
            lambda: CSRGraph.from_edge_index(
                random_graph()[0], N, shares=Shares([0], [[1]])
            ),
            "need `sensitive`",
        ),
        (
            lambda: layer_of_three()(
                features(), random_graph()[0], random_graph(groups=5)[1]
            ),
            r"\[3, 4\]",
        ),
        (
            lambda: layer_of_three()(
                features(), CSRGraph.from_edge_index(*graph_of(3))
            ),
            r"shares=Shares\(3 groups\)",
        ),
        (
            lambda: FairGATConv(5, 2)(
                features(), CSRGraph.from_edge_index(*graph_of(3), shares=three())
            ),
            "shares=None",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def three():
    return Shares([0, 1, 2], np.eye(3))


def without_loops():
    edge_index, _, sensitive = graph_of(3)
    return balanced_shares(sensitive, edge_index, 0.5, add_self_loops=False)


def layer_of_three():
    return FairGATConv(5, 2, alpha_chi=three())


def graph_of(groups):
    edge_index, sensitive = random_graph(groups=groups)
    return edge_index, N, sensitive
