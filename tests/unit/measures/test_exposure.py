"""Exposure against its definition, a published value and a perfect ranking."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgat import measures
from fairgat.measures.exposure import ndkl
from fairgat.measures.metrics import Decisions

PERCENTS = (10, 25, 100)


def of_links(scores, labels, groups, count):
    decisions = Decisions(scores, 0.5, scores > 0, labels, groups, count)
    return measures.compute("link_prediction", decisions)


def by_definition(ranked, desired):
    """Geyik, Ambler and Kenthapadi (2019), equation 4, prefix by prefix."""
    total = weights = 0.0
    for place in range(1, len(ranked) + 1):
        divergence = 0.0
        for kind, share in desired.items():
            found = ranked[:place].count(kind) / place
            if found and not share:
                return math.inf
            if found:
                divergence += found * math.log(found / share)
        weight = 1 / math.log2(place + 1)
        total += weight * divergence
        weights += weight
    return total / weights


def test_a_published_value():
    """Seven men before three women: FairRankTune's, which adds 1e-7 to shares."""
    ranked, desired = np.repeat([0, 1], [7, 3]), np.array([0.7, 0.3])

    assert ndkl(ranked, desired) == pytest.approx(0.2925554332073208, rel=1e-5)


def test_an_empty_ranking_has_no_divergence():
    assert math.isnan(ndkl(np.zeros(0, int), np.array([0.7, 0.3])))


def share_within(kinds):
    """The share of pairs within a group."""
    return 1 - kinds.count("across") / len(kinds)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 60))
def test_exposure_by_definition(seed, count, pairs):
    rng = np.random.default_rng(seed)
    scores = rng.permutation(pairs) - pairs / 2
    labels = rng.random(pairs) < 0.5
    labels[0] = True
    groups = rng.integers(count, size=(2, pairs))

    found = of_links(scores, labels, groups, count)

    kinds = [u if u == v else "across" for u, v in groups.T]
    ranked = [kinds[pair] for pair in np.argsort(-scores)]
    true = [kinds[pair] for pair in np.flatnonzero(labels)]
    desired = {kind: true.count(kind) / len(true) for kind in set(kinds)}
    assert found["within_links"] == pytest.approx(share_within(true))
    for percent in PERCENTS:
        first = ranked[: max(1, round(percent / 100 * len(true)))]
        expected = by_definition(first, desired)
        if math.isinf(expected):  # a kind that no true link has
            expected = math.nan
        within = found[f"within_{percent}"]
        assert found[f"ndkl_{percent}"] == pytest.approx(expected, nan_ok=True)
        assert within == pytest.approx(share_within(first))


def test_without_a_true_link_exposure_is_missing():
    nobody = np.zeros(6, bool)
    groups = np.array([[0, 0, 1, 1, 0, 1], [0, 1, 1, 0, 0, 1]])

    found = of_links(np.arange(6) - 2.5, nobody, groups, 2)

    assert np.isnan(found["within_links"])
    for percent in PERCENTS:
        assert np.isnan(found[f"ndkl_{percent}"])
        assert np.isnan(found[f"within_{percent}"])


@pytest.fixture
def two_rankings():
    """Of 400 pairs, the first half true links: a perfect ranking and a random one."""
    rng = np.random.default_rng(0)
    labels = np.arange(400) < 200
    groups = rng.integers(3, size=(2, 400))
    perfect = of_links(labels + rng.random(400) / 2, labels, groups, 3)
    return perfect, of_links(rng.random(400), labels, groups, 3)


def test_who_ranks_all_true_links_first_shows_their_share(two_rankings):
    perfect, _ = two_rankings

    assert perfect["within_100"] == perfect["within_links"]
    assert perfect["ndkl_100"] == pytest.approx(perfect["ndkl_perfect_100"], rel=0.5)


def test_the_perfect_ranking_that_stands_beside_has_nothing_of_the_scores(
    two_rankings,
):
    perfect, random = two_rankings

    assert perfect["within_links"] == random["within_links"]
    for percent in PERCENTS:
        name = f"ndkl_perfect_{percent}"
        assert perfect[name] == random[name] > 0


def test_equal_scores_do_not_favour_what_stands_first():
    """True links stand first in a split: of equal pairs they are no better."""
    labels = np.arange(1000) < 500
    within = labels
    groups = np.stack([np.zeros(1000, int), np.where(within, 0, 1)])

    found = of_links(np.zeros(1000), labels, groups, 2)

    assert found["within_links"] == 1
    assert found["within_100"] == pytest.approx(0.5, abs=0.1)
