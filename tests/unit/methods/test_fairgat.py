"""FairGAT's shares, and its variants against their equations over dense matrices."""

import numpy as np
import pytest
import torch
from dense import (
    LINK,
    NODE,
    assert_same_pass,
    clipped,
    constantly,
    fair_layer,
    make,
    neighbours,
    robustly,
    scaled,
    small_graph,
    three_groups,
)

from fairgat import methods, theory
from fairgat.data.graph import symmetrise
from fairgat.errors import ConfigError
from fairgat.methods.fairgat_variants import clipped_and_scaled, scaled_robustly
from fairgat.nn import balanced_shares
from fairgat.nn.normalise import standardise
from fairgat.training.job import fit

DENSE = {"nodes": 60, "edges": 900}  # everyone has neighbours of all groups


@pytest.mark.parametrize("groups", [small_graph, three_groups])
@pytest.mark.parametrize("retention", [0.5, 0.25, 0.0, -0.25])
def test_mixing_keeps_the_retention_of_a_difference(groups, retention):
    method = make(
        "fairgat", groups(**DENSE), shares="balanced", retention=retention, steps=[1]
    )
    for _ in range(3):  # whatever the scores
        method.update(method.forward())
    for terms in theory.measure(method)[:2]:
        assert terms.tau == pytest.approx(abs(retention), abs=1e-4)
    rest = method.shares.reached - retention * np.eye(method.task.graph.num_groups)
    np.testing.assert_allclose(
        rest, np.tile(rest[:1], (len(rest), 1)), atol=1e-6
    )  # the same in every group


def test_more_than_two_groups_get_balanced_shares_and_two_the_papers():
    two, three = small_graph(**DENSE), three_groups(**DENSE)
    assert make("fairgat", two, alpha_chi_max=0.25).shares == 0.25
    assert make("fairgat", three, alpha_chi_max=0.25, shares="paper").shares == 0.25
    assert make("fairgat", three, steps=[2, 3]).shares is None
    one, other = (
        make("fairgat", three, **cell)
        for cell in ({"alpha_chi_max": 0.25}, {"retention": 1 - 0.25 * 1.5})
    )
    assert one.shares == other.shares and one.shares.tau == pytest.approx(0.625)
    assert make(
        "fairgat", two, alpha_chi_max=0.4, shares="balanced"
    ).shares.tau == pytest.approx(1 - 2 * 0.4)
    assert fit(one).history == fit(other).history


def test_link_prediction_has_the_papers_shares_unless_asked():
    graph = three_groups(**DENSE)
    assert make("fairgat", graph, LINK, alpha_chi_max=0.25).shares == 0.25
    method = make("fairgat", graph, LINK, retention=0.25)
    assert method.shares == balanced_shares(
        method.task.sensitive, method.task.edge_index, 0.25
    )
    assert np.isfinite(method.update(method.forward())["loss"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"retention": 0.5, "alpha_chi_max": 0.5}, "in place of `alpha_chi_max`"),
        ({"retention": 0.5, "shares": "paper"}, "in place of `alpha_chi_max`"),
        ({"retention": 1.5}, "retention"),
        ({"shares": "balanced", "cap": False}, "`cap` is about the paper's shares"),
        ({"retention": 0.5, "cap": False}, "`cap` is about the paper's shares"),
    ],
)
def test_settings_that_do_not_go_together(given, says):
    with pytest.raises(ConfigError, match=says):
        methods.settings("fairgat", given)


CELL = {"alpha_chi_max": 0.3, "eta": 0.75}
WIDTHS = [
    5,
    8,
]  # narrower and wider than the layers of dense.NODE and dense.LINK: both orders of the product


def sparse_graph(features=5):
    """A graph with nodes of every kind: neighbours in one group, in the other, in both, and none at all."""
    graph = small_graph(features=features)
    few = symmetrise(
        np.random.default_rng(1).integers(len(graph.labels) - 2, size=(2, 30)),
        len(graph.labels),
    )
    return graph.with_edges(few)


def dense_pass(method, matrix, **options):
    """The whole network on dense matrices."""
    model, x = method.model, method.task.features
    sensitive, logit = (
        options.pop("sensitive", method.task.sensitive),
        options.pop("logit", True),
    )
    h = fair_layer(model.conv1, x, matrix, sensitive, **options).relu()
    h = fair_layer(model.conv2, h, matrix, sensitive, **options)
    if method.task.name == "link_prediction":
        return h
    z = h.relu() @ torch.nn.functional.normalize(model.linear.weight[0], dim=0)
    return (
        options.get("scale", scaled)(z, model.conv1.eta) if logit else z
    ) + model.bias


@pytest.mark.parametrize("features", WIDTHS)
@pytest.mark.parametrize("protocol", [NODE, LINK], ids=["nodes", "links"])
@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, {}),
        ({"self_loops": False}, {}),
        ({"one_sided": "share"}, {"share": True}),
        ({"scores": "unscaled"}, {"unscaled": True}),
        ({"scores": "equal"}, {"equal": True}),
        ({"deviation": "constant"}, {"scale": constantly}),
        ({"deviation": "robust"}, {"scale": robustly}),
        ({"outliers": "clipped"}, {"scale": clipped}),
        ({"logit": "unscaled"}, {"logit": False}),
    ],
    ids=lambda value: ", ".join(map(str, value)),  # of a dict: its keys
)
def test_the_pass_of_a_variant_and_its_gradient(
    double, features, protocol, settings, options
):
    method = make(
        "fairgat_variants", sparse_graph(features), protocol, **CELL, **settings
    )
    matrix = neighbours(method)
    if not settings.get("self_loops", True):
        matrix &= ~torch.eye(len(matrix), dtype=torch.bool)
    assert_same_pass(
        method.forward(),
        dense_pass(method, matrix, **options),
        method.model.parameters(),
    )


