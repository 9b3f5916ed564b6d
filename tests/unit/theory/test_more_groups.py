"""Theorem 1 for any number of groups, and for averages other than attention: docs/theory.md, "More than two groups"."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from fairgat import theory
from fairgat.data.graph import symmetrise
from fairgat.nn.shares import contraction

SOON = settings(max_examples=60, deadline=None, derandomize=True)
SEED = st.integers(0, 2**32 - 1)


def random_graph(seed):
    """(N, F) features with an effect of each of 2 to 5 groups, symmetric edges, and groups of unequal sizes."""
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(2, 6))
    nodes = groups + int(rng.integers(25))
    drawn = rng.choice(groups, nodes - groups, p=rng.dirichlet(np.ones(groups)))
    sensitive = rng.permutation(np.concatenate([np.arange(groups), drawn]))
    edges = symmetrise(rng.integers(nodes, size=(2, int(rng.integers(3 * nodes)))), nodes)
    width = int(rng.integers(1, 6))
    return rng.normal(size=(nodes, width)) + 2 * rng.normal(size=(groups, width))[sensitive], edges, sensitive


def hold(terms):
    slack = 1e-9 * max(1, terms.bound)
    assert terms.delta_out <= terms.bound_sharp + slack <= terms.bound + 2 * slack


@SOON
@given(SEED)
def test_any_average_obeys_them(seed):
    """GraphSAGE's mean of a node and its neighbours; a random walk, where everyone has a neighbour; any weights."""
    (h, edges, sensitive), rng = random_graph(seed), np.random.default_rng(seed)
    adjacency = np.zeros((len(h), len(h)))
    adjacency[edges[1], edges[0]] = 1
    weight = rng.normal(size=(4, h.shape[1]))
    alone = np.diag(adjacency.sum(1) == 0)
    for weights in (adjacency + np.eye(len(h)), adjacency + alone, (adjacency + alone) * rng.random(adjacency.shape)):
        mean = weights / weights.sum(1, keepdims=True)
        out = np.maximum(mean @ h @ weight.T, 0)
        hold(theory.attention_terms("mean", h, out, weight, [csr_matrix(mean)], sensitive))


@SOON
@given(SEED)
def test_layers_compose(seed):
    """tau(AB) <= tau(A) tau(B) <= 1, and of two groups it is Theorem 1's factor."""
    rng = np.random.default_rng(seed)
    a, b = rng.dirichlet(np.full(size := int(rng.integers(2, 7)), rng.random() + 0.1), (2, size))
    assert contraction(a @ b) <= contraction(a) * contraction(b) + 1e-12 <= 1 + 2e-12
    (stay, go), (back, remain) = rng.dirichlet([1, 1], 2)
    assert contraction(np.array([[stay, go], [back, remain]])) == pytest.approx(abs(go + back - 1))


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_the_papers_assumption_means_an_equal_share_for_every_group(groups):
    """Everyone gives the others alpha, spread evenly: tau is 0 at alpha = (K - 1)/K alone, for 1/K to each group."""
    others = (1 - np.eye(groups)) / (groups - 1)
    for alpha in (0.25, 0.5, 0.75, 1.0):
        tau = contraction((1 - alpha) * np.eye(groups) + alpha * others)
        assert tau == pytest.approx(abs(1 - alpha * groups / (groups - 1)))


@pytest.mark.parametrize("retention", [0.5, 0.0, -0.25])
def test_balanced_attention_keeps_its_retention_of_every_difference(retention):
    """B = phi I + (1 - phi) 1 pi': tau is |phi|, and the means of any two groups end phi times as far apart."""
    pi = np.array([0.3, 0.5, 0.2])
    mixing = retention * np.eye(3) + (1 - retention) * pi
    assert contraction(mixing) == pytest.approx(abs(retention))
    means = np.array([[1.0, 2.0], [4.0, 0.5], [2.0, 7.0]])
    for s, t in combinations(range(3), 2):
        np.testing.assert_allclose((mixing @ means)[s] - (mixing @ means)[t], retention * (means[s] - means[t]))


def test_heads_add_up_over_three_groups():
    """Each head may set apart another pair of groups, whose differences add up: with the largest tau alone the bound
    would be 1."""
    h = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # one node a group, all 1 apart
    first, second = np.eye(3)[[1, 0, 0]], np.eye(3)[[2, 0, 0]]  # group 0 reads group 1, or 2, and the others group 0
    out = np.stack([(first @ h)[:, 0], (second @ h)[:, 1]], axis=1)
    terms = theory.attention_terms("", h, out, np.eye(2), [csr_matrix(first), csr_matrix(second)], np.arange(3))
    assert terms.tau == terms.sigma_effective == 1 and terms.delta_in == pytest.approx(1)
    assert terms.delta_out == pytest.approx(np.sqrt(1.75)) and terms.bound == pytest.approx(np.sqrt(2))
