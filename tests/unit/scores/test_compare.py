"""Rows get their numbers: means, and paired differences against SciPy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairgat.scores.compare import BASE, RUN, by_run, compare

GAT = [0.90, 0.93, 0.95, 0.91, 0.94]
BETTER = [0.91, 0.95, 0.96, 0.93, 0.95]
NOISY = [0.80, 0.99, 0.90, 0.97, 0.95]


def scores(method, values, cell="default", metric="accuracy"):
    """The scores of a run by split; None: missing."""
    lines = [
        ("recidivism", method, cell, "accuracy", metric, split, value)
        for split, value in enumerate(values)
    ]
    columns = [*RUN, "metric", "split", "value"]
    return pd.DataFrame(lines, columns=columns).astype({"value": float})


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
    return compare(pd.DataFrame(rows), pd.concat(given)).itertuples(index=False)


def test_means_and_differences_are_those_of_a_paired_t_test():
    given = scores("gat", GAT), scores("fairgat", NOISY), scores("fairgat", BETTER, "b")
    (first, second) = compared([row("fairgat", "b"), row("fairgat")], *given)
    for line, values in ((first, BETTER), (second, NOISY)):
        expected = stats.ttest_rel(values, GAT).confidence_interval()
        assert (line.low, line.high) == pytest.approx((expected.low, expected.high))
        assert line.difference == pytest.approx(np.mean(values) - np.mean(GAT))
        assert line.mean == pytest.approx(np.mean(values))
        assert line.std == pytest.approx(np.std(values, ddof=1))
        assert (line.n_splits, line.pairs, line.ran) == (5, 5, 5)


def test_splits_on_which_either_side_lacks_a_score_are_left_out():
    given = (
        scores("gat", [*GAT[:3], None, None]),
        scores("fairgat", [None, *BETTER[1:]]),
    )
    (line,) = compared([row("fairgat")], *given)
    assert (line.ran, line.n_splits, line.pairs) == (5, 4, 2)
    assert line.mean == pytest.approx(np.mean(BETTER[1:]))
    assert line.difference == pytest.approx(np.mean(BETTER[1:3]) - np.mean(GAT[1:3]))


def test_a_row_without_a_run_or_a_base_stays_without_numbers():
    rows = [
        row("gat", of_cell=""),
        row("fairgat", cell=""),
        row("fairgat", of_cell="x"),
    ]
    given = scores("gat", GAT), scores("fairgat", BETTER)
    reference, without_run, without_base = compared(rows, *given)
    assert reference.mean == pytest.approx(np.mean(GAT))
    assert math.isnan(without_run.mean) and without_run.n_splits == 0
    assert without_base.n_splits == 5
    for line in (reference, without_run, without_base):
        assert math.isnan(line.difference) and math.isnan(line.low)


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
    given = [scores("gat", GAT), scores("fairgat", BETTER)]
    for group, rates in enumerate([[0, 1, 0.5, 0, 0.995], [0, 1, 0, 0.5, 0.999]]):
        given.append(scores("fairgat", rates, metric=f"positive_rate_{group}"))
    (line,) = compared([row("fairgat")], *given)
    assert line.constant == 3


def test_scores_under_other_rules_for_the_epoch_are_runs_of_their_own():
    runs = pd.DataFrame({"dataset": "d", "protocol": ["", "validation", "qian"]})
    named = by_run(runs, ["validation"])
    assert named["epochs"].tolist() == ["accuracy", "accuracy", "qian"]
    assert set(named["run_on"]) == {"d"}
    assert set(BASE) == set(RUN)
