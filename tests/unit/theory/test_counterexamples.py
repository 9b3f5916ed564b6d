"""Where Theorem 1, and what the paper concludes from it, fail as printed.

One small example each, as in docs/theory.md, with the corrected bound beside it. And
where S3 follows, S2 changes nothing.
"""

import numpy as np
import pytest
import torch
from dense import assert_train_alike, make, small_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from torch.nn.utils.parametrize import register_parametrization

from fairgat import theory
from fairgat.data.graph import alpha_chi, r_chi, symmetrise
from fairgat.measures.metrics import node_metrics
from fairgat.nn import CSRGraph, FairGATConv, GATConv


def layer(h, attention, sensitive, weight=None, **options):
    """The terms of a hand-made layer with ReLU."""
    weight = np.eye(h.shape[1]) if weight is None else weight
    out = np.maximum(np.asarray(attention) @ h @ weight.T, 0)
    return theory.attention_terms(
        "by hand",
        h,
        out,
        weight,
        [csr_matrix(np.asarray(attention, dtype=float))],
        np.asarray(sensitive),
        **options,
    )


def terms_of(conv, x, edges, sensitive):
    """The terms of a layer whose graph is cut by group where its attention is fair."""
    groups = sensitive if isinstance(conv, FairGATConv) else None
    graph = CSRGraph.from_edge_index(edges, len(x), groups, conv.add_self_loops)
    return theory.attention_layer("conv", conv, x, graph, sensitive)


def uniform(conv):
    """No scores, W = I, no bias: attention is uniform within each segment."""
    with torch.no_grad():
        conv.att_src.zero_(), conv.att_dst.zero_()
        conv.lin.weight.copy_(torch.eye(conv.in_channels))
    return conv.double().eval()


def undirected(*pairs):
    nodes = max(map(max, pairs)) + 1
    return torch.from_numpy(symmetrise(np.array(pairs).T, nodes))


def test_sqrt_n_must_be_sqrt_f():
    """Self-loops alone, features of ±1: by ReLU the disparity is sqrt(F) / 2."""
    h = np.stack([np.ones(256), -np.ones(256), np.zeros(256)])
    terms = layer(h, np.eye(3), [0, 0, 1])
    assert terms.delta_out == pytest.approx(8)
    assert terms.bound_printed == pytest.approx(4 * np.sqrt(3))
    assert terms.delta_out > terms.bound_printed  # A2 holds: no inter-edges
    assert terms.delta_out <= terms.bound_sharp <= terms.bound


def test_a2_is_needed_and_gat_lacks_it():
    """A star, whose groups give their inter-edges different shares.

    One alpha_chi for both is not their sum.
    """
    sensitive = torch.tensor([1, 0, 0, 0])
    x = 1 + sensitive[:, None].double()
    conv = uniform(GATConv(1, 1))
    terms = terms_of(conv, x, undirected((0, 1), (0, 2), (0, 3)), sensitive)
    assert terms.alpha_chi == pytest.approx((3 / 4 + 3 * 1 / 2) / 4)
    assert terms.delta_c == terms.delta_z == 0
    assert terms.delta_out == pytest.approx(0.25)
    assert terms.bound_printed == pytest.approx(0.125)
    assert terms.bound == pytest.approx(0.25)  # a_0 + a_1 - 1 = 1/2 + 3/4 - 1


def test_a2_for_every_node_would_leave_no_inter_attention():
    """A2 says "every node", but one without inter-edges gives them nothing.

    The proof uses S^chi alone.
    """
    sensitive = torch.tensor([0, 0, 1])
    conv, edges = (
        FairGATConv(1, 1, alpha_chi=0.5, eta=None).double(),
        undirected((0, 1), (1, 2)),
    )
    _, (edges, alpha) = conv(
        torch.rand(3, 1).double(), edges, sensitive, return_attention_weights=True
    )
    inter = (sensitive[edges[0]] != sensitive[edges[1]]).double()
    given = torch.zeros(3).double().index_add(0, edges[1], alpha[:, 0].detach() * inter)
    assert given.tolist() == pytest.approx([0, 0.5, 0.5])


