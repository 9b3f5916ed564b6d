"""What a narrower gap costs, on a made-up study.

FairGAT has one cell, the penalty three: one is beaten by another, and another costs too
much.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from study_files import write

from beyond.analyses import trade_off
from fairgat import frames
from fairgat.errors import DataError

LOST = {"small~1": 0.004, "large~1": 0.03, "beaten~1": 0.031}
NARROWED = {"small~1": 0.01, "large~1": 0.06, "beaten~1": 0.02}
NOISE = np.array([0.0, 0.01, -0.01])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder of the analysed study."""
    cells = [("gat", "default", 0, 0), ("fairgat-uncapped", "default", 0.004, 0.03)]
    for cell, lost in LOST.items():
        cells.append(("gat-penalty", cell, lost, NARROWED[cell]))
    scores = []
    for method, cell, lost, narrowed in cells:
        values = {
            "accuracy": 0.9 - lost,
            "auc": 0.8 - lost,
            "statistical_parity": 0.1 - narrowed,
            "equal_opportunity": 0.1 - narrowed / 2,
        }
        for metric, value in values.items():
            noisy = value + NOISE * (1 + lost)
            scores.append(("d", method, cell, metric, noisy))
            scores.append(("d", method, cell, metric, [value] * 3, "validation"))
    folder = write(tmp_path_factory.mktemp("x") / "trade-off", scores)
    trade_off.main(folder)
    return folder


@pytest.fixture
def penalty(study):
    """The penalty's cells, by ΔSP."""
    rows = frames.read(study / "trade-off.csv")
    mine = rows[rows["measure"] == "statistical_parity"]
    return mine[mine["method"] == "gat-penalty"].set_index("cell")


def test_every_cell_has_what_it_loses_and_narrows(penalty):
    assert penalty["lost"].to_dict() == pytest.approx(LOST)
    assert penalty["narrowed"].to_dict() == pytest.approx(NARROWED)


def test_a_cell_is_on_the_front_unless_another_beats_it(penalty):
    assert penalty["front"].to_dict() == {
        "small~1": True,
        "large~1": True,
        "beaten~1": False,
    }


def test_what_is_lost_has_the_interval_of_a_paired_t_test(penalty):
    lost = 0.03 - 0.03 * NOISE

    line = penalty.loc["large~1"]

    expected = stats.ttest_1samp(lost, 0).confidence_interval()
    assert line["lost_low"] == pytest.approx(expected.low)
    assert line["lost_high"] == pytest.approx(expected.high)


@pytest.fixture
def budgets(study):
    """What methods narrow by ΔSP where they may lose a point of accuracy."""
    rows = frames.read(study / "budgets.csv")
    by_measure = rows[rows["measure"] == "statistical_parity"]
    return by_measure[by_measure["budget"] == 0.01].set_index("method")


def test_validation_chooses_among_the_cells_within_the_budget(study):
    """The others lose 3 points."""
    rows = frames.read(study / "budgets.csv")

    cells = rows.loc[rows["method"] == "gat-penalty", "cell"]
    assert set(cells) == {"small~1"}


def validation(**accuracies):
    """Validation scores of GAT, 0.8 on three splits, and of cells of the penalty."""
    rows = []
    for cell, values in {"default": [0.8] * 3, **accuracies}.items():
        method = "gat" if cell == "default" else "gat-penalty"
        for split, accuracy in enumerate(values):
            run = {"dataset": "d", "method": method, "cell": cell, "split": split}
            gap = accuracy - 0.7  # the less accurate, the narrower
            for metric in ("statistical_parity", "equal_opportunity"):
                rows.append(run | {"metric": metric, "value": gap})
            rows.append(run | {"metric": "accuracy", "value": accuracy})
    return pd.DataFrame(rows)


def chosen_cells(scores):
    chosen = trade_off.choices(scores)
    return chosen.groupby("budget")["cell"].unique().str.join(" ").to_dict()


def test_a_cell_may_lose_all_of_a_budget():
    """Though 0.8 - 0.01 is above 0.79 in floating point, as means over three splits."""
    scores = validation(**{"a~1": [0.795] * 3, "a~2": [0.79] * 3, "a~3": [0.78] * 3})

    assert chosen_cells(scores) == {0.005: "a~1", 0.01: "a~2", 0.02: "a~3"}


def test_a_cell_that_failed_on_a_split_is_not_chosen():
    scores = validation(**{"a~1": [0.795] * 3, "a~2": [0.79] * 2})

    assert set(chosen_cells(scores).values()) == {"a~1"}


def test_a_budget_has_what_the_chosen_cell_changes(budgets):
    line = budgets.loc["gat-penalty"]

    assert line["difference"] == pytest.approx(-0.01)
    assert line["auc"] == pytest.approx(-0.004)
    assert line["less_fairgat"] == pytest.approx(0.02)


def test_the_interval_for_other_people_is_wider(budgets):
    """By Nadeau and Bengio, for three splits."""
    line = budgets.loc["gat-penalty"]

    half = line["difference"] - line["difference_low"]
    wider = np.sqrt((1 / 3 + 0.3 / 0.4) / (1 / 3))
    assert line["difference_corrected"] == pytest.approx(half * wider)


def test_fairgat_is_not_compared_with_itself(budgets):
    assert np.isnan(budgets.loc["fairgat-uncapped", "less_fairgat"])


def test_budgets_are_a_page_too(study):
    assert "| GAT-PENALTY" in (study / "budgets.md").read_text()


def test_of_fewer_than_five_splits_nothing_is_bold(budgets, study):
    assert (budgets["difference_high"] < 0).any()
    page = (study / "budgets.md").read_text()
    assert "**" not in page
    assert "that leaves out 0 over 5 splits or more" in page


def test_a_study_of_an_older_release_is_refused(tmp_path):
    folder = write(tmp_path, [("d", "gat", "default", "accuracy", [0.5])])
    scores = frames.read(folder / "scores.csv")
    frames.write(folder / "scores.csv", scores.drop(columns="part"))

    with pytest.raises(DataError, match=r"scores\.csv lacks the column part"):
        trade_off.main(folder)
