"""The account of a gap: its parts by their definition, and what they add up to."""

from dataclasses import asdict, replace
from itertools import product

import further
import numpy as np
import pandas as pd
import pytest
import torch
from dense import NODE, make, small_graph
from scipy.sparse import csr_matrix
from torch.nn.functional import leaky_relu

from fairgat.nn import GATConv
from fairgat.theory.account import (
    DECIDED,
    OVER,
    PARTS,
    Pass,
    compared_groups,
    decision_parts,
    effect_of_means,
    least_gap,
)
from fairgat.theory.network import account
from fairgat.training.loop import fit

EXACT = 1e-9


def drawn(seed, groups, heads=1, nodes=60, width=3):
    """Random c (N, H * C), attention of each head, groups and labels, some unknown.

    A node's attention adds up to 1.
    """
    rng = np.random.default_rng(seed)
    attention = []
    for _ in range(heads):
        weights = rng.random((nodes, nodes))
        edges = rng.random((nodes, nodes)) < 0.3
        dense = weights * edges + np.eye(nodes)
        attention.append(dense / dense.sum(1, keepdims=True))
    sensitive = rng.permutation(np.arange(nodes) % groups)
    labels = rng.integers(-1, 2, nodes)
    return rng.normal(size=(nodes, heads * width)), attention, sensitive, labels


def mean_difference(values, rows, groups, group):
    mine, others = rows & (groups == group), rows & (groups != group)
    return values[mine].mean(0) - values[others].mean(0)


def over(name, labels):
    """The rows that an account is about."""
    if OVER[name] is None:
        return labels >= -1
    return labels == OVER[name]


def total(account, names=PARTS):
    return sum(getattr(account, name) for name in names)


@pytest.mark.parametrize(
    ("seed", "groups", "heads"), [(0, 2, 1), (1, 2, 2), (2, 3, 1), (3, 5, 3)]
)
def test_every_part_by_its_definition(seed, groups, heads):
    c, dense, sensitive, labels = drawn(seed, groups, heads)
    rng = np.random.default_rng(seed)
    bias, weight = rng.normal(size=c.shape[1]), rng.normal(size=c.shape[1])
    width = c.shape[1] // heads
    own = np.repeat(np.arange(heads), width)  # the head of each column
    nodes = range(len(c))
    alpha = np.array(dense)[own]  # (H * C, N, N)

    def summed(values):
        rows = [sum(alpha[:, i, j] * values[j] for j in nodes) for i in nodes]
        return np.array(rows)

    z = summed(c)
    out = np.maximum(z + bias, 0)
    attention = list(map(csr_matrix, dense))
    found = Pass(c, out, attention, sensitive, labels, weight).accounts("x")
    expected = list(product(OVER, compared_groups(sensitive)))
    assert [(a.over, a.group) for a in found] == expected

    of_group, of_both = np.empty_like(c), np.empty_like(c)
    for j in nodes:
        same_group, same_label = sensitive == sensitive[j], labels == labels[j]
        of_group[j] = c[same_group].mean(0)
        of_both[j] = c[same_group & same_label].mean(0)
    pieces = {
        "mixing": of_group,
        "label_selection": of_both - of_group,
        "rest": c - of_both,
    }
    for a in found:
        rows = over(a.over, labels)
        slopes = weight * (out[rows] > 0).mean(0)
        for name, piece in pieces.items():
            difference = mean_difference(summed(piece), rows, sensitive, a.group)
            assert getattr(a, name) == pytest.approx(difference @ slopes, abs=EXACT)
        left = mean_difference(out @ weight - z @ slopes, rows, sensitive, a.group)
        assert a.nonlinearity == pytest.approx(left, abs=EXACT)
        gap = mean_difference(out @ weight, rows, sensitive, a.group)
        assert a.gap == pytest.approx(gap, abs=EXACT)
        assert total(a) == pytest.approx(gap, abs=EXACT)
        assert a.spread == pytest.approx((out @ weight).std())


def test_mixing_of_two_groups_is_the_theorems_factor_times_what_lies_between_them():
    c, (dense,), sensitive, labels = drawn(4, 2)
    layer = Pass(c, c, [csr_matrix(dense)], sensitive, labels, np.ones(3))
    whole, *_ = layer.accounts("x")
    given = reach = 0  # a_0 + a_1, R_0 + R_1
    for group in (0, 1):
        to_other = dense[sensitive == group][:, sensitive != group]
        given += to_other.sum(1).mean()
        reach += (to_other > 0).any(1).mean()
    assert whole.factor == pytest.approx(1 - given, abs=EXACT)
    assert whole.mixing == pytest.approx(whole.factor * whole.between, abs=EXACT)
    assert whole.reach == pytest.approx(reach, abs=EXACT)