def test_fair_attention_as_printed_does_not_sum_to_1():
    """By Eq. 10 without self-loops, groups that start alike end apart.

    It gives a node alpha_chi in all if its neighbours are all in the other group, and
    alpha_omega if they are all in its own. The proof gives both 1.
    """
    sensitive = [0, 0, 0, 1]
    h = np.full((4, 2), 3.0)
    share = 0.4
    printed = [  # 0: neighbours 1, 2 (intra); 1: 0 and 3; 2: 0 and 3; 3: 1, 2 (inter)
        [0, (1 - share) / 2, (1 - share) / 2, 0],
        [1 - share, 0, 0, share],
        [1 - share, 0, 0, share],
        [0, share / 2, share / 2, 0],
    ]
    out = np.array(printed) @ h
    assert theory.disparity(h, np.array(sensitive)) == 0
    assert theory.disparity(out, np.array(sensitive)) > 1
    conv = uniform(
        FairGATConv(
            2, 2, alpha_chi=share, eta=None, spectral_norm=False, add_self_loops=False
        )
    )
    edges = undirected((0, 1), (0, 2), (1, 3), (2, 3))
    terms = terms_of(conv, torch.from_numpy(h), edges, torch.tensor(sensitive))
    assert (
        terms.delta_out == pytest.approx(terms.bound, abs=1e-12) == 0
    )  # our layer gives a lone segment all


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 2))
def test_with_s3_no_training_makes_the_bound_small(seed, eta):
    """bound^2 + |z_0 - z_1|^2 >= 4 F eta^2.

    Features of fixed variance differ inside the groups or between them.
    """
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    sensitive = torch.from_numpy(rng.permutation(np.arange(20) % 2))
    edges = torch.from_numpy(symmetrise(rng.integers(20, size=(2, 50)), 20))
    x = torch.from_numpy(
        rng.normal(size=(20, 6)) + rng.normal() * sensitive.numpy()[:, None]
    )
    conv = FairGATConv(6, 4, alpha_chi=0.4, eta=eta).double().eval()
    terms = terms_of(conv, x, edges, sensitive)
    aggregated = theory.disparity(
        conv(x, edges, sensitive).detach().numpy(), sensitive.numpy()
    )
    assert terms.bound**2 + aggregated**2 >= 4 * 4 * eta**2 * (1 - 1e-6)


def test_eta_on_c_and_on_z_is_eta_squared_on_delta_z():
    """S3 as Algorithm 1 prints it: Z is made of the C that is already scaled.

    Without the appendix's normalisation.
    """
    rng = np.random.default_rng(0)
    sensitive, h = np.array([0, 0, 1, 1]), rng.normal(size=(4, 3))
    attention = rng.dirichlet(np.ones(4), size=4)
    eta = 0.5
    plain, scaled = attention @ h, eta * (attention @ (eta * h))

    def largest(values):
        return layer(values, np.eye(4), sensitive).delta_z

    assert largest(scaled) == pytest.approx(eta**2 * largest(plain))
    assert largest(scaled) < 0.9 * eta * largest(plain)


def test_delta_y_is_not_statistical_parity():
    """P(c = 1 | y) = y holds for random decisions; the metric cuts y at one half."""
    y, sensitive = np.array([0.51, 0.51, 0.49, 0.49]), np.array([0, 0, 1, 1])
    assert theory.disparity(y, sensitive) == pytest.approx(0.02)
    assert node_metrics(y > 0.5, sensitive, sensitive)["statistical_parity"] == 1


def test_the_best_factor_can_make_a_disparity_from_none():
    """S1 minimises a bound, not the disparity.

    The groups' means are equal, but the node with the inter-edge is not at the mean.
    """
    sensitive = torch.tensor([0, 0, 1])
    edges = undirected((0, 1), (1, 2))
    x = torch.tensor([[1.0], [3.0], [2.0]]).double()  # both means are 2
    share = alpha_chi(r_chi(sensitive.numpy(), edges.numpy()), 1.0)
    assert share == pytest.approx(2 / 3)
    found = {}
    for value in (0.0, share):
        conv = uniform(
            FairGATConv(1, 1, alpha_chi=value, eta=None, spectral_norm=False)
        )
        found[value] = terms_of(conv, x, edges, sensitive)
    assert found[share].tau == pytest.approx(0)
    assert found[0.0].tau == 1
    assert found[0.0].delta_out == 0
    assert found[share].delta_out == pytest.approx(2 / 3)


class Divided(torch.nn.Module):
    """S2 with an estimate of the spectral norm; the gradient flows through it, too."""

    def __init__(self, order):
        super().__init__()
        self.order = order

    def forward(self, weight):
        return weight / torch.linalg.matrix_norm(weight, self.order)


def pair(order, **settings):
    """The same method without step 2, and with it written out.

    Both have the same initial weights, and Adam decays them.
    """
    graph = small_graph()
    without, divided = (make("fairgat", graph, **settings) for _ in range(2))
    model = divided.model
    for layer in (model.conv1.lin, model.conv2.lin, model.linear):
        register_parametrization(layer, "weight", Divided(order))
    divided.optimizer = divided.adam(model.parameters())
    return without, divided


@pytest.mark.parametrize("order", [2, "fro"], ids=["exact", "another norm"])
@pytest.mark.parametrize(
    "settings", [{"steps": [1, 3]}, {"steps": [3], "center": True}], ids=str
)
def test_step_two_is_void_where_step_three_follows(double, order, settings):
    without, divided = pair(order, eta=0.75, **settings)
    with torch.no_grad():
        for method in (without, divided):
            method.model.conv1.bias.fill_(0.3)
    assert_train_alike(without, divided, epochs=30, atol=1e-8)


def test_step_two_is_not_void_without_step_three(double):
    without, divided = pair(2, steps=[1])
    assert not torch.allclose(without.forward(), divided.forward(), atol=1e-3)


def test_fairgat_is_steps_one_and_three(double):
    """Step 2 is void in the project's own layers, too.

    The paper's row Steps 1&3 is its row FairGAT, and Steps 2&3 is step 3 alone.
    """
    for both, alone in (([1, 2, 3], [1, 3]), ([2, 3], [3])):
        first, second = (
            make("fairgat", small_graph(), steps=steps) for steps in (both, alone)
        )
        assert_train_alike(first, second, epochs=30, atol=1e-8)
