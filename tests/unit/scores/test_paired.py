"""Paired differences to GAT: the numbers against SciPy, and the page."""

import numpy as np
import pandas as pd
import pytest
from reporting_fixtures import LINK, NODE
from scipy import stats

from fairgat.reporting.render import render
from fairgat.scores import paired
from fairgat.scores.summary import COLUMNS_OF_SPLITS

GAT = [0.90, 0.93, 0.95, 0.91, 0.94]
BETTER = [0.91, 0.95, 0.96, 0.93, 0.95]
NOISY = [0.80, 0.99, 0.90, 0.97, 0.95]
SETTINGS = {
    "datasets": {"recidivism": {"title": "Recidivism", "task": NODE}, "cora": {"title": "Cora", "task": LINK}},
    "methods": {"fairgat": {"title": "FairGAT"}},
}


def scores(method, cell, values, part="test"):
    return [("recidivism", method, cell, split, part, "accuracy", value) for split, value in enumerate(values)]


@pytest.fixture
def frame():
    rows = scores("gat", "default", GAT) + scores("gat", "default", NOISY, "validation")
    rows += scores("fairgat", "eta~0.75", BETTER) + scores("fairgat", "eta~1.0", NOISY[:4])
    winners = [("fair", "recidivism", "gat", "default"), ("fair", "recidivism", "fairgat", "eta~0.75")]
    winners += [("accuracy", "recidivism", "fairgat", "eta~1.0")]
    by_rule = pd.DataFrame(winners, columns=["rule", "dataset", "method", "cell"])
    return paired.compare(pd.DataFrame(rows, columns=COLUMNS_OF_SPLITS), by_rule, "fair")


def test_differences_are_those_of_a_paired_t_test(frame):
    first, second = frame.itertuples()
    expected = stats.ttest_rel(BETTER, GAT).confidence_interval()
    assert (first.low, first.high) == pytest.approx((expected.low, expected.high))
    assert first.difference == pytest.approx(np.mean(BETTER) - np.mean(GAT))
    assert (first.selected, second.selected) == (True, False)
    expected = stats.ttest_rel(NOISY[:4], GAT[:4]).confidence_interval()  # the split that is missing is left out
    assert (second.n_splits, second.low) == (4, pytest.approx(expected.low))


def test_the_page(frame):
    lines = render(paired.page(frame, SETTINGS), "md").splitlines()
    better = next(line for line in lines if "eta 0.75" in line)
    noisy = next(line for line in lines if "eta 1.0" in line)
    assert "FairGAT" in better and "**eta 0.75**" in better and "**+1.40**" in better
    assert "FairGAT" not in noisy and "**" not in noisy
    assert not any("Cora" in line for line in lines)


def test_without_the_reference_nothing_is_compared(frame):
    by_rule = pd.DataFrame(
        [("fair", "recidivism", "fairgat", "eta~1.0")], columns=["rule", "dataset", "method", "cell"]
    )
    rows = pd.DataFrame(scores("fairgat", "eta~1.0", GAT), columns=COLUMNS_OF_SPLITS)
    assert paired.compare(rows, by_rule, "fair").empty
    assert render(paired.page(paired.compare(rows, by_rule, "fair"), SETTINGS), "md")
