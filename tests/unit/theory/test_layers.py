"""Terms and bounds hold what Theorem 1, Lemma 1 and docs/theory.md promise.

On random layers and graphs, and by hand.
"""

import copy

import further
import numpy as np
import pytest
import torch
from dense import LINK, make, small_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from fairgat import theory
from fairgat.config import NodeTraining
from fairgat.data.graph import symmetrise
from fairgat.errors import DataError, NotDefined
from fairgat.groups import contraction
from fairgat.nn import CSRGraph, FairGATConv, GATConv
from fairgat.training.loop import fit

SOON = settings(max_examples=60, deadline=None, derandomize=True)
SEED = st.integers(0, 2**32 - 1)
GROUPS = st.sampled_from([2, 2, 3, 4, 5])


def random_graph(seed, groups=2):
    """(N, F) features with an effect of each group, symmetric edges, and groups.

    In double precision.
    """
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(groups, 25))
    even = rng.random() < 0.5  # or groups of one node, but for the last
    place = np.arange(nodes)
    known = place % groups if even else place.clip(max=groups - 1)
    sensitive = rng.permutation(known)
    drawn = rng.integers(nodes, size=(2, int(rng.integers(3 * nodes))))
    edges = symmetrise(drawn, nodes)
    width = int(rng.integers(1, 9))
    noise, effects = rng.normal(size=(nodes, width)), rng.normal(size=(groups, width))
    x = noise + 2 * effects[sensitive]
    return torch.from_numpy(x), torch.from_numpy(edges), torch.from_numpy(sensitive)


def csr(conv, edges, sensitive, add_self_loops=True):
    fair = getattr(conv, "alpha_chi", None) is not None
    groups = sensitive if fair else None
    return CSRGraph.from_edge_index(edges, len(sensitive), groups, add_self_loops)


def random_layer(seed, inputs, **options):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    heads, width = int(rng.integers(1, 3)), int(rng.integers(1, 9))
    options = {"heads": heads, "out_channels": width} | options
    steps = {
        "alpha_chi": [None, 0.0, 0.4, 1.0],
        "spectral_norm": [False, True],
        "eta": [None, 0.75],
    }
    drawn = {name: values[rng.integers(len(values))] for name, values in steps.items()}
    if options.pop("fair", rng.random() < 0.7):
        drawn["center"] = bool(rng.integers(2))
        conv = FairGATConv(inputs, **drawn | options)
    else:
        conv = GATConv(inputs, **options)
    with torch.no_grad():
        conv.bias.normal_()
        conv.att_src.mul_(3)
    return conv.double().eval()


def terms_of(conv, x, edges, sensitive, **options):
    graph = csr(conv, edges, sensitive)
    return theory.attention_layer("conv", conv, x, graph, sensitive, **options)


def hold(terms, tolerance=1e-9):
    slack = tolerance * max(1, terms.bound)
    assert terms.delta_out <= terms.bound_sharp + slack <= terms.bound + 2 * slack


@SOON
@given(SEED, GROUPS)
def test_the_corrected_bounds_hold_on_random_layers_and_graphs(seed, groups):
    """GAT and FairGAT, any steps, one head or two, with bias and ReLU.

    Some nodes are isolated, some groups of one node.
    """
    x, edges, sensitive = random_graph(seed, groups=groups)
    terms = terms_of(random_layer(seed, x.size(1)), x, edges, sensitive)
    hold(terms)
    assert (terms.bound_printed is None) == (groups > 2)


