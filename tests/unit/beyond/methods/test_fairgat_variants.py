"""FairGAT's variants against their equations over dense matrices."""

import further
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


@pytest.mark.parametrize("features", [5, 8], ids=["narrower", "wider"])
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
    if "self_loops" in settings:
        matrix.fill_diagonal_(False)

    expected = dense_pass(method, matrix, **options)

    assert_same_pass(method.forward(), expected, method.model.parameters())


VARIANTS_OF_TRAINING = [
    {"logit": "unscaled"},
    {"groups": "shuffled"},
    {"deviation": "robust"},
]


@pytest.mark.parametrize("settings", [{}, *VARIANTS_OF_TRAINING], ids=str)
def test_a_variant_starts_from_fairgats_weights(settings):
    plain = make("fairgat", sparse_graph(), **CELL)

    variant = make(VARIANTS, sparse_graph(), **CELL, **settings)

    torch.testing.assert_close(variant.model.state_dict(), plain.model.state_dict())


def test_without_a_changed_decision_it_trains_as_fairgat():
    plain = fit(make("fairgat", sparse_graph(), **CELL))

    assert fit(make(VARIANTS, sparse_graph(), **CELL)).history == plain.history


@pytest.mark.parametrize("settings", VARIANTS_OF_TRAINING, ids=str)
def test_a_variant_trains_otherwise(settings):
    plain = fit(make("fairgat", sparse_graph(), **CELL))

    variant = fit(make(VARIANTS, sparse_graph(), **CELL, **settings))

    assert variant.history != plain.history


def test_the_placebo_is_fairgat_with_other_groups(double):
    """As many nodes in each, drawn by the job's seed; they are in attention only."""
    graph = sparse_graph()
    plain = make("fairgat", graph, **CELL)

    method = make(VARIANTS, graph, **CELL, groups="shuffled")

    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(graph.num_nodes, generator=generator)
    shuffled = method.task.sensitive[order]
    expected = dense_pass(method, neighbours(method), sensitive=shuffled)
    torch.testing.assert_close(method.forward(), expected)
    assert not torch.equal(method.csr.segptr, plain.csr.segptr)
    # The share is that of the true groups.
    assert method.model.conv1.alpha_chi == plain.model.conv1.alpha_chi


def test_the_placebo_of_a_seed_is_always_the_same():
    first = make(VARIANTS, sparse_graph(), **CELL, groups="shuffled")
    again = make(VARIANTS, sparse_graph(), **CELL, groups="shuffled")

    assert torch.equal(first.forward(), again.forward())


def least_share_beside_others(graph):
    """The smaller group's share of nodes that have a neighbour in the other one."""
    mixed = set()
    for source, target in graph.edge_index.T:
        if graph.sensitive[source] != graph.sensitive[target]:
            mixed.add(target)
    shares = []
    for group in (0, 1):
        nodes = [n for n in range(graph.num_nodes) if graph.sensitive[n] == group]
        shares.append(len(mixed.intersection(nodes)) / len(nodes))
    return min(shares)


@pytest.mark.parametrize("most", [0.9, 0.01])
def test_alpha_chi_may_be_capped_by_the_smallest_r_chi(most):
    settings = {"alpha_chi_max": most, "alpha_chi_cap": "smallest_r_chi"}

    method = make(VARIANTS, sparse_graph(), LINK, **settings)

    least = least_share_beside_others(method.task.graph)  # the edges of training
    assert 0.01 < least < 0.9
    assert method.model.conv1.alpha_chi == pytest.approx(min(most, least))
    assert method.model.conv2.alpha_chi == method.model.conv1.alpha_chi


def test_alpha_chi_is_not_capped_for_links():
    method = make(VARIANTS, sparse_graph(), LINK, **CELL)

    assert method.model.conv1.alpha_chi == 0.3


@pytest.mark.parametrize(
    "changed",
    [
        {"self_loops": False, "deviation": "constant"},
        {"scores": "unscaled", "center": True},
        {"groups": "matched", "self_loops": False},
    ],
    ids=str,
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
    ids=str,
)
def test_a_variant_is_of_a_step_that_is_taken(step, changed):
    steps = [other for other in (1, 2, 3) if other != step]

    with pytest.raises(ConfigError, match=f"of step {step}, which `steps` leaves out"):
        methods.settings(VARIANTS, changed | {"steps": steps})


SCALES = pytest.mark.parametrize("scale", [scaled_robustly, clipped_and_scaled])


@pytest.fixture
def with_outliers():
    """(1000, 2) normal features, the first ten rows 100 times as long."""
    x = torch.randn(1000, 2)
    x[:10] *= 100
    return x


@SCALES
def test_outliers_do_not_shrink_the_others(scale, with_outliers):
    """As under S3, where a few long rows make up a column's deviation."""
    scaled = scale(with_outliers, 1.0)

    assert standardise(with_outliers, 1.0)[10:].std() < 0.2
    assert 0.8 < scaled[10:].std() < 1.2


def test_outliers_stay_far_unless_clipped(with_outliers):
    assert scaled_robustly(with_outliers, 1.0).abs().max() > 4
    assert clipped_and_scaled(with_outliers, 1.0).abs().max() < 4


@SCALES
def test_a_column_that_is_mostly_constant_stays_finite(scale):
    x = torch.cat([torch.ones(600), torch.randn(400)])[:, None]

    assert scale(x, 1.0).isfinite().all()


@SCALES
def test_a_constant_column_stays_as_it_is(scale):
    assert scale(torch.ones(9, 1), 1.0).eq(1).all()
