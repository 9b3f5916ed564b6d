"""The terms and bounds hold what Theorem 1, Lemma 1 and docs/theory.md promise, on random layers and graphs."""

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
    """(N, F) features with an effect of each group, symmetric edges, and groups from 0 on, all in double precision."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(groups, 25))
    even = rng.random() < 0.5  # or groups of one node, but for the last
    sensitive = rng.permutation(
        np.arange(nodes) % groups if even else np.arange(nodes).clip(max=groups - 1)
    )
    edges = symmetrise(
        rng.integers(nodes, size=(2, int(rng.integers(3 * nodes)))), nodes
    )
    width = int(rng.integers(1, 9))
    x = (
        rng.normal(size=(nodes, width))
        + 2 * rng.normal(size=(groups, width))[sensitive]
    )
    return torch.from_numpy(x), torch.from_numpy(edges), torch.from_numpy(sensitive)


def csr(conv, edges, sensitive, add_self_loops=True):
    fair = getattr(conv, "alpha_chi", None) is not None
    return CSRGraph.from_edge_index(
        edges, len(sensitive), sensitive if fair else None, add_self_loops
    )


def random_layer(seed, inputs, **options):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    options = {
        "heads": int(rng.integers(1, 3)),
        "out_channels": int(rng.integers(1, 9)),
        **options,
    }
    steps = {
        "alpha_chi": [None, 0.0, 0.4, 1.0],
        "spectral_norm": [False, True],
        "eta": [None, 0.75],
    }
    drawn = {name: values[rng.integers(len(values))] for name, values in steps.items()}
    if options.pop("fair", rng.random() < 0.7):
        conv = FairGATConv(
            inputs, **{**drawn, "center": bool(rng.integers(2)), **options}
        )
    else:
        conv = GATConv(inputs, **options)
    with torch.no_grad():
        conv.bias.normal_()
        conv.att_src.mul_(3)
    return conv.double().eval()


def terms_of(conv, x, edges, sensitive, **options):
    return theory.attention_layer(
        "conv", conv, x, csr(conv, edges, sensitive), sensitive, **options
    )


def hold(terms, tolerance=1e-9):
    slack = tolerance * max(1, terms.bound)
    assert terms.delta_out <= terms.bound_sharp + slack <= terms.bound + 2 * slack


@SOON
@given(SEED, GROUPS)
def test_the_corrected_bounds_hold_on_random_layers_and_graphs(seed, groups):
    """GAT and FairGAT, any steps, one head or two, with bias and ReLU, isolated nodes, groups of one node."""
    x, edges, sensitive = random_graph(seed, groups=groups)
    terms = terms_of(random_layer(seed, x.size(1)), x, edges, sensitive)
    hold(terms)
    assert (terms.bound_printed is None) == (groups > 2)


@SOON
@given(SEED, GROUPS)
def test_any_average_obeys_the_bounds(seed, groups):
    """GraphSAGE's mean of a node and its neighbours; a random walk, where everyone has a neighbour; any weights."""
    h, edges, sensitive = (each.numpy() for each in random_graph(seed, groups=groups))
    rng = np.random.default_rng(seed)
    adjacency = np.zeros((len(h), len(h)))
    adjacency[edges[1], edges[0]] = 1
    weight = rng.normal(size=(4, h.shape[1]))
    alone = np.diag(adjacency.sum(1) == 0)
    for weights in (
        adjacency + np.eye(len(h)),
        adjacency + alone,
        (adjacency + alone) * rng.random(adjacency.shape),
    ):
        mean = weights / weights.sum(1, keepdims=True)
        out = np.maximum(mean @ h @ weight.T, 0)
        hold(
            theory.attention_terms(
                "mean", h, out, weight, [csr_matrix(mean)], sensitive
            )
        )


