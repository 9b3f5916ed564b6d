"""Rows get their numbers: means, and paired differences against SciPy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairgat.scores.compare import BASE, RUN, by_run, compare, with_splits_needed
from fairgat.scores.paired import splits_needed

GAT = [0.90, 0.93, 0.95, 0.91, 0.94]
BETTER = [0.91, 0.95, 0.96, 0.93, 0.95]
NOISY = [0.80, 0.99, 0.90, 0.97, 0.95]


def scores(method, values, cell="default", metric="accuracy"):
    """The scores of a run by split; None: missing."""
    run = ("recidivism", method, cell, "accuracy")
    rows = [(*run, metric, split, value) for split, value in enumerate(values)]
    frame = pd.DataFrame(rows, columns=[*RUN, "metric", "split", "value"])
    return frame.astype({"value": float})


def row(method, cell="default", of_cell="default", ratio=math.nan):
    """A row that is compared with GAT."""
    return {
        "run_on": "recidivism",
        "method": method,
        "cell": cell,
        "epochs": "accuracy",
        "dataset": "recidivism",
        "of": "gat",
        "of_cell": of_cell,
        "of_epochs": "accuracy",
        "metric": "accuracy",
        "ratio": ratio,
    }


def compared(rows, *given):
    lines = compare(pd.DataFrame(rows), pd.concat(given))
    return list(lines.itertuples(index=False))


def test_means_and_differences_are_those_of_a_paired_t_test():
    given = [scores("gat", GAT), scores("fairgat", NOISY)]

    (line,) = compared([row("fairgat")], *given)

    expected = stats.ttest_rel(NOISY, GAT).confidence_interval()
    assert (line.low, line.high) == pytest.approx((expected.low, expected.high))
    assert line.difference == pytest.approx(np.mean(NOISY) - np.mean(GAT))
    assert line.mean == pytest.approx(np.mean(NOISY))
    assert line.std == pytest.approx(np.std(NOISY, ddof=1))
    assert (line.n_splits, line.pairs, line.ran) == (5, 5, 5)


def test_lines_have_the_order_of_the_rows():
    given = scores("gat", GAT), scores("fairgat", NOISY), scores("fairgat", BETTER, "b")

    first, second = compared([row("fairgat", "b"), row("fairgat")], *given)

    assert first.mean == pytest.approx(np.mean(BETTER))
    assert second.mean == pytest.approx(np.mean(NOISY))


def test_a_line_has_what_its_row_has_and_its_numbers():
    """Wherever the row stood before."""
    rows = pd.DataFrame([row("nifty"), row("fairgat")])

    lines = compare(rows.iloc[1:], scores("gat", GAT))

    numbers = {"n_splits", "mean", "std", "pairs", "difference", "spread"}
    numbers |= {"low", "high", "corrected", "ran", "constant"}
    assert set(lines.columns) == numbers | set(rows.columns)


def test_splits_on_which_either_side_lacks_a_score_are_left_out():
    base = scores("gat", [*GAT[:3], None, None])
    own = scores("fairgat", [None, *BETTER[1:]])

    (line,) = compared([row("fairgat")], base, own)

    assert (line.ran, line.n_splits, line.pairs) == (5, 4, 2)
    assert line.mean == pytest.approx(np.mean(BETTER[1:]))
    assert line.difference == pytest.approx(np.mean(BETTER[1:3]) - np.mean(GAT[1:3]))


@pytest.mark.parametrize(
    ("asked", "n_splits", "mean"),
    [
        pytest.param(row("gat", of_cell=""), 5, np.mean(GAT), id="the reference"),
        pytest.param(row("fairgat", cell=""), 0, math.nan, id="no run"),
        pytest.param(row("fairgat", of_cell="x"), 5, np.mean(BETTER), id="no base"),
    ],
)
def test_a_row_without_a_run_or_a_base_has_no_difference(asked, n_splits, mean):
    (line,) = compared([asked], scores("gat", GAT), scores("fairgat", BETTER))

    assert line.n_splits == n_splits
    assert line.mean == pytest.approx(mean, nan_ok=True)
    assert math.isnan(line.difference)
    assert math.isnan(line.low)


def test_one_run_may_be_in_several_rows():
    given = scores("gat", GAT), scores("gat", NOISY, "x"), scores("fairgat", BETTER)

    first, second = compared([row("fairgat"), row("fairgat", of_cell="x")], *given)

    assert first.mean == second.mean
    assert second.difference == pytest.approx(np.mean(BETTER) - np.mean(NOISY))


def test_the_interval_for_other_people_is_wider_by_the_ratio():
    given = scores("gat", GAT), scores("fairgat", BETTER)

    (line,) = compared([row("fairgat", ratio=0.75)], *given)

    wider = math.sqrt((1 / 5 + 0.75) / (1 / 5))
    assert line.corrected == pytest.approx(wider * (line.high - line.low) / 2)


def test_splits_with_one_answer_for_nearly_everyone_are_counted():
    """All no on the first and the fourth, all yes on the second and the last."""
    given = [
        scores("gat", GAT),
        scores("fairgat", BETTER),
        scores("fairgat", [0, 1, 0.5, 0.01, 0.99], metric="positive_rate_0"),
        scores("fairgat", [0, 1, 0, 0.005, 0.999], metric="positive_rate_1"),
        scores("fairgat", [0, 0, 0, 0, 0], metric="positive_rate_gap"),
    ]

    (line,) = compared([row("fairgat")], *given)

    assert line.constant == 4


def test_splits_needed_are_known_where_the_paper_and_our_spread_are():
    lines = pd.DataFrame(
        {"paper_difference": [0.01, None, 0.01], "spread": [0.02, 0.02, 0.0]}
    )

    needed = with_splits_needed(lines)["splits_needed"]

    expected = [splits_needed(0.01, 0.02), math.nan, math.nan]
    assert needed.tolist() == pytest.approx(expected, nan_ok=True)


def test_scores_under_other_rules_for_the_epoch_are_runs_of_their_own():
    runs = pd.DataFrame({"dataset": "d", "protocol": ["", "validation", "qian"]})

    named = by_run(runs, ["validation"])

    assert named["epochs"].tolist() == ["accuracy", "accuracy", "qian"]
    assert set(named["run_on"]) == {"d"}


def test_every_name_of_a_run_is_one_of_what_it_is_compared_with():
    assert set(BASE) == set(RUN)
