"""The cell that stands for a method on a data set."""

import math

import pytest
from small_results import LINK, NODE, metrics, scores

from fairgat.scores import judging, selection


def select(cells, rule="fair", tolerance=0.01, published=None, task=NODE):
    """Select among cells, each a list of splits.

    A split is (accuracy, fairness), or the reason for which it failed.
    """
    runs = []
    for cell, splits in cells.items():
        for number, split in enumerate(splits):
            if isinstance(split, str):
                run = metrics("d", "m", cell, number, None, task=task, failure=split)
            else:
                validation = scores(task, *split)
                run = metrics("d", "m", cell, number, validation, task=task)
            runs.append(run)
    shard = judging.table(runs)
    return selection.select(shard, task, "validation", rule, tolerance, published)


FOUR_CELLS = {
    "x~1": [(0.900, 0.10), (0.900, 0.10)],  # most accurate
    "x~2": [(0.893, 0.04), (0.893, 0.06)],  # fairest within one point
    "x~3": [(0.700, 0.00), (0.700, 0.00)],  # fairest of all, too far off
    "x~4": [(0.895, 0.09), (0.895, 0.09)],  # published
}


@pytest.mark.parametrize(
    ("rule", "cell"), [("fair", "x~2"), ("accuracy", "x~1"), ("paper", "x~4")]
)
def test_each_rule_has_its_own_winner_and_the_asked_one_is_shown(rule, cell):
    chosen = select(FOUR_CELLS, rule, published={"x": 4})

    assert chosen["winners"][rule]["cell"] == cell
    assert chosen["winner"] == cell


@pytest.mark.parametrize(
    ("rule", "score"),
    [
        pytest.param("fair", "10.00 %", id="the sum of both measures"),
        pytest.param("accuracy", "90.00 %", id="the accuracy"),
    ],
)
def test_a_reason_names_the_score_that_decided(rule, score):
    chosen = select(FOUR_CELLS)

    assert score in chosen["winners"][rule]["reason"]


def test_how_many_cells_are_near_the_best_and_how_near_is_said():
    chosen = select(FOUR_CELLS)

    assert "3 of 4 cells within 1 points" in chosen["winners"]["fair"]["reason"]


def test_cells_are_listed_with_their_mean_validation_scores():
    second = select(FOUR_CELLS)["cells"][1]

    assert second["cell"] == "x~2"
    assert second["parameters"] == {"x": 2}
    assert second["n_splits"] == 2
    assert second["validation"]["accuracy"] == pytest.approx(0.893)
    assert second["validation"]["statistical_parity"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("tolerance", "winner"),
    [
        # In floating point 0.90 - 0.01 is above 0.89.
        pytest.param(0.01, "x~2", id="at the edge of the tolerance"),
        pytest.param(0.0099, "x~1", id="beyond it"),
    ],
)
def test_the_fairest_wins_within_the_tolerance(tolerance, winner):
    cells = {"x~1": [(0.90, 0.1)], "x~2": [(0.89, 0.0)]}

    assert select(cells, tolerance=tolerance)["winner"] == winner


def test_of_equally_fair_cells_the_more_accurate_wins():
    cells = {"x~1": [(0.895, 0.1)], "x~2": [(0.9, 0.1)]}

    assert select(cells)["winner"] == "x~2"


@pytest.mark.parametrize("rule", ["fair", "accuracy"])
def test_of_equal_cells_the_first_of_the_grid_wins(rule):
    cells = {"x~9": [(0.9, 0.1)], "x~1": [(0.9, 0.1)]}

    assert select(cells, rule)["winner"] == "x~9"


def test_for_links_all_six_measures_are_summed():
    cells = {
        "x~1": [(0.7, [0.0, 0.0, 0.2, 0.2, 0.2, 0.2])],
        "x~2": [(0.7, [0.3, 0.3, 0.0, 0.0, 0.0, 0.0])],
    }

    assert select(cells, task=LINK)["winner"] == "x~2"


def test_test_scores_are_never_looked_at():
    high, low = scores(NODE, 0.9, 0.1), scores(NODE, 0.8, 0.2)
    runs = [
        metrics("d", "m", "x~1", 0, high, test=scores(NODE, 0.1, 0.9)),
        metrics("d", "m", "x~2", 0, low, test=scores(NODE, 1.0, 0.0)),
    ]
    shard = judging.table(runs)

    chosen = selection.select(shard, NODE, "validation", "fair", 0.5, None)

    assert chosen["winner"] == "x~1"


