"""FairGAT's variants against their equations over dense matrices."""

import further
import numpy as np
import pytest
import torch
from dense import (
    LINK,
    NODE,
    assert_same_pass,
    clipped,
    constantly,
    dense_pass,
    make,
    neighbours,
    robustly,
    sparse_graph,
)

from beyond.methods.fairgat_variants import clipped_and_scaled, scaled_robustly
from fairgat import methods
from fairgat.errors import ConfigError
from fairgat.nn.normalise import standardise
from fairgat.training.job import fit

VARIANTS = further.method("fairgat_variants")
CELL = {"alpha_chi_max": 0.3, "eta": 0.75}
WIDTHS = [5, 8]  # narrower and wider than the layers: both orders of the product


@pytest.mark.parametrize("features", WIDTHS)
@pytest.mark.parametrize("protocol", [NODE, LINK], ids=["nodes", "links"])
@pytest.mark.parametrize(
    ("settings", "options"),
    [
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
    method = make(VARIANTS, sparse_graph(features), protocol, **CELL, **settings)
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
    variant = make(VARIANTS, sparse_graph(), **CELL, **settings)
    torch.testing.assert_close(
        variant.model.state_dict(),
        make("fairgat", sparse_graph(), **CELL).model.state_dict(),
    )
    assert (fit(variant).history == plain.history) == (settings == {})


def test_the_placebo_is_fairgat_with_other_groups(double):
    """As many nodes in each, drawn by the job's seed, in attention only: the share is that of the true groups."""
    graph = sparse_graph()
    method, again = (make(VARIANTS, graph, **CELL, groups="shuffled") for _ in range(2))
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


def test_alpha_chi_is_capped_by_the_smallest_r_chi():
    graph = sparse_graph()
    for most in (0.9, 0.01):
        method = make(
            VARIANTS,
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
    assert make(VARIANTS, graph, LINK, **CELL).model.conv1.alpha_chi == 0.3


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
        methods.settings(VARIANTS, changed)


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
        methods.settings(VARIANTS, changed | {"steps": steps})


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