@SOON
@given(SEED, GROUPS)
def test_any_average_obeys_the_bounds(seed, groups):
    """GraphSAGE's mean of a node and its neighbours; a random walk; any weights."""
    h, edges, sensitive = (each.numpy() for each in random_graph(seed, groups=groups))
    rng = np.random.default_rng(seed)
    adjacency = np.zeros((len(h), len(h)))
    adjacency[edges[1], edges[0]] = 1
    weight = rng.normal(size=(4, h.shape[1]))
    alone = np.diag(adjacency.sum(1) == 0)
    with_itself, walk = adjacency + np.eye(len(h)), adjacency + alone
    for weights in (with_itself, walk, walk * rng.random(adjacency.shape)):
        mean = weights / weights.sum(1, keepdims=True)
        out, attention = np.maximum(mean @ h @ weight.T, 0), [csr_matrix(mean)]
        hold(theory.attention_terms("mean", h, out, weight, attention, sensitive))


@SOON
@given(SEED)
def test_theorem_1_holds_as_printed_under_its_assumptions(seed):
    """Fair attention (A2), no S3, one head, and at least as many nodes as features."""
    x, edges, sensitive = random_graph(seed)
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, len(x) + 1))
    conv = random_layer(
        seed, x.size(1), fair=True, alpha_chi=0.4, eta=None, heads=1, out_channels=width
    )
    terms = terms_of(conv, x, edges, sensitive)
    assert terms.tau == pytest.approx(terms.factor_printed, abs=1e-9)
    assert terms.delta_out <= terms.bound_printed + 1e-9 * max(1, terms.bound_printed)


@SOON
@given(SEED, st.booleans())
def test_lemma_1_holds_on_random_linear_layers(seed, sigmoid):
    rng = np.random.default_rng(seed)
    nodes, width = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    sensitive = rng.permutation(np.arange(nodes) % 2)
    h, weight = rng.normal(size=(nodes, 4)) * 3, rng.normal(size=(width, 4))
    bias = rng.normal(size=width)
    eta = rng.choice([None, 0.75])
    z = h @ weight.T
    if eta is not None:
        z = eta * z / z.std(0)
    out = z + bias
    if sigmoid:
        out = 1 / (1 + np.exp(-out))
    terms = theory.linear_terms("fc", h, out, weight, sensitive, eta, sigmoid)
    hold(terms, 1e-5)
    if eta is None and nodes >= width:
        assert terms.delta_out <= terms.bound_printed + 1e-5 * max(1, terms.bound)


def test_terms_by_hand():
    """Two nodes per group; an inter-edge joins the first of each; uniform attention."""
    h = np.array([[0.0], [2.0], [4.0], [8.0]])
    attention = np.array(
        [[0.5, 0, 0.5, 0], [0, 1, 0, 0], [0.25, 0, 0.75, 0], [0, 0, 0, 1]]
    )
    z = 3 * attention @ h
    out, weight = np.maximum(z, 0), np.array([[3.0]])
    sensitive = np.array([0, 0, 1, 1])
    heads = [csr_matrix(attention)]
    terms = theory.attention_terms("by hand", h, out, weight, heads, sensitive)
    assert (terms.delta_in, terms.delta_out) == (5, 10.5)  # means 1 and 6; 6 and 16.5
    assert (terms.r_0, terms.r_1) == (0.5, 0.5)
    assert (terms.alpha_chi, terms.alpha_chi_std) == (0.375, 0.125)
    assert (terms.sigma_max, terms.sigma_effective) == (3, 3)
    # c is 0, 6, 12, 24; z is 6, 6, 9, 24
    assert (terms.delta_c, terms.delta_z) == (6, 7.5)
    assert terms.factor_printed == terms.tau == pytest.approx(0.625)
    assert terms.bound_printed == pytest.approx(3 * 0.625 * 5 + 4 * (6 + 7.5))
    assert terms.bound == pytest.approx(3 * 0.625 * 5 + 2 * (6 + 7.5))
    # sharp: aggregated |dev| of c are 4.5, 3, 5.25, 6, of z 0, 0, 7.5, 7.5
    assert terms.bound_sharp == pytest.approx(3 * 0.625 * 5 + (3.75 + 5.625) + 7.5)
    assert terms.composed == terms.bound


