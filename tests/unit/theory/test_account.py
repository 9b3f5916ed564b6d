"""The account of a gap: its parts by their definition, node by node, and what they add up to."""

from dataclasses import asdict, replace

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
    compared,
    least_gap,
    of_decisions,
    of_means,
)
from fairgat.theory.network import account
from fairgat.training.loop import fit

EXACT = 1e-9


def drawn(seed, groups, heads=1, nodes=60, width=3):
    """Random c (N, H * C), attention of each head whose rows add up to 1, groups and labels, some of them unknown."""
    rng = np.random.default_rng(seed)
    attention = []
    for _ in range(heads):
        dense = rng.random((nodes, nodes)) * (
            rng.random((nodes, nodes)) < 0.3
        ) + np.eye(nodes)
        attention.append(dense / dense.sum(1, keepdims=True))
    sensitive, labels = (
        rng.permutation(np.arange(nodes) % groups),
        rng.integers(-1, 2, nodes),
    )
    return rng.normal(size=(nodes, heads * width)), attention, sensitive, labels


def mean_difference(values, rows, groups, group):
    return values[rows & (groups == group)].mean(0) - values[
        rows & (groups != group)
    ].mean(0)


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
    z = np.array([sum(np.array(dense)[own, i, j] * c[j] for j in nodes) for i in nodes])
    out = np.maximum(z + bias, 0)
    found = Pass(c, out, [*map(csr_matrix, dense)], sensitive, labels, weight).accounts(
        "x"
    )
    assert [(a.over, a.group) for a in found] == [
        (over, group) for over in OVER for group in compared(sensitive)
    ]
    for a in found:
        rows = labels == OVER[a.over] if OVER[a.over] is not None else labels >= -1
        slopes = weight * (out[rows] > 0).mean(0)
        of_group = np.array([c[sensitive == sensitive[j]].mean(0) for j in nodes])
        of_cell = np.array(
            [
                c[(sensitive == sensitive[j]) & (labels == labels[j])].mean(0)
                for j in nodes
            ]
        )
        pieces = {
            "mixing": of_group,
            "label_selection": of_cell - of_group,
            "rest": c - of_cell,
        }
        for name, piece in pieces.items():
            summed = np.array(
                [
                    sum(np.array(dense)[own, i, j] * piece[j] for j in nodes)
                    for i in nodes
                ]
            )
            expected = mean_difference(summed, rows, sensitive, a.group) @ slopes
            assert getattr(a, name) == pytest.approx(expected, abs=EXACT)
        left = mean_difference(out @ weight - z @ slopes, rows, sensitive, a.group)
        assert a.nonlinearity == pytest.approx(left, abs=EXACT)
        gap = mean_difference(out @ weight, rows, sensitive, a.group)
        assert [a.gap, sum(getattr(a, name) for name in PARTS)] == pytest.approx(
            [gap] * 2, abs=EXACT
        )
        assert a.spread == pytest.approx((out @ weight).std())


def test_mixing_of_two_groups_is_the_theorems_factor_times_what_lies_between_them():
    c, (dense,), sensitive, labels = drawn(4, 2)
    whole, *_ = Pass(c, c, [csr_matrix(dense)], sensitive, labels, np.ones(3)).accounts(
        "x"
    )
    given = [
        dense[sensitive == s][:, sensitive != s].sum(1).mean() for s in (0, 1)
    ]  # a_0, a_1
    assert whole.factor == pytest.approx(1 - sum(given), abs=EXACT)
    assert whole.mixing == pytest.approx(whole.factor * whole.between, abs=EXACT)
    has_inter = [
        (dense[sensitive == s][:, sensitive != s] > 0).any(1).mean() for s in (0, 1)
    ]
    assert whole.reach == pytest.approx(sum(has_inter), abs=EXACT)


def test_attention_that_does_not_sum_to_one_has_parts_and_no_factor():
    c, (dense,), sensitive, labels = drawn(8, 2)
    whole, *_ = Pass(
        c, dense @ c, [csr_matrix(dense * 0.7)], sensitive, labels, np.ones(3)
    ).accounts("x")
    assert np.isnan([whole.factor, whole.between, whole.reach]).all() and np.isfinite(
        whole.mixing
    )