def test_a_gap_that_one_cell_lacks_on_a_split_counts_there_for_no_cell():
    cells = {
        "x~1": [(0.9, [0.1, 0.0]), (0.9, [0.1, 0.3])],
        # By the mean of its own splits it would be the fairer.
        "x~2": [(0.9, [0.1, 0.1]), (0.9, [0.1, None])],
    }

    chosen = select(cells)

    first, second = chosen["cells"]
    assert chosen["winner"] == "x~1"
    assert first["validation"]["equal_opportunity"] == 0.0
    assert second["validation"]["equal_opportunity"] == 0.1
    assert (first["n_splits"], second["n_splits"]) == (2, 2)
    assert not chosen["failed"]


def test_a_gap_that_is_missing_on_every_split_is_left_out_of_the_sum():
    chosen = select({"x~1": [(0.9, [0.2, None])], "x~2": [(0.9, [0.1, None])]})

    assert chosen["winner"] == "x~2"
    assert chosen["cells"][0]["validation"]["equal_opportunity"] is None
    assert "equal_opportunity missing" in chosen["winners"]["fair"]["reason"]


def test_where_every_gap_is_missing_the_most_accurate_cell_wins():
    chosen = select({"x~1": [(0.895, [None, None])], "x~2": [(0.9, [None, None])]})

    assert chosen["winner"] == "x~2"
    assert "are missing" in chosen["winners"]["fair"]["reason"]


def test_a_failed_split_takes_its_cell_out_and_is_listed():
    failure = "the loss is not finite at epoch 7"
    cells = {"x~1": [(0.95, 0.0), failure], "x~2": [(0.9, 0.1), (0.9, 0.1)]}

    chosen = select(cells, published={"x": 1})

    assert chosen["winner"] == "x~2"
    assert chosen["failed"] == [{"cell": "x~1", "split": 1, "reason": failure}]
    assert chosen["winners"]["paper"]["cell"] is None
    assert "x~1 failed" in chosen["winners"]["paper"]["reason"]
    first, second = chosen["cells"]
    assert first["validation"] is None
    assert second["validation"]["accuracy"] == 0.9
    assert (first["n_splits"], second["n_splits"]) == (2, 2)


def test_where_no_cell_finished_no_rule_has_a_winner():
    chosen = select({"default": ["diverged"]})

    assert chosen["winner"] is None
    for winner in chosen["winners"].values():
        assert winner["cell"] is None
        assert winner["reason"] == "no cell finished on every split"


def test_an_accuracy_that_is_missing_and_an_infinite_gap_are_failures():
    cells = {"x~1": [(math.nan, 0.1)], "x~2": [(0.5, 0.1)], "x~3": [(0.6, math.inf)]}

    chosen = select(cells)

    assert chosen["winner"] == "x~2"
    reasons = [each["reason"] for each in chosen["failed"]]
    assert reasons == [
        "validation accuracy is missing",
        "validation statistical_parity is inf",
    ]


SMALL_GRID = {"a~0.5": [(0.9, 0.1)]}
GRID = {"a~0.5/eta~0.75": [(0.9, 0.1)], "a~0.5/eta~1.0": [(0.8, 0.1)]}


@pytest.mark.parametrize(
    ("cells", "published", "cell"),
    [
        pytest.param(GRID, {"a": 0.5, "eta": 1}, "a~0.5/eta~1.0", id="1 is 1.0"),
        pytest.param(
            SMALL_GRID, {"a": 0.5, "eta": 1.0}, "a~0.5", id="an ablation's grid"
        ),
        pytest.param(GRID, {"a": 0.75, "eta": 1.0}, None, id="not in the grid"),
        pytest.param(GRID, {"eta": 1.0}, None, id="nothing of a"),
        pytest.param(GRID, None, None, id="nothing published"),
        pytest.param({"default": [(0.9, 0.1)]}, None, "default", id="no grid"),
    ],
)
def test_the_papers_cell_has_its_hyperparameters(cells, published, cell):
    winner = select(cells, published=published)["winners"]["paper"]

    assert winner["cell"] == cell