def test_terms_with_s3_by_hand():
    """W~ and c~ contain both of S3's factors."""
    rng = np.random.default_rng(0)
    h, attention, eta = rng.normal(size=(4, 2)), rng.dirichlet(np.ones(4), size=4), 0.75
    heads, sensitive = [csr_matrix(attention)], np.array([0, 0, 1, 1])
    terms = theory.attention_terms("", h, h, np.eye(2), heads, sensitive, eta)
    gain_c = eta / h.std(0)
    c = gain_c * h
    z = attention @ c
    gain_z = eta / z.std(0)

    def largest(values):
        halves = values.reshape(2, 2, 2)  # (group, node, feature)
        return np.abs(halves - halves.mean(1, keepdims=True)).max()

    assert terms.delta_c == pytest.approx(largest(c))
    assert terms.delta_c_effective == pytest.approx(largest(gain_z * c))
    assert terms.delta_z == pytest.approx(largest(gain_z * z))
    assert terms.sigma_max == 1
    assert terms.sigma_effective == pytest.approx(max(gain_z * gain_c))


def test_the_worst_head_counts():
    """The first head alone carries something, and it gives inter-edges nothing.

    So the disparity passes unchanged.
    """
    h, sensitive = np.array([[1.0], [3.0]]), np.array([0, 1])
    heads = [csr_matrix(np.eye(2)), csr_matrix(np.full((2, 2), 0.5))]
    out, weight = np.array([[1.0, 0], [3, 0]]), np.array([[1.0], [0.0]])
    terms = theory.attention_terms("", h, out, weight, heads, sensitive)
    assert terms.delta_out == terms.bound == 2


@pytest.mark.parametrize(("eta", "scale"), [(None, 0.1), (0.02, 0.1), (0.02, 1e-4)])
def test_lemma_1_is_nearly_attained_by_a_sigmoid(eta, scale):
    """Around 0 the sigmoid's slope is 1/4; S3's factor belongs to the weight."""
    sensitive = np.array([0, 0, 1, 1])
    h = scale * (2 * sensitive[:, None] - 1.0)
    z = h if eta is None else eta * h / h.std()
    out = 1 / (1 + np.exp(-z))
    terms = theory.linear_terms("fc", h, out, np.eye(1), sensitive, eta, sigmoid=True)
    assert terms.delta_out == pytest.approx(np.ptp(z) / 4, rel=1e-2)
    assert terms.bound == terms.bound_sharp == pytest.approx(terms.delta_out, rel=1e-2)


def test_bounds_of_two_layers_compose():
    h, sensitive = np.array([[1.0], [3.0]]), np.array([0, 1])
    heads = [csr_matrix(np.eye(2))]
    first = theory.attention_terms("1", h, h, np.eye(1), heads, sensitive)
    h, weight = np.array([[1.0], [2.0]]), np.array([[2.0]])
    out = np.array([2.0, 4.0])
    second = theory.linear_terms("2", h, out, weight, sensitive, before=first)
    assert second.bound == 2
    assert second.composed == 2 * first.composed == 4