@SOON
@given(SEED)
def test_theorem_1_holds_as_printed_under_its_assumptions(seed):
    """Fair attention (A2), no S3, one head, and at least as many nodes as features."""
    x, edges, sensitive = random_graph(seed)
    width = int(np.random.default_rng(seed).integers(1, len(x) + 1))
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
    h, weight, bias = (
        rng.normal(size=(nodes, 4)) * 3,
        rng.normal(size=(width, 4)),
        rng.normal(size=width),
    )
    eta = rng.choice([None, 0.75])
    z = h @ weight.T
    z = z if eta is None else eta * z / z.std(0)
    out = 1 / (1 + np.exp(-z - bias)) if sigmoid else z + bias
    terms = theory.linear_terms("fc", h, out, weight, sensitive, eta, sigmoid)
    hold(terms, 1e-5)
    if eta is None and nodes >= width:
        assert terms.delta_out <= terms.bound_printed + 1e-5 * max(1, terms.bound)


def test_terms_by_hand():
    """Two nodes per group, an inter-edge between the first of each, uniform attention."""
    h = np.array([[0.0], [2.0], [4.0], [8.0]])
    attention = np.array(
        [[0.5, 0, 0.5, 0], [0, 1, 0, 0], [0.25, 0, 0.75, 0], [0, 0, 0, 1]]
    )
    z = 3 * attention @ h
    terms = theory.attention_terms(
        "by hand",
        h,
        np.maximum(z, 0),
        np.array([[3.0]]),
        [csr_matrix(attention)],
        np.array([0, 0, 1, 1]),
    )
    assert (terms.delta_in, terms.delta_out) == (5, 10.5)  # means 1 and 6; 6 and 16.5
    assert (terms.r_0, terms.r_1, terms.alpha_chi, terms.alpha_chi_std) == (
        0.5,
        0.5,
        0.375,
        0.125,
    )
    assert (terms.sigma_max, terms.sigma_effective) == (3, 3)
    assert (terms.delta_c, terms.delta_z) == (
        6,
        7.5,
    )  # c is 0, 6, 12, 24; z is 6, 6, 9, 24
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
    terms = theory.attention_terms(
        "", h, h, np.eye(2), [csr_matrix(attention)], np.array([0, 0, 1, 1]), eta
    )
    c = eta * h / h.std(0)
    gain = eta / (attention @ c).std(0)

    def largest(values):
        return max(
            np.abs(half - half.mean(0)).max() for half in (values[:2], values[2:])
        )

    assert terms.delta_c == pytest.approx(largest(c))
    assert terms.delta_c_effective == pytest.approx(largest(gain * c))
    assert terms.delta_z == pytest.approx(largest(gain * (attention @ c)))
    assert terms.sigma_max == 1
    assert terms.sigma_effective == pytest.approx(max(gain * eta / h.std(0)))


def test_the_worst_head_counts():
    """The first head alone carries something, and it gives inter-edges nothing: the disparity passes unchanged."""
    h, sensitive = np.array([[1.0], [3.0]]), np.array([0, 1])
    heads = [csr_matrix(np.eye(2)), csr_matrix(np.full((2, 2), 0.5))]
    terms = theory.attention_terms(
        "", h, np.array([[1.0, 0], [3, 0]]), np.array([[1.0], [0.0]]), heads, sensitive
    )
    assert terms.delta_out == terms.bound == 2


@pytest.mark.parametrize(("eta", "scale"), [(None, 0.1), (0.02, 0.1), (0.02, 1e-4)])
def test_lemma_1_is_nearly_attained_by_a_sigmoid(eta, scale):
    """Around 0 the sigmoid's slope is 1/4; S3's factor belongs to the weight."""
    sensitive = np.array([0, 0, 1, 1])
    h = scale * (2 * sensitive[:, None] - 1.0)
    z = h if eta is None else eta * h / h.std()
    terms = theory.linear_terms(
        "fc", h, 1 / (1 + np.exp(-z)), np.eye(1), sensitive, eta, sigmoid=True
    )
    assert terms.delta_out == pytest.approx(np.ptp(z) / 4, rel=1e-2)
    assert terms.bound == terms.bound_sharp == pytest.approx(terms.delta_out, rel=1e-2)


def test_bounds_of_two_layers_compose():
    first = theory.attention_terms(
        "1",
        np.array([[1.0], [3.0]]),
        np.array([[1.0], [3.0]]),
        np.eye(1),
        [csr_matrix(np.eye(2))],
        np.array([0, 1]),
    )
    second = theory.linear_terms(
        "2",
        np.array([[1.0], [2.0]]),
        np.array([2.0, 4.0]),
        np.array([[2.0]]),
        np.array([0, 1]),
        before=first,
    )
    assert second.bound == 2
    assert second.composed == 2 * first.composed == 4