@pytest.mark.parametrize(
    "settings",
    [{}, {"logit": "unscaled"}, {"groups": "shuffled"}, {"deviation": "robust"}],
    ids=str,
)
def test_a_variant_starts_from_fairgats_weights(settings):
    plain = fit(make("fairgat", sparse_graph(), **CELL))
    variant = make("fairgat_variants", sparse_graph(), **CELL, **settings)
    torch.testing.assert_close(
        variant.model.state_dict(),
        make("fairgat", sparse_graph(), **CELL).model.state_dict(),
    )
    assert (fit(variant).history == plain.history) == (settings == {})


def test_the_placebo_is_fairgat_with_other_groups(double):
    """As many nodes in each, drawn by the job's seed, in attention only: the share is that of the true groups."""
    graph = sparse_graph()
    method, again = (
        make("fairgat_variants", graph, **CELL, groups="shuffled") for _ in range(2)
    )
    torch.testing.assert_close(method.forward(), again.forward())
    csr, true = method.csr, method.task.segmented_csr
    assert not torch.equal(csr.segptr, true.segptr)
    shuffled = method.task.sensitive[
        torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0))
    ]
    torch.testing.assert_close(
        method.forward(), dense_pass(method, neighbours(method), sensitive=shuffled)
    )
    assert (
        method.model.conv1.alpha_chi
        == make("fairgat", graph, **CELL).model.conv1.alpha_chi
    )


def test_without_its_cap_the_share_is_as_given():
    graph = small_graph()
    capped, given = (
        make("fairgat", graph, alpha_chi_max=0.9, cap=cap) for cap in (True, False)
    )
    assert capped.model.conv1.alpha_chi == pytest.approx(
        1 / sum(graph.r_chi().values())
    )
    assert given.model.conv1.alpha_chi == given.model.conv2.alpha_chi == 0.9


def test_alpha_chi_is_capped_by_the_smallest_r_chi():
    graph = sparse_graph()
    for most in (0.9, 0.01):
        method = make(
            "fairgat_variants",
            graph,
            LINK,
            **CELL | {"alpha_chi_max": most},
            alpha_chi_cap="smallest_r_chi",
        )
        source, target = method.task.graph.edge_index  # the edges of training
        sensitive = method.task.graph.sensitive
        mixed = {
            v
            for u, v in zip(source, target, strict=True)
            if sensitive[u] != sensitive[v]
        }
        shares = [
            np.mean([v in mixed for v in np.flatnonzero(sensitive == group)])
            for group in (0, 1)
        ]
        assert 0.01 < min(shares) < 0.9
        assert (
            method.model.conv1.alpha_chi
            == method.model.conv2.alpha_chi
            == pytest.approx(min(most, *shares))
        )
    assert make("fairgat_variants", graph, LINK, **CELL).model.conv1.alpha_chi == 0.3


@pytest.mark.parametrize(
    "changed",
    [
        {"self_loops": False, "deviation": "constant"},
        {"scores": "unscaled", "center": True},
        {"groups": "matched", "self_loops": False},
    ],
)
def test_a_variant_changes_one_decision(changed):
    with pytest.raises(ConfigError, match="in one decision, not in 2"):
        methods.settings("fairgat_variants", changed)


@pytest.mark.parametrize(
    ("step", "changed"),
    [
        (1, {"groups": "shuffled"}),
        (1, {"groups": "matched"}),
        (1, {"one_sided": "share"}),
        (1, {"alpha_chi_cap": "smallest_r_chi"}),
        (3, {"deviation": "robust"}),
        (3, {"outliers": "clipped"}),
        (3, {"logit": "unscaled"}),
        (3, {"scores": "unscaled"}),
        (3, {"center": True}),
    ],
)
def test_a_variant_is_of_a_step_that_is_taken(step, changed):
    steps = sorted({1, 2, 3} - {step})
    with pytest.raises(ConfigError, match=f"of step {step}, which `steps` leaves out"):
        methods.settings("fairgat_variants", changed | {"steps": steps})


@pytest.mark.parametrize("scale", [scaled_robustly, clipped_and_scaled])
def test_outliers_do_not_shrink_the_others(scale):
    """As they do under S3, where a few long rows make up a column's deviation; and constant columns stay finite."""
    x = torch.randn(1000, 2)
    x[:10] *= 100
    most = slice(10, None)
    assert standardise(x, 1.0)[most].std() < 0.2 < 0.8 < scale(x, 1.0)[most].std() < 1.2
    assert (
        clipped_and_scaled(x, 1.0).abs().max() < 4 < scaled_robustly(x, 1.0).abs().max()
    )
    half = torch.cat([torch.ones(600), torch.randn(400)])[:, None]
    assert (
        scale(half, 1.0).isfinite().all() and scale(torch.ones(9, 1), 1.0).eq(1).all()
    )
