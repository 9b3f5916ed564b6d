"""Shares of attention for any number of groups, and the layer that takes them."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import torch
from graphs import features, random_graph
from scipy.optimize import lsq_linear
from torch import Tensor

from fairgat.data.graph import symmetrise
from fairgat.nn import (
    CSRGraph,
    FairGATConv,
    Shares,
    balanced_shares,
    combined_groups,
    shares,
)

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
    """What is out of reach is said by tau."""
    table = pd.read_csv(data_mirror / f"{name}.csv")
    groups, _ = combined_groups(**{each: table[each].astype(int) for each in columns})
    listed = np.loadtxt(data_mirror / f"{name}_edges.txt").astype(int)
    edges = symmetrise(listed.T, len(table))

    found = [balanced_shares(groups, edges, phi) for phi in PHI]

    balance = np.tile(pi, (len(pi), 1))
    np.testing.assert_allclose(found[2].target, balance, atol=5e-5)
    reached = [each.tau for each in found]
    np.testing.assert_allclose(reached, tau, atol=5e-5)


def test_balance_is_the_papers_share_where_everyone_has_both_kinds():
    nodes = torch.arange(20)
    every_pair = torch.cartesian_prod(nodes, nodes).T

    found = balanced_shares(nodes % 2, every_pair, 0.5)

    np.testing.assert_allclose(found.masses, [[0.75, 0.25], [0.25, 0.75]], atol=1e-6)
    np.testing.assert_allclose(found.reached, 0.5 * np.eye(2) + 0.25, atol=1e-6)
    assert repr(found) == "Shares(2 groups, tau=0.5)"


@dataclass
class Case:
    """Neighbourhoods of some kinds, whose masses are to be found.

    Attributes:
        present: (kinds, groups) which groups are there; the first always is.
        mean: (kinds, groups) masses before.
        weight: (kinds,) how many nodes have each kind, as shares.
        aim: (groups,) what the weighted masses should be.
    """

    present: np.ndarray
    mean: np.ndarray
    weight: np.ndarray
    aim: np.ndarray

    def distance(self, masses):
        """How far the weighted masses are from the aim."""
        return np.linalg.norm(self.weight @ masses - self.aim)

    def change(self, masses):
        """How much masses differ from those before."""
        return self.weight @ ((masses - self.mean) ** 2).sum(1)


def drawn_case(seed):
    rng = np.random.default_rng(seed)
    groups, kinds = rng.integers(2, 5), rng.integers(1, 8)
    present = rng.random((kinds, groups)) < 0.6
    present[:, 0] = True
    mean = rng.random((kinds, groups)) * present
    mean /= mean.sum(1, keepdims=True)
    weight = rng.dirichlet(np.ones(kinds))
    retention = rng.uniform(-1, 1)
    aim = (1 - retention) * rng.dirichlet(np.ones(groups))
    aim[0] += retention
    return Case(present, mean, weight, aim)


def by_least_squares(case):
    """SciPy's bounded least squares over all masses that are present.

    Masses of a kind sum to 1, foremost; then they are as near to the aim as can be;
    and then no farther from those before than need be.
    """
    kinds, groups = case.present.shape
    unknowns = list(zip(*np.nonzero(case.present), strict=True))
    system = np.zeros((kinds + groups + len(unknowns), len(unknowns)))
    aims = np.concatenate([np.full(kinds, 1e4), case.aim, np.zeros(len(unknowns))])
    for number, (kind, group) in enumerate(unknowns):
        own_line = kinds + groups + number
        nearness = 1e-3 * case.weight[kind] ** 0.5
        system[kind, number] = 1e4
        system[kinds + group, number] = case.weight[kind]
        system[own_line, number] = nearness
        aims[own_line] = nearness * case.mean[kind, group]

    solution = lsq_linear(system, aims, (0, 1), method="bvls", tol=1e-14)
    masses = np.zeros_like(case.mean)
    masses[case.present] = solution.x
    return masses


@pytest.mark.parametrize("seed", range(10))
def test_masses_are_the_nearest_ones(seed):
    case = drawn_case(seed)

    found = shares._nearest(case.mean, case.weight, case.aim)

    expected = by_least_squares(case)
    assert (found >= 0).all()
    assert not found[~case.present].any()
    np.testing.assert_allclose(found.sum(1), 1)
    assert case.distance(found) <= case.distance(expected) + 1e-5
    assert case.change(found) <= case.change(expected) + 1e-5


# --------------------------------------------------------------------------- the layer


@dataclass
class Attended:
    """What a layer of two heads with balanced shares gave, and for what."""

    shares: Shares
    layer: FairGATConv
    sensitive: Tensor
    x: Tensor
    out: Tensor
    edges: Tensor
    alpha: Tensor

    def sums(self, of_edges):
        """(N, groups, heads) sums over edges, by the groups of their sources."""
        source, target = self.edges
        groups = len(self.shares.groups)
        sums = torch.zeros(N, groups, 2, dtype=of_edges.dtype)
        place = target, self.sensitive[source]
        return sums.index_put(place, of_edges, accumulate=True)


@pytest.fixture(params=[1, 2, 3, 5], ids=lambda groups: f"{groups} groups")
def attended(request, dtype):
    torch.manual_seed(0)
    edge_index, sensitive = random_graph(groups=request.param)
    found = balanced_shares(sensitive, edge_index, 0.3)
    layer = FairGATConv(5, 8, heads=2, alpha_chi=found, eta=None).to(dtype)
    x = features().to(dtype)
    out, (edges, alpha) = layer(x, edge_index, sensitive, return_attention_weights=True)
    return Attended(found, layer, sensitive, x, out, edges, alpha)


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


@DTYPES
def test_attention_adds_up_to_1_and_groups_have_one_mass_in_all_heads(attended, dtype):
    by_group = attended.sums(attended.alpha)

    torch.testing.assert_close(by_group.sum(1), torch.ones(N, 2, dtype=dtype))
    torch.testing.assert_close(by_group[..., 0], by_group[..., 1])


@DTYPES
def test_a_layer_reaches_what_the_shares_say(attended, dtype):
    by_group = attended.sums(attended.alpha)[..., 0].detach()

    for group, reached in enumerate(attended.shares.reached):
        mean = by_group[attended.sensitive == group].mean(0)
        np.testing.assert_allclose(mean, reached, atol=1e-5)


@DTYPES
def test_within_a_group_of_neighbours_attention_is_a_softmax(attended, dtype):
    layer, (source, target) = attended.layer, attended.edges
    x = (attended.x @ layer.weight().T).view(N, 2, -1)
    of_source = (x * layer.att_src).sum(2)
    of_target = (x * layer.att_dst).sum(2)
    scores = of_source[source] + of_target[target]
    weights = torch.nn.functional.leaky_relu(scores, 0.2).exp()

    place = target, attended.sensitive[source]
    mass = attended.sums(attended.alpha)[place]
    expected = mass * weights / attended.sums(weights)[place]
    torch.testing.assert_close(attended.alpha, expected)


@DTYPES
def test_a_layer_sums_its_neighbours_by_their_attention(attended, dtype):
    layer, (source, target) = attended.layer, attended.edges
    x = (attended.x @ layer.weight().T).view(N, 2, -1)

    messages = attended.alpha[:, :, None] * x[source]
    sums = torch.zeros_like(x).index_add(0, target, messages)
    expected = sums.flatten(1) + layer.bias
    torch.testing.assert_close(attended.out, expected)


@pytest.mark.parametrize("drop", [False, True])
def test_two_groups_with_one_share_are_alpha_chi(drop, edge_index, sensitive):
    shares = Shares([0, 1], [[0.7, 0.3], [0.3, 0.7]])
    plain = FairGATConv(5, 8, alpha_chi=0.3, add_self_loops=False)
    shared = FairGATConv(5, 8, alpha_chi=shares, add_self_loops=False)
    shared.load_state_dict(plain.state_dict())
    one = CSRGraph.from_edge_index(edge_index, N, sensitive, False)
    other = CSRGraph.from_edge_index(edge_index, N, sensitive, False, shares)
    keep = None
    if drop:
        generator = torch.Generator().manual_seed(1)
        is_kept = torch.rand(edge_index.size(1), generator=generator) < 0.6
        keep = one.reorder_edges(is_kept)

    expected = plain(features(), one, keep=keep)
    torch.testing.assert_close(shared(features(), other, keep=keep), expected)


def test_shares_stay_what_they_were():
    target = np.full((2, 2), 0.5)
    shares = Shares(np.array([0, 1]), target)
    target[:] = 0
    assert (shares.target == 0.5).all()
    # Graphs are cached by them, and copies are equal to what they were copied from.
    for each in (shares, copy.deepcopy(shares), pickle.loads(pickle.dumps(shares))):
        assert each == shares
        with pytest.raises(ValueError, match="read-only"):
            each.target[:] = 0


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
    """As in a sample of neighbours: those that are there share what is left."""
    target = [[0.5, 0.3, 0.2], [0, 0, 1], [0.25, 0.25, 0.5]]
    shares = Shares(np.array(["a", "b", "c"]), target)
    edge_index = torch.tensor([[1, 1, 2, 0], [0, 1, 1, 2]])
    groups = np.array(["a", "b", "c", "b"])

    graph = CSRGraph.from_edge_index(edge_index, 4, groups, True, shares)

    # Own group first: a's b 3/8; b among b and c gives c all; c's a 1/3; b alone.
    expected = [[5 / 8, 3 / 8, 0], [0, 1, 0], [2 / 3, 1 / 3, 0], [1, 0, 0]]
    torch.testing.assert_close(graph.mass, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([True, True, False], [5 / 8, 3 / 8, 0]),
        ([False, True, True], [0, 3 / 5, 2 / 5]),
        ([False, False, False], [0, 0, 0]),
    ],
)
def test_dropped_edges_leave_their_mass_to_the_groups_that_stay(kept, expected, dtype):
    shares = Shares([0, 1, 2], [[0.5, 0.3, 0.2]] * 3)
    edge_index = torch.tensor([[0, 1, 2], [0, 0, 0]])
    graph = CSRGraph.from_edge_index(edge_index, 3, torch.arange(3), False, shares)
    layer = FairGATConv(2, 2, alpha_chi=shares, add_self_loops=False).to(dtype)
    x, keep = torch.randn(3, 2, dtype=dtype), torch.tensor(kept)

    _, (_, alpha) = layer(x, graph, keep=keep, return_attention_weights=True)

    torch.testing.assert_close(alpha[:, 0], torch.tensor(expected, dtype=dtype))


# ---------------------------------------------------------------- what does not fit

NO_EDGES = torch.zeros(2, 0).long()


def three():
    return Shares([0, 1, 2], np.eye(3))


def graph_of_three():
    edge_index, sensitive = random_graph(groups=3)
    return edge_index, N, sensitive


def made_without_loops():
    """A graph with self-loops, with shares that were found without them."""
    edge_index, _, sensitive = graph_of_three()
    found = balanced_shares(sensitive, edge_index, 0.5, add_self_loops=False)
    return CSRGraph.from_edge_index(edge_index, N, sensitive, shares=found)


def of_three(*graph):
    return FairGATConv(5, 2, alpha_chi=three())(features(), *graph)


REFUSED = {
    "groups in another order": (lambda: Shares([1, 0], np.eye(2)), "ascending order"),
    "no groups": (lambda: Shares([], np.eye(0)), "1 to 50"),
    "a group too many": (lambda: Shares([0, 1], np.eye(3)), r"need target \(2, 2\)"),
    "NaN": (
        lambda: Shares([0, 1], np.full((2, 2), np.nan)),
        r"sum to 1, .* got \[nan, nan\]",
    ),
    "more than all": (
        lambda: Shares([0, 1], [[0.9, 0.9], [0.5, 0.5]]),
        r"sum to 1, .* got \[1.8, 1.0\]",
    ),
    "a mass below 0": (
        lambda: Shares([0, 1], np.eye(2), [6], [[1.5, -0.5]]),
        "no mass below 0",
    ),
    "masses of more than all": (
        lambda: Shares([0, 1], np.eye(2), [6], [[3, 3]]),
        r"got \[1.0, 1.0, 6.0\]",
    ),
    "a mass for a group that is not there": (
        lambda: Shares([0, 1], np.eye(2), [2, 6], [[0.5, 0.5], [0.5, 0.5]]),
        r"those of \[2\] to others",
    ),
    "no kind": (lambda: Shares([0, 1], np.eye(2), [8], [[1, 0]]), "kinds_of"),
    "a retention above 1": (
        lambda: balanced_shares([0, 1], NO_EDGES, 1.5),
        r"\[-1, 1\]",
    ),
    "a retention as text": (
        lambda: balanced_shares([0, 1], NO_EDGES, "0.5"),
        "got '0.5'",
    ),
    "no neighbours": (
        lambda: balanced_shares([0, 1], NO_EDGES, 0.5, False),
        "no node has a neighbour",
    ),
    "sixty groups": (lambda: balanced_shares(range(60), NO_EDGES, 0.5), "got 60"),
    "shares without self-loops": (
        made_without_loops,
        "made with add_self_loops=False",
    ),
    "shares without groups": (
        lambda: CSRGraph.from_edge_index(
            random_graph()[0], N, shares=Shares([0], [[1]])
        ),
        "need `sensitive`",
    ),
    "groups without shares": (
        lambda: of_three(random_graph()[0], random_graph(groups=5)[1]),
        r"\[3, 4\]",
    ),
    "a graph without the shares": (
        lambda: of_three(CSRGraph.from_edge_index(*graph_of_three())),
        r"shares=Shares\(3 groups\)",
    ),
    "a layer without the shares": (
        lambda: FairGATConv(5, 2)(
            features(), CSRGraph.from_edge_index(*graph_of_three(), shares=three())
        ),
        "shares=None",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