@SOON
@given(SEED)
def test_mixing_in_two_layers_contracts_twice(seed):
    """tau(AB) <= tau(A) tau(B) <= 1, and of two groups it is Theorem 1's factor."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    a, b = rng.dirichlet(np.full(size, rng.random() + 0.1), (2, size))
    apart = contraction(a) * contraction(b)
    assert contraction(a @ b) <= apart + 1e-12 <= 1 + 2e-12
    of_two = rng.dirichlet([1, 1], 2)
    factor = of_two[0, 1] + of_two[1, 0] - 1
    assert contraction(of_two) == pytest.approx(abs(factor))
    of_three = np.array([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0, 1]])
    assert contraction(of_three) == pytest.approx(1)


def test_heads_add_up_over_three_groups():
    """Each head may set apart another pair of groups, whose differences add up.

    With the largest tau alone the bound would be 1.
    """
    # One node a group, all 1 apart.
    h = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    # Group 0 reads group 1, or 2, and the others group 0.
    first, second = np.eye(3)[[1, 0, 0]], np.eye(3)[[2, 0, 0]]
    out = np.stack([first @ h[:, 0], second @ h[:, 1]], axis=1)
    heads = [csr_matrix(first), csr_matrix(second)]
    terms = theory.attention_terms("", h, out, np.eye(2), heads, np.arange(3))
    assert terms.tau == terms.sigma_effective == 1
    assert terms.delta_in == pytest.approx(1)
    assert terms.delta_out == pytest.approx(np.sqrt(1.75))
    assert terms.bound == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("module", ["gat", "fairgat", "nifty", "fairgnn"])
def test_every_node_method_can_be_measured(module):
    method = make(module, small_graph(90, 400), NodeTraining(epochs=6, hidden=8))
    fit(method)
    mode, before = method.model.training, copy.deepcopy(method.model.state_dict())
    measured = theory.measure(method)
    layers = ["conv1", "conv2", "logit", "probability"]
    assert [terms.layer for terms in measured] == layers
    for terms in measured:
        slack = 1e-4 * max(1, terms.bound)
        hold(terms, 1e-4)
        assert terms.delta_out <= terms.composed_sharp + slack
        assert terms.composed_sharp <= terms.composed + slack
    assert method.model.training == mode
    for name, weight in method.model.state_dict().items():
        assert torch.equal(before[name], weight)


def test_link_prediction_is_refused_and_adds_nothing_to_a_history():
    method = make("gat", small_graph(60, 300), LINK)
    with pytest.raises(NotDefined, match="LinkEncoder"):
        theory.measure(method)
    assert theory.measure_every(2)(4, method) == {}


@pytest.mark.parametrize("sensitive", [[0, 0, 0], [0, 2, 2]])
def test_at_least_two_groups_are_needed_numbered_without_a_gap(sensitive):
    h, out, weight = np.eye(3), np.ones(3), np.ones((1, 3))
    with pytest.raises(DataError, match="two or more groups"):
        theory.linear_terms("fc", h, out, weight, np.array(sensitive))


@pytest.mark.parametrize("options", [{"residual": True}, {"heads": 2, "concat": False}])
def test_layers_outside_the_theorem_are_refused(options):
    x, edges, sensitive = random_graph(0)
    conv = GATConv(x.size(1), 2, **options).double()
    with pytest.raises(ValueError, match="theorem"):
        terms_of(conv, x, edges, sensitive)
    mean_of_one_head = GATConv(x.size(1), 2, concat=False).double()
    terms_of(mean_of_one_head, x, edges, sensitive)


VARIANTS = further.method("fairgat_variants")


@pytest.mark.parametrize("changed", [{"deviation": "robust"}, {"outliers": "clipped"}])
@pytest.mark.parametrize("measure", [theory.measure, theory.account])
def test_a_layer_that_scales_otherwise_is_refused(measure, changed):
    with pytest.raises(NotDefined, match="scales features otherwise than by step 3"):
        measure(make(VARIANTS, small_graph(60, 300), **changed))
    measure(make(VARIANTS, small_graph(60, 300), deviation="constant"))


@pytest.mark.parametrize("module", ["gat", "fairgat"])
def test_attention_that_does_not_sum_to_1_is_refused(module):
    x, edges, sensitive = random_graph(0)
    edges = edges[:, edges[1] != 0]  # nobody's attention
    layer = FairGATConv if module == "fairgat" else GATConv
    conv = layer(x.size(1), 2, add_self_loops=False).double()
    graph = csr(conv, edges, sensitive, add_self_loops=False)
    with pytest.raises(NotDefined, match="attention to sum to 1"):
        theory.attention_layer("conv", conv, x, graph, sensitive)