def test_attention_that_does_not_sum_to_one_has_parts_and_no_factor():
    c, (dense,), sensitive, labels = drawn(8, 2)
    attention = [csr_matrix(dense * 0.7)]
    layer = Pass(c, dense @ c, attention, sensitive, labels, np.ones(3))
    whole, *_ = layer.accounts("x")
    assert np.isnan([whole.factor, whole.between, whole.reach]).all()
    assert np.isfinite(whole.mixing)


def test_the_gap_of_a_layer_is_the_distance_between_the_groups():
    c, (dense,), sensitive, labels = drawn(5, 2)
    layer = Pass(c, dense @ c, [csr_matrix(dense)], sensitive, labels)
    whole, *_ = layer.accounts("x")
    distance = np.linalg.norm(mean_difference(dense @ c, labels >= -1, sensitive, 1))
    assert whole.gap == pytest.approx(distance, abs=EXACT)
    assert total(whole) == pytest.approx(distance, abs=EXACT)


def test_what_means_make_of_decisions():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1001)
    # Of one shape: all of the gap comes from the means.
    moved = values - 0.7
    gap = (values > 0).mean() - (moved > 0).mean()
    assert effect_of_means(values, moved) == pytest.approx(gap, abs=EXACT)
    # Of one mean: none does.
    assert effect_of_means(np.array([-1.0, 1, 2, 2]), np.full(4, 1.0)) == 0
    # By hand, of means 2 and -1: moved by 3, all of the first are below 0, and of the
    # second nobody crosses it.
    made = effect_of_means(np.array([1.0, 2, 3]), np.array([-9.0, 1, 5]))
    assert made == pytest.approx(0.5, abs=EXACT)


def test_decisions_are_divided_by_label_first():
    def labels_of(positive):
        return np.repeat([0, 1], [200 - positive, positive])

    # A perfect classifier: base rates alone.
    labels, of_others = labels_of(68), labels_of(83)
    parts = decision_parts(9.0 * labels - 4.5, 9.0 * of_others - 4.5, labels, of_others)
    np.testing.assert_allclose(parts, [-0.075, 0, 0], atol=EXACT)
    # The same, moved.
    labels, logits = labels_of(100), np.arange(200) / 40 - 2.5
    parts = decision_parts(logits, logits - 0.5, labels, labels)
    np.testing.assert_allclose(parts, [0, 0.1, 0], atol=EXACT)
    # Of one mean: what is left.
    mine, others = np.tile([-1.0, 1.0], 50), np.tile([-1.0, -1.0, -1.0, 3.0], 25)
    parts = decision_parts(mine, others, np.zeros(100), np.zeros(100))
    np.testing.assert_allclose(parts, [0, 0, 0.25], atol=EXACT)


def test_the_parts_of_decisions_add_up():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(2, 300)), rng.integers(-1, 2, (2, 300))
    mine, others = (logits > 0).mean(1)
    parts = decision_parts(*logits, *labels)
    assert parts.sum() == pytest.approx(mine - others, abs=EXACT)
    # Nobody of label 0 to compare with.
    parts = decision_parts(*logits, labels[0], np.ones(300))
    assert np.isnan(parts).all()


def test_a_logit_of_zero_decides_for_nobody():
    c, (dense,), sensitive, labels = drawn(9, 2)
    logits = c[:, 0].round()  # many of them 0
    layer = Pass(c, c, [csr_matrix(dense)], sensitive, labels, np.ones(3), logits)
    whole, *_ = layer.accounts("x")
    difference = mean_difference(logits > 0.0, labels >= -1, sensitive, 1)
    assert whole.decided == pytest.approx(difference)


def test_rows_that_a_group_lacks_have_no_account():
    c, (dense,), sensitive, _ = drawn(6, 2)
    # Nobody of group 1 has label 1.
    labels = np.where(sensitive == 1, 0, np.arange(len(c)) % 2)
    layer = Pass(c, c, [csr_matrix(dense)], sensitive, labels, np.ones(3))
    for a in layer.accounts("x"):
        numbers = [a.gap, a.mixing, a.nonlinearity, a.reach]
        assert np.isnan(numbers).all() == (a.over == "label 1")


