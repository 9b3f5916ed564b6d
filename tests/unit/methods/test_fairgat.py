"""FairGAT's shares, and its pass against its equations over dense matrices."""

import numpy as np
import pytest
from dense import (
    LINK,
    NODE,
    assert_same_pass,
    dense_pass,
    make,
    neighbours,
    small_graph,
    sparse_graph,
    three_groups,
)

from fairgat import methods, theory
from fairgat.errors import ConfigError
from fairgat.nn import balanced_shares
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


@pytest.mark.parametrize("features", [5, 8])  # narrower and wider than the layers
@pytest.mark.parametrize("protocol", [NODE, LINK], ids=["nodes", "links"])
def test_the_pass_and_its_gradient(double, features, protocol):
    cell = {"alpha_chi_max": 0.3, "eta": 0.75}
    method = make("fairgat", sparse_graph(features), protocol, **cell)
    expected = dense_pass(method, neighbours(method))
    assert_same_pass(method.forward(), expected, method.model.parameters())


def test_without_its_cap_the_share_is_as_given():
    graph = small_graph()
    capped, given = (
        make("fairgat", graph, alpha_chi_max=0.9, cap=cap) for cap in (True, False)
    )
    assert capped.model.conv1.alpha_chi == pytest.approx(
        1 / sum(graph.r_chi().values())
    )
    assert given.model.conv1.alpha_chi == given.model.conv2.alpha_chi == 0.9
