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
    method = make("fairgat", groups(**DENSE), retention=retention, steps=[1])
    for _ in range(3):  # whatever the scores
        method.update(method.forward())

    of_layers = theory.measure(method)[:2]

    for terms in of_layers:
        assert terms.tau == pytest.approx(abs(retention), abs=1e-4)
    own = retention * np.eye(method.task.graph.num_groups)
    first, *others = method.shares.reached - own
    for other in others:  # the rest is the same in every group
        np.testing.assert_allclose(other, first, atol=1e-6)


def test_two_groups_get_the_papers_share():
    assert make("fairgat", small_graph(**DENSE), alpha_chi_max=0.25).shares == 0.25


@pytest.mark.parametrize(
    ("groups", "alpha_chi_max", "retention"),
    [
        pytest.param(three_groups, 0.25, 1 - 0.25 * 3 / 2, id="3"),
        pytest.param(small_graph, 0.4, 1 - 0.4 * 2, id="2"),
    ],
)
def test_balanced_shares_have_the_retention_of_the_cap(
    groups, alpha_chi_max, retention
):
    graph = groups(**DENSE)
    settings = {"shares": "balanced", "alpha_chi_max": alpha_chi_max}

    method = make("fairgat", graph, **settings)

    assert method.shares.tau == pytest.approx(retention)
    assert method.shares == make("fairgat", graph, retention=retention).shares


def test_more_than_two_groups_get_balanced_shares_unless_the_papers_are_asked_for():
    graph = three_groups(**DENSE)

    balanced = make("fairgat", graph, alpha_chi_max=0.25, shares="balanced")

    assert make("fairgat", graph, alpha_chi_max=0.25).shares == balanced.shares
    assert make("fairgat", graph, alpha_chi_max=0.25, shares="paper").shares == 0.25


def test_without_step_1_there_are_no_shares():
    assert make("fairgat", three_groups(**DENSE), steps=[2, 3]).shares is None


def test_the_same_shares_train_alike():
    graph = three_groups(**DENSE)

    by_cap = fit(make("fairgat", graph, alpha_chi_max=0.25))
    by_retention = fit(make("fairgat", graph, retention=1 - 0.25 * 1.5))

    assert by_cap.history == by_retention.history


def test_link_prediction_has_the_papers_share_unless_asked():
    graph = three_groups(**DENSE)

    method = make("fairgat", graph, LINK, retention=0.25)

    task = method.task
    assert method.shares == balanced_shares(task.sensitive, task.edge_index, 0.25)
    assert np.isfinite(method.update(method.forward())["loss"])
    assert make("fairgat", graph, LINK, alpha_chi_max=0.25).shares == 0.25


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"retention": 0.5, "alpha_chi_max": 0.5}, "in place of `alpha_chi_max`"),
        ({"retention": 0.5, "shares": "paper"}, "in place of `alpha_chi_max`"),
        ({"retention": 1.5}, "retention"),
        ({"shares": "balanced", "cap": False}, "`cap` is about the paper's shares"),
        ({"retention": 0.5, "cap": False}, "`cap` is about the paper's shares"),
        ({"steps": [2, 3], "alpha_chi_max": 0.5}, "`alpha_chi_max` is of step 1"),
        ({"steps": [1, 2], "eta": 0.5}, "`eta` is of step 3"),
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_refused(given, says):
    with pytest.raises(ConfigError, match=says):
        methods.settings("fairgat", given)


@pytest.mark.parametrize("features", [5, 8], ids=["narrower", "wider"])
@pytest.mark.parametrize("protocol", [NODE, LINK], ids=["nodes", "links"])
def test_the_pass_and_its_gradient(double, features, protocol):
    cell = {"alpha_chi_max": 0.3, "eta": 0.75}
    method = make("fairgat", sparse_graph(features), protocol, **cell)

    expected = dense_pass(method, neighbours(method))

    assert_same_pass(method.forward(), expected, method.model.parameters())


def test_the_share_is_capped_unless_asked():
    graph = small_graph()
    least = 1 / sum(graph.r_chi().values())

    capped = make("fairgat", graph, alpha_chi_max=0.9).model
    given = make("fairgat", graph, alpha_chi_max=0.9, cap=False).model

    assert capped.conv1.alpha_chi == pytest.approx(least)
    assert given.conv1.alpha_chi == 0.9
    assert given.conv2.alpha_chi == 0.9