def test_the_gap_of_a_layer_is_the_distance_between_the_groups():
    c, (dense,), sensitive, labels = drawn(5, 2)
    whole, *_ = Pass(c, dense @ c, [csr_matrix(dense)], sensitive, labels).accounts("x")
    distance = np.linalg.norm(mean_difference(dense @ c, labels >= -1, sensitive, 1))
    assert [whole.gap, sum(getattr(whole, name) for name in PARTS)] == pytest.approx(
        [distance] * 2, abs=EXACT
    )


def test_what_means_make_of_decisions():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1001)
    moved = values - 0.7  # of one shape: all of the gap comes from the means
    assert of_means(values, moved) == pytest.approx(
        (values > 0).mean() - (moved > 0).mean(), abs=EXACT
    )
    assert (
        of_means(np.array([-1.0, 1, 2, 2]), np.full(4, 1.0)) == 0
    )  # of one mean: none does
    # By hand, of means 2 and -1: moved by 3, all of the first are below 0, and of the second nobody crosses it.
    assert of_means(np.array([1.0, 2, 3]), np.array([-9.0, 1, 5])) == pytest.approx(
        0.5, abs=EXACT
    )


def test_decisions_are_divided_by_label_first():
    def sides(rates, of, shift=0.0):
        labels = [
            np.repeat([0, 1], [round(200 * (1 - rate)), round(200 * rate)])
            for rate in rates
        ]
        return [of(each) - shift * k for k, each in enumerate(labels)], labels

    logits, labels = sides(
        (0.34, 0.415), lambda label: 9.0 * label - 4.5
    )  # a perfect classifier: base rates alone
    np.testing.assert_allclose(
        of_decisions(*logits, *labels), [-0.075, 0, 0], atol=EXACT
    )
    (mine, others), labels = sides(
        (0.5, 0.5), lambda label: np.arange(200) / 40 - 2.5, shift=0.5
    )  # the same, moved
    np.testing.assert_allclose(
        of_decisions(mine, others, *labels), [0, 0.1, 0], atol=EXACT
    )
    spread = [
        np.tile([-1.0, 1.0], 50),
        np.tile([-1.0, -1.0, -1.0, 3.0], 25),
    ]  # of one mean: what is left
    nobody = np.zeros(100)
    np.testing.assert_allclose(
        of_decisions(*spread, nobody, nobody), [0, 0, 0.25], atol=EXACT
    )
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(2, 300)), rng.integers(-1, 2, (2, 300))
    whole = (logits[0] > 0).mean() - (logits[1] > 0).mean()
    assert of_decisions(*logits, *labels).sum() == pytest.approx(whole, abs=EXACT)
    assert np.isnan(
        of_decisions(*logits, labels[0], np.ones(300))
    ).all()  # nobody of label 0 to compare with
    c, (dense,), sensitive, labels = drawn(9, 2)
    logits = c[:, 0].round()  # many of them 0, which decides for nobody
    whole, *_ = Pass(
        c, c, [csr_matrix(dense)], sensitive, labels, np.ones(3), logits
    ).accounts("x")
    assert whole.decided == pytest.approx(
        mean_difference(logits > 0.0, labels >= -1, sensitive, 1)
    )