@SOON
@given(SEED)
def test_mixing_in_two_layers_contracts_twice(seed):
    """tau(AB) <= tau(A) tau(B) <= 1, and of two groups it is Theorem 1's factor."""
    rng = np.random.default_rng(seed)
    a, b = rng.dirichlet(
        np.full(size := int(rng.integers(2, 7)), rng.random() + 0.1), (2, size)
    )
    assert contraction(a @ b) <= contraction(a) * contraction(b) + 1e-12 <= 1 + 2e-12
    (stay, go), (back, remain) = rng.dirichlet([1, 1], 2)
    assert contraction(np.array([[stay, go], [back, remain]])) == pytest.approx(
        abs(go + back - 1)
    )
    assert contraction(
        np.array([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0, 1]])
    ) == pytest.approx(1)


def test_heads_add_up_over_three_groups():
    """Each head may set apart another pair of groups, whose differences add up: with the largest tau alone the bound
    would be 1."""
    h = np.array(
        [[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]]
    )  # one node a group, all 1 apart
    first, second = (
        np.eye(3)[[1, 0, 0]],
        np.eye(3)[[2, 0, 0]],
    )  # group 0 reads group 1, or 2, and the others group 0
    out = np.stack([(first @ h)[:, 0], (second @ h)[:, 1]], axis=1)
    terms = theory.attention_terms(
        "", h, out, np.eye(2), [csr_matrix(first), csr_matrix(second)], np.arange(3)
    )
    assert terms.tau == terms.sigma_effective == 1 and terms.delta_in == pytest.approx(
        1
    )
    assert terms.delta_out == pytest.approx(
        np.sqrt(1.75)
    ) and terms.bound == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("module", ["gat", "fairgat", "nifty", "fairgnn"])
def test_every_node_method_can_be_measured(module):
    method = make(module, small_graph(90, 400), NodeTraining(epochs=6, hidden=8))
    fit(method)
    mode, before = (
        method.model.training,
        {k: v.clone() for k, v in method.model.state_dict().items()},
    )
    measured = theory.measure(method)
    assert [terms.layer for terms in measured] == [
        "conv1",
        "conv2",
        "logit",
        "probability",
    ]
    for terms in measured:
        slack = 1e-4 * max(1, terms.bound)
        hold(terms, 1e-4)
        assert (
            terms.delta_out
            <= terms.composed_sharp + slack
            <= terms.composed + 2 * slack
        )
    assert method.model.training == mode
    assert all(torch.equal(before[k], v) for k, v in method.model.state_dict().items())


def test_link_prediction_is_refused_and_adds_nothing_to_a_history():
    method = make("gat", small_graph(60, 300), LINK)
    with pytest.raises(NotDefined, match="LinkEncoder"):
        theory.measure(method)
    assert theory.measure_every(2)(4, method) == {}


@pytest.mark.parametrize("sensitive", [[0, 0, 0], [0, 2, 2]])
def test_at_least_two_groups_are_needed_numbered_without_a_gap(sensitive):
    with pytest.raises(DataError, match="two or more groups"):
        theory.linear_terms(
            "fc", np.eye(3), np.ones(3), np.ones((1, 3)), np.array(sensitive)
        )


@pytest.mark.parametrize("options", [{"residual": True}, {"heads": 2, "concat": False}])
def test_layers_outside_the_theorem_are_refused(options):
    x, edges, sensitive = random_graph(0)
    with pytest.raises(ValueError, match="theorem"):
        terms_of(GATConv(x.size(1), 2, **options).double(), x, edges, sensitive)
    terms_of(
        GATConv(x.size(1), 2, concat=False).double(), x, edges, sensitive
    )  # the mean of a single head


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
    conv = (FairGATConv if module == "fairgat" else GATConv)(
        x.size(1), 2, add_self_loops=False
    ).double()
    graph = csr(conv, edges, sensitive, add_self_loops=False)
    with pytest.raises(NotDefined, match="attention to sum to 1"):
        theory.attention_layer("conv", conv, x, graph, sensitive)
