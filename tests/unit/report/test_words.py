"""Numbers and rules in words."""

from types import SimpleNamespace

import pytest

from fairgat.report import labels
from fairgat.report.tables._measured import number


@pytest.mark.parametrize(
    ("tolerance", "words"),
    [(0.01, "at most 1 point less"), (0.02, "at most 2 points less")],
)
def test_the_rule_says_how_much_accuracy_may_be_lost(tolerance, words):
    settings = SimpleNamespace(rule="fair", tolerance=tolerance)
    assert words in labels.rule(settings)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (0.9994, "0.999"),
        (0.9995, "1.00"),
        (12.345, "12.3"),
        (1234.5, "1234"),
        (float("nan"), "–"),
    ],
)
def test_a_number_has_three_digits(value, text):
    assert str(number(value)) == text


def test_one_of_a_thing_is_not_several():
    assert [labels.counted(n, "split") for n in (0, 1, 5)] == [
        "0 splits",
        "1 split",
        "5 splits",
    ]