def test_rows_that_a_group_lacks_have_no_account():
    c, (dense,), sensitive, _ = drawn(6, 2)
    labels = np.where(
        sensitive == 1, 0, np.arange(len(c)) % 2
    )  # nobody of group 1 has label 1
    found = Pass(c, c, [csr_matrix(dense)], sensitive, labels, np.ones(3)).accounts("x")
    assert {
        a.over: np.isnan([a.gap, a.mixing, a.nonlinearity, a.reach]).all()
        for a in found
    } == {
        "all": False,
        "label 1": True,
        "label 0": False,
    }


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
        logits, task = method.embed().numpy(), method.task.graph
    for a in [a for a in found if a.layer == "logit"]:
        rows = (
            task.labels == OVER[a.over]
            if OVER[a.over] is not None
            else task.labels >= 0
        )
        expected = mean_difference(logits, rows, task.sensitive, a.group)
        assert a.gap == pytest.approx(expected, abs=EXACT)
        assert sum(getattr(a, name) for name in PARTS) == pytest.approx(
            expected, abs=EXACT
        )
        assert a.decided == pytest.approx(
            mean_difference(logits > 0.0, rows, task.sensitive, a.group), abs=EXACT
        )
        assert sum(getattr(a, name) for name in DECIDED) == pytest.approx(
            a.decided, abs=EXACT
        )
        assert a.base_rates == 0 or a.over == "all"
    assert all(
        np.isnan([a.decided, a.means]).all() for a in found if a.layer != "logit"
    )
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
        scores = leaky_relu(
            (c @ conv.att_dst[0, 0])[:, None] + (c @ conv.att_src[0, 0])[None], 0.2
        )
        z = scores.masked_fill(~matrix, -torch.inf).softmax(1) @ c
        return z / z.std(0, correction=0)

    with torch.no_grad():
        z = summed(
            model.conv2, (summed(model.conv1, task.features) + model.conv1.bias).relu()
        )
        out = (z + model.conv2.bias).relu()
        weight = model.linear.weight[0] / (out @ model.linear.weight[0]).std(
            correction=0
        )
        left = out @ weight - z @ (weight * (out > 0).double().mean(0))
    expected = mean_difference(
        left.numpy(), task.graph.labels >= 0, task.graph.sensitive, 1
    )
    assert whole.nonlinearity == pytest.approx(expected, abs=1e-8)


def test_the_share_with_the_least_gap():
    """Fair attention of equal weights on fixed features: only mixing changes with the share, and by a line."""
    rng = np.random.default_rng(7)
    sensitive, labels = rng.permutation(np.arange(40) % 2), rng.integers(2, size=40)
    edges = (rng.random((40, 40)) < 0.3) | np.eye(40, dtype=bool)
    edges[0] = (
        sensitive == sensitive[0]
    )  # who has no neighbour in the other group keeps all attention
    intra, inter = (
        edges & (sensitive == sensitive[:, None]),
        edges & (sensitive != sensitive[:, None]),
    )
    c = np.where(sensitive == 1, 3.0, -2.0)[
        :, None
    ]  # the same within each group: selection depends on no share
    read = 0.3 * rng.normal(size=40)

    def at(share):
        both = np.where(inter.any(1), share, 0)[:, None]
        dense = (1 - both) * intra / intra.sum(
            1, keepdims=True
        ) + both * inter / np.maximum(inter.sum(1), 1)[:, None]
        logits = (dense @ c)[:, 0] + read
        whole, *_ = Pass(
            c, np.abs(c), [csr_matrix(dense)], sensitive, labels, np.ones(1), logits
        ).accounts("x")
        return asdict(whole)

    curve = {share: abs(at(share)["gap"]) for share in np.linspace(0, 1, 1001)}
    share, gap = least_gap(pd.DataFrame([at(0.1), at(0.4)]))
    assert share == pytest.approx(min(curve, key=curve.get), abs=1e-3) and 0 < share < 1
    assert gap == pytest.approx(0, abs=1e-9) == at(share)["gap"]


@pytest.mark.parametrize(
    ("gap", "between", "expected"),
    [
        (5.5, 1, (1, 4.8)),
        (-4.5, 1, (0, -4.0)),
        (0.1, 1, (0.5, 0)),
        (1.0, np.nan, (np.nan, np.nan)),
    ],
)
def test_mixing_reaches_as_far_as_shares_go(gap, between, expected):
    found = least_gap(
        pd.DataFrame(
            [{"gap": gap, "mixing": 0.5, "between": between, "reach": 1.2 * between}]
        )
    )
    assert found == pytest.approx(expected, nan_ok=True)
