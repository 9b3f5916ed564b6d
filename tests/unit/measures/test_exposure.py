"""Exposure against its definition, a published value and a perfect ranking."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgat import measures
from fairgat.measures.exposure import ndkl
from fairgat.measures.metrics import Decisions


def of_links(scores, labels, groups, count):
    decisions = Decisions(scores, 0.5, scores > 0, labels, groups, count)
    return measures.compute("link_prediction", decisions)


def by_definition(ranked, desired):
    """Geyik, Ambler and Kenthapadi (2019), equation 4, prefix by prefix."""
    total = weights = 0.0
    for i in range(1, len(ranked) + 1):
        divergence = 0.0
        for kind, share in desired.items():
            found = sum(each == kind for each in ranked[:i]) / i
            if found:
                divergence += found * math.log(found / share) if share else math.inf
        total += divergence / math.log2(i + 1)
        weights += 1 / math.log2(i + 1)
    return total / weights


def within(kinds):
    """The share of pairs within a group."""
    return np.mean([kind != "across" for kind in kinds])


def test_a_published_value():
    """Seven men before three women: FairRankTune's example, which adds 1e-7 to shares."""
    ranked, desired = np.repeat([0, 1], [7, 3]), np.array([0.7, 0.3])
    assert ndkl(ranked, desired) == pytest.approx(0.2925554332073208, rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 60))
def test_exposure_by_definition(seed, count, pairs):
    rng = np.random.default_rng(seed)
    scores, labels = rng.permutation(pairs) - pairs / 2, rng.random(pairs) < 0.5
    groups = rng.integers(count, size=(2, pairs))
    found = of_links(scores, labels, groups, count)
    kinds = [u if u == v else "across" for u, v in groups.T]
    true = [kind for kind, label in zip(kinds, labels, strict=True) if label]
    ranked = [kinds[pair] for pair in np.argsort(-scores)]
    for percent in (10, 25, 100):
        names = f"ndkl_{percent}", f"within_{percent}"
        if not true:
            for name in (*names, "within_links"):
                assert np.isnan(found[name])
            continue
        first = ranked[: max(1, round(percent / 100 * len(true)))]
        desired = {kind: true.count(kind) / len(true) for kind in set(kinds)}
        expected = by_definition(first, desired)
        if math.isinf(expected):  # a kind that no true link has
            assert math.isnan(found[names[0]])
        else:
            assert found[names[0]] == pytest.approx(expected)
        assert found[names[1]] == pytest.approx(within(first))
        assert found["within_links"] == within(true)


def test_a_perfect_ranking_stands_beside_it():
    """It has nothing of the scores; who ranks all true links first shows their share."""
    rng = np.random.default_rng(0)
    labels, groups = np.arange(400) < 200, rng.integers(3, size=(2, 400))
    perfect = of_links(labels + rng.random(400) / 2, labels, groups, 3)
    worse = of_links(rng.random(400), labels, groups, 3)
    assert perfect["within_100"] == perfect["within_links"] == worse["within_links"]
    for percent in (10, 25, 100):
        name = f"ndkl_perfect_{percent}"
        assert perfect[name] == worse[name] > 0
    assert perfect["ndkl_perfect_100"] == pytest.approx(perfect["ndkl_100"], rel=0.5)


def test_equal_scores_do_not_favour_what_stands_first():
    """True links stand first in a split: of equal pairs they are no better."""
    labels = np.arange(1000) < 500
    groups = np.stack([np.zeros(1000, int), (~labels).astype(int)])  # true: within
    found = of_links(np.zeros(1000), labels, groups, 2)
    assert found["within_links"] == 1
    assert found["within_100"] == pytest.approx(0.5, abs=0.1)
