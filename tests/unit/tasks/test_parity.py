"""ΔSP split into the labels' and the errors' part."""

import numpy as np
import pytest

from fairgat.tasks import measures
from fairgat.tasks.metrics import Decisions, counted
from fairgat.tasks.parity import parity_parts


def split(predicted, labels, side):
    return parity_parts(counted(*(np.asarray(each).astype(bool) for each in (predicted, labels, side)), 2))


def test_the_parts_add_up_to_the_difference_of_the_rates():
    predicted, labels, side = np.random.default_rng(0).integers(2, size=(3, 200))
    expected = predicted[side == 1].mean() - predicted[side == 0].mean()
    assert sum(split(predicted, labels, side)) == pytest.approx(expected, abs=1e-12)


def test_what_each_part_is_about():
    side = np.repeat([0, 1], 10)
    labels = np.concatenate([np.arange(10) < 3, np.arange(10) < 8])
    assert split(labels, labels, side) == pytest.approx((0.5, 0))  # no errors
    same = np.tile(np.arange(10) < 5, 2)  # as many labels in both, predictions of side 1 alone
    assert split(side, same, side) == pytest.approx((0, 1))
    # By hand: p(1|s) = 0.3, 0.8; q_s1 = 1, 0.5, and q_s0 = 0, 0.
    predicted = labels & ~((side == 1) & (np.tile(np.arange(10), 2) < 4))
    assert split(predicted, labels, side) == pytest.approx((0.5 * 0.75, 0.55 * -0.5))


def test_a_side_without_a_label_has_no_parts():
    assert np.isnan(split(np.ones(4), [0, 1, 1, 1], [0, 0, 1, 1])).all()


@pytest.mark.parametrize("groups", [2, 4])
def test_as_measures_they_add_up_to_the_gap(groups):
    rng = np.random.default_rng(1)
    scores, labels, sensitive = rng.normal(size=300), rng.random(300) < 0.4, rng.integers(groups, size=300)
    found = measures.compute("node_classification", Decisions(scores, 0.0, scores > 0, labels, sensitive, groups))
    assert found["parity_labels"] + found["parity_errors"] == pytest.approx(found["statistical_parity"], abs=1e-12)
    nobody = Decisions(scores, 0.0, scores > 0, labels & (sensitive > 0), sensitive, groups)
    found = measures.compute("node_classification", nobody)
    extremes = [found[f"positive_rate_{group}"] for group in range(groups)]
    assert np.isnan(found["parity_labels"]) == (0 in (np.argmin(extremes), np.argmax(extremes)))
    assert np.isnan(
        measures.compute("node_classification", Decisions(scores, 0.0, scores > 0, labels, 0 * sensitive, 2))[
            "parity_errors"
        ]
    )