@pytest.mark.parametrize(
    ("module", "settings", "groups"),
    [
        ("gat", {}, 2),
        ("gat", {}, 3),
        ("fairgat", {"steps": [1]}, 2),
        ("fairgat", {"steps": [1, 2, 3], "center": True}, 2),
        (further.method("fairgat_variants"), {"steps": [1], "one_sided": "share"}, 2),
    ],
)
def test_the_parts_of_a_trained_network_add_up_to_the_gap_of_its_logits(
    double, module, settings, groups
):
    graph = replace(small_graph(nodes=90, edges=300), sensitive=np.arange(90) % groups)
    method = make(module, graph, NODE, **settings)
    fit(method)
    found = account(method)
    method.model.eval()
    with torch.no_grad():
        logits, known = method.embed().numpy(), method.task.graph
    for a in found:
        if a.layer != "logit":
            assert np.isnan([a.decided, a.means]).all()
            continue
        rows = over(a.over, known.labels)
        gap = mean_difference(logits, rows, known.sensitive, a.group)
        assert a.gap == pytest.approx(gap, abs=EXACT)
        assert total(a) == pytest.approx(gap, abs=EXACT)
        decided = mean_difference(logits > 0.0, rows, known.sensitive, a.group)
        assert a.decided == pytest.approx(decided, abs=EXACT)
        assert total(a, DECIDED) == pytest.approx(decided, abs=EXACT)
        assert a.base_rates == 0 or a.over == "all"
    assert {a.layer for a in found} == {"conv1", "conv2", "logit"}


def test_the_nonlinearity_of_a_trained_network_is_what_relu_does(double):
    """Recomputed over a dense adjacency: it is no bin for what the other parts miss."""
    graph = small_graph(nodes=60, edges=200)
    method = make("fairgat", graph, NODE, steps=[3])
    fit(method)
    (whole,) = [a for a in account(method) if (a.layer, a.over) == ("logit", "all")]
    model, task = method.model.eval(), method.task
    matrix = torch.eye(60, dtype=torch.bool)
    matrix[task.edge_index[1], task.edge_index[0]] = True

    def summed(conv: GATConv, x):
        c = x @ conv.lin.weight.t()
        c = c / c.std(0, correction=0)
        of_target, of_source = c @ conv.att_dst[0, 0], c @ conv.att_src[0, 0]
        scores = leaky_relu(of_target[:, None] + of_source[None], 0.2)
        alpha = scores.masked_fill(~matrix, -torch.inf).softmax(1)
        z = alpha @ c
        return z / z.std(0, correction=0)

    with torch.no_grad():
        first = (summed(model.conv1, task.features) + model.conv1.bias).relu()
        z = summed(model.conv2, first)
        out = (z + model.conv2.bias).relu()
        weight = model.linear.weight[0]
        weight = weight / (out @ weight).std(correction=0)
        slopes = weight * (out > 0).double().mean(0)
        left = (out @ weight - z @ slopes).numpy()
    everyone = task.graph.labels >= 0
    expected = mean_difference(left, everyone, task.graph.sensitive, 1)
    assert whole.nonlinearity == pytest.approx(expected, abs=1e-8)


def test_the_share_with_the_least_gap():
    """Fair attention of equal weights on fixed features.

    Only mixing changes with the share, and by a line.
    """
    rng = np.random.default_rng(7)
    sensitive, labels = rng.permutation(np.arange(40) % 2), rng.integers(2, size=40)
    edges = (rng.random((40, 40)) < 0.3) | np.eye(40, dtype=bool)
    # Who has no neighbour in the other group keeps all attention.
    edges[0] = sensitive == sensitive[0]
    same = sensitive == sensitive[:, None]
    intra, inter = edges & same, edges & ~same
    # The same within each group: selection depends on no share.
    c = np.where(sensitive == 1, 3.0, -2.0)[:, None]
    read = 0.3 * rng.normal(size=40)

    def at(share):
        given = np.where(inter.any(1), share, 0)[:, None]
        to_own = intra / intra.sum(1, keepdims=True)
        to_other = inter / np.maximum(inter.sum(1, keepdims=True), 1)
        dense = (1 - given) * to_own + given * to_other
        attention, logits = [csr_matrix(dense)], (dense @ c)[:, 0] + read
        layer = Pass(c, np.abs(c), attention, sensitive, labels, np.ones(1), logits)
        whole, *_ = layer.accounts("x")
        return asdict(whole)

    curve = {share: abs(at(share)["gap"]) for share in np.linspace(0, 1, 1001)}
    share, gap = least_gap(pd.DataFrame([at(0.1), at(0.4)]))
    assert 0 < share < 1
    assert share == pytest.approx(min(curve, key=curve.get), abs=1e-3)
    assert gap == pytest.approx(0, abs=1e-9) == at(share)["gap"]


@pytest.mark.parametrize(
    ("gap", "between", "expected"),
    [
        (5.5, 1, (1, 4.8)),
        (-4.5, 1, (0, -4.0)),
        (0.1, 1, (0.5, 0)),
        (1.5, 0, (0, 1.0)),  # where no share changes anything, none is given
        (1.0, np.nan, (np.nan, np.nan)),
    ],
)
def test_mixing_reaches_as_far_as_shares_go(gap, between, expected):
    row = {"gap": gap, "mixing": 0.5, "between": between, "reach": 1.2 * between}
    found = least_gap(pd.DataFrame([row]))
    assert found == pytest.approx(expected, nan_ok=True)
