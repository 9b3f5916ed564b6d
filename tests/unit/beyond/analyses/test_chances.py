"""How often splits would support the paper's claims, against normal distributions."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyond.analyses import chances
from fairgat.audit import claims
from fairgat.errors import DataError
from fairgat.paper import results as printed

ROOT = Path(__file__).resolve().parents[4]
LOWEST = 1 / 4  # of four methods
AT_LEAST_MINUS_1 = -1.005  # as printed


def chance(number, together=(), **scenario):
    claim = claims.CLAIMS[number]
    scenario = chances.Scenario(**scenario)
    return chances.chance(claim, chances.draw(claim.table, scenario, dict(together)))


# FairGAT's accuracy less GAT's, and both deviations: claim 4 is about these.
ACCURACIES = {
    "recidivism": (-0.70, 0.15, 0.20),
    "pokec-n": (0.31, 1.09, 0.43),
    "pokec-z": (0.03, 0.56, 0.95),
}


def of_a_normal_mean(gap, a, b, shared, splits):
    """The chance that the mean of `splits` differences is at least -1."""
    variance = (a**2 + b**2 - 2 * shared * a * b) / splits
    return stats.norm.sf(AT_LEAST_MINUS_1, gap, math.sqrt(variance))


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_the_chance_of_a_claim_is_that_of_its_normal_splits(shared):
    """What methods share does not count."""
    found = chance(4, {"accuracy": shared})

    each = [of_a_normal_mean(*row, shared, 5) for row in ACCURACIES.values()]
    assert found == pytest.approx(math.prod(each), abs=0.015)


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_a_scenario_may_have_fewer_splits_and_data_sets(shared):
    found = chance(4, {"accuracy": shared}, splits=2, datasets=["pokec-z"])

    expected = of_a_normal_mean(*ACCURACIES["pokec-z"], shared, 2)
    assert found == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("splits", [2, 5])
def test_luck_makes_one_of_four_alike_methods_the_lowest(splits):
    found = chance(2, splits=splits, datasets=["recidivism"], equal=True)

    assert found == pytest.approx(LOWEST, abs=0.03)


@pytest.mark.parametrize("splits", [2, 5])
def test_alike_methods_are_as_accurate_as_their_spread_allows(splits):
    frame = printed()
    of_recidivism = frame[frame["dataset"] == "recidivism"]
    accuracies = of_recidivism[of_recidivism["metric"] == "accuracy"]
    deviations = accuracies.loc[accuracies["table"] == "comparison", "sample"]
    spread = math.sqrt((deviations**2).mean() * 2 / splits)

    found = chance(4, splits=splits, datasets=["recidivism"], equal=True)

    expected = stats.norm.sf(AT_LEAST_MINUS_1, 0, spread)
    assert found == pytest.approx(expected, abs=0.03)


def test_every_number_of_splits_from_two_is_shown_once_right_and_once_alike():
    shown = chances.scenarios(["recidivism"], [20, 1, 5, 5])

    assert [(each.splits, each.equal) for each in shown.values()] == [
        (None, False),
        (20, False),
        (20, True),
        (5, False),
        (5, True),
    ]


def test_claims_have_chances_where_they_can_be_checked():
    found = chances.chances(chances.scenarios(["recidivism"], [20]), {})

    everywhere, on_recidivism, _ = found.loc[1]
    assert everywhere < 0.5 < 0.95 < on_recidivism  # 30 % less everywhere, or there
    assert found.loc[[6, 8]].isna().all(axis=None)  # seconds have no deviation
    assert math.isnan(found.loc[7, "run here, 20 splits"])  # of articles


def scores_of(dataset, **values):
    """Scores of methods, a value on each split."""
    rows = []
    for method, of_method in values.items():
        for split, value in enumerate(of_method):
            rows.append((dataset, method, "auc", split, value))
    columns = ["dataset", "method", "metric", "split", "value"]
    return pd.DataFrame(rows, columns=columns)


def test_correlations_are_the_mean_over_data_sets_and_methods():
    rng = np.random.default_rng(0)
    parts, expected = [], []
    for dataset in ("a", "b"):
        gat = rng.normal(size=50)
        other = 0.8 * gat + 0.6 * rng.normal(size=50)
        parts.append(scores_of(dataset, gat=gat, nifty=other))
        expected.append(stats.pearsonr(gat, other).statistic)

    found = chances.correlations(pd.concat(parts))

    assert found == {"auc": pytest.approx(np.mean(expected))}


RISING, FALLING, CONSTANT = [1, 2, 3], [3, 2, 1], [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"gat": RISING, "nifty": FALLING}, {"auc": 0}, id="-1"),
        pytest.param(
            {"gat": RISING, "nifty": RISING, "edits": CONSTANT},
            {"auc": 1},
            id="beside a constant",
        ),
        pytest.param({"nifty": RISING, "edits": RISING}, {}, id="without GAT"),
    ],
)
def test_correlations_are_between_0_and_1_and_leave_out_constants(values, expected):
    with_gat = scores_of("other", gat=RISING, nifty=CONSTANT)
    scores = pd.concat([scores_of("d", **values), with_gat])

    assert chances.correlations(scores) == pytest.approx(expected)


def test_the_published_run_has_its_chances_as_csv():
    """A claim about seconds has none."""
    header, *lines = chances.main(str(ROOT / chances.PUBLISHED)).splitlines()

    assert header.startswith('claim,its data sets and splits,"run here, ')
    assert len(lines) == len(claims.CLAIMS)
    assert lines[5] == "6,,,"


def test_a_damaged_file_is_named(tmp_path):
    folder = tmp_path / "summary" / "node_classification"
    folder.mkdir(parents=True)
    (folder / "winners.csv").write_text("a,b\n1,2\n")

    with pytest.raises(DataError, match=r"winners\.csv lacks the column dataset"):
        chances.main(str(tmp_path))
