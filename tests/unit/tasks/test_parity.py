"""ΔSP split into the labels' and the errors' part."""

import numpy as np
import pytest

from fairgat.tasks.parity import parity_parts


def test_the_parts_add_up_to_the_difference_of_the_rates():
    rng = np.random.default_rng(0)
    for groups in (2, 4):
        (predicted, labels), sensitive = rng.integers(2, size=(2, 200)), rng.integers(groups, size=200)
        for group in range(groups):
            expected = predicted[sensitive == group].mean() - predicted[sensitive != group].mean()
            assert sum(parity_parts(predicted, labels, sensitive, group)) == pytest.approx(expected, abs=1e-12)


def test_what_each_part_is_about():
    sensitive = np.repeat([0, 1], 10)
    labels = np.concatenate([np.arange(10) < 3, np.arange(10) < 8])
    assert parity_parts(labels, labels, sensitive, 1) == pytest.approx((0.5, 0))  # no errors
    same = np.tile(np.arange(10) < 5, 2)  # as many labels in both, predictions of group 1 alone
    assert parity_parts(sensitive, same, sensitive, 1) == pytest.approx((0, 1))
    # By hand: p(1|s) = 0.3, 0.8; q_1s = 1, 0.5, and q_0s = 0, 0.
    predicted = labels & ~((sensitive == 1) & (np.tile(np.arange(10), 2) < 4))
    assert parity_parts(predicted, labels, sensitive, 1) == pytest.approx((0.5 * 0.75, 0.55 * -0.5))


def test_a_side_without_a_label_has_no_parts():
    assert np.isnan(parity_parts(np.ones(4), np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), 1)).all()
