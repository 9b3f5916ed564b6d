"""FairGAT's shares: which ones a data set gets, and what they do to the attention between groups."""

import numpy as np
import pytest
from dense import LINK, make, small_graph, three_groups

from fairgat import methods, theory
from fairgat.errors import ConfigError
from fairgat.nn import Shares, balanced_shares
from fairgat.training.job import fit

DENSE = {"nodes": 60, "edges": 900}  # everyone has neighbours of all groups


@pytest.mark.parametrize("groups", [small_graph, three_groups])
@pytest.mark.parametrize("retention", [0.5, 0.25, 0.0, -0.25])
def test_mixing_keeps_the_retention_of_a_difference(groups, retention):
    method = make("fairgat", groups(**DENSE), shares="balanced", retention=retention, steps=[1])
    for _ in range(3):  # whatever the scores
        method.update(method.forward())
    for terms in theory.measure(method)[:2]:
        assert terms.tau == pytest.approx(abs(retention), abs=1e-4)


def test_more_than_two_groups_get_balanced_shares_and_two_the_papers():
    two, three = small_graph(**DENSE), three_groups(**DENSE)
    assert make("fairgat", two, alpha_chi_max=0.25).shares == 0.25
    assert make("fairgat", three, alpha_chi_max=0.25, shares="paper").shares == 0.25
    assert make("fairgat", three, alpha_chi_max=0.25, steps=[2, 3]).shares is None
    one, other = (make("fairgat", three, **cell) for cell in ({"alpha_chi_max": 0.25}, {"retention": 1 - 0.25 * 1.5}))
    assert one.shares == other.shares and one.shares.tau == pytest.approx(0.625)
    assert fit(one).history == fit(other).history


def test_the_papers_share_is_a_retention_where_groups_are_as_large():
    """alpha_chi = (1 - phi) / 2: a ring in which everyone has as many neighbours, itself included, of each group."""
    ring = np.arange(60)
    edges = np.concatenate([np.stack([ring, (ring + step) % 60]) for step in (1, 2, 57, 58, 59, 3)], axis=1)
    graph = small_graph(nodes=60).with_edges(edges)
    graph.sensitive[:] = ring % 2
    for alpha_chi in (0.25, 0.4):
        balanced = make("fairgat", graph, alpha_chi_max=alpha_chi, shares="balanced", steps=[1])
        paper = make("fairgat", graph, alpha_chi_max=alpha_chi, steps=[1])
        assert isinstance(balanced.shares, Shares)
        for ours, theirs in zip(theory.measure(balanced)[:2], theory.measure(paper)[:2], strict=True):
            assert ours.alpha_chi == pytest.approx(theirs.alpha_chi, abs=0.02)


def test_link_prediction_has_the_papers_shares_unless_asked():
    graph = three_groups(**DENSE)
    assert make("fairgat", graph, LINK, alpha_chi_max=0.25).shares == 0.25
    method = make("fairgat", graph, LINK, retention=0.25)
    assert method.shares == balanced_shares(method.task.sensitive, method.task.edge_index, 0.25)
    assert np.isfinite(method.update(method.forward())["loss"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"retention": 0.5, "alpha_chi_max": 0.5}, "in place of `alpha_chi_max`"),
        ({"retention": 0.5, "shares": "paper"}, "in place of `alpha_chi_max`"),
        ({"retention": 1.5}, "retention"),
        ({"shares": "balanced", "cap": False}, "`cap` is about the paper's shares"),
    ],
)
def test_settings_that_do_not_go_together(given, says):
    with pytest.raises(ConfigError, match=says):
        methods.settings("fairgat", given)
