import math

import pytest
from small_results import LINK, NODE, metrics, scores

from fairgat.scores import judging, selection


def select(cells, rule="fair", tolerance=0.01, published=None, task=NODE):
    """Select among {cell: [(accuracy, fairness) per split, or a failure in words]}."""
    contents = [
        metrics("d", "m", cell, split, None, task=task, failure=entry)
        if isinstance(entry, str)
        else metrics("d", "m", cell, split, scores(task, *entry), task=task)
        for cell, splits in cells.items()
        for split, entry in enumerate(splits)
    ]
    found = judging.table(contents)
    return selection.select(found, task, "validation", rule, tolerance, published)


def test_each_rule_has_its_own_winner():
    cells = {
        "x~1": [(0.900, 0.10), (0.900, 0.10)],  # most accurate
        "x~2": [(0.893, 0.04), (0.893, 0.06)],  # fairest within one point
        "x~3": [(0.700, 0.00), (0.700, 0.00)],  # fairest of all, too far off
        "x~4": [(0.895, 0.09), (0.895, 0.09)],  # published
    }
    chosen = select(cells, published={"x": 4})
    winners = {rule: winner["cell"] for rule, winner in chosen["winners"].items()}
    assert winners == {"fair": "x~2", "accuracy": "x~1", "paper": "x~4"}
    assert chosen["winner"] == "x~2"
    assert chosen["cells"][1]["validation"]["statistical_parity"] == pytest.approx(0.05)
    assert "10.00 %" in chosen["winners"]["fair"]["reason"]  # the sum of both measures
    assert "90.00 %" in chosen["winners"]["accuracy"]["reason"]
    assert select(cells, rule="accuracy")["winner"] == "x~1"
    assert select(cells, rule="paper")["winner"] is None


NEAR = {
    "x~1": [(0.90, 0.1)],
    "x~2": [(0.89, 0.0)],
}  # 0.90 - 0.01 > 0.89 in floating point
EQUAL = {"x~9": [(0.9, 0.1)], "x~1": [(0.9, 0.1)]}
LINKS = {
    "x~1": [(0.7, [0.0, 0.0, 0.2, 0.2, 0.2, 0.2])],
    "x~2": [(0.7, [0.3, 0.3, 0.0, 0.0, 0.0, 0.0])],
}
WINNERS = {
    "the edge of the tolerance is within it": (NEAR, {}, "x~2"),
    "nothing beyond it is": (NEAR, {"tolerance": 0.0099}, "x~1"),
    "of equally fair cells the more accurate": (
        {"x~1": [(0.895, 0.1)], "x~2": [(0.9, 0.1)]},
        {},
        "x~2",
    ),
    "of equal cells the first of the grid": (EQUAL, {}, "x~9"),
    "of equal cells the first of the grid, by accuracy": (
        EQUAL,
        {"rule": "accuracy"},
        "x~9",
    ),
    "link prediction sums all six measures": (LINKS, {"task": LINK}, "x~2"),
}


@pytest.mark.parametrize("case", WINNERS)
def test_the_winner_of_two_cells(case):
    cells, options, winner = WINNERS[case]
    assert select(cells, **options)["winner"] == winner


def test_test_scores_are_never_looked_at():
    contents = [
        metrics(
            "d", "m", "x~1", 0, scores(NODE, 0.9, 0.1), test=scores(NODE, 0.1, 0.9)
        ),
        metrics(
            "d", "m", "x~2", 0, scores(NODE, 0.8, 0.2), test=scores(NODE, 1.0, 0.0)
        ),
    ]
    chosen = selection.select(
        judging.table(contents), NODE, "validation", "fair", 0.5, None
    )
    assert chosen["winners"]["fair"]["cell"] == "x~1"


def test_a_mean_is_over_the_splits_of_its_rivals():
    """A gap that is missing on a split counts on it for no cell, neither as 0 nor in one mean only."""
    cells = {
        "x~1": [(0.9, [0.1, 0.0]), (0.9, [0.1, 0.3])],
        "x~2": [
            (0.9, [0.1, 0.1]),
            (0.9, [0.1, None]),
        ],  # as a mean of its own splits it would be the fairer
    }
    chosen = select(cells)
    assert chosen["winner"] == "x~1" and [
        c["validation"]["equal_opportunity"] for c in chosen["cells"]
    ] == [0.0, 0.1]
    assert [cell["n_splits"] for cell in chosen["cells"]] == [2, 2] and not chosen[
        "failed"
    ]


def test_a_gap_that_is_missing_on_every_split_is_left_out_of_the_sum():
    chosen = select({"x~1": [(0.9, [0.2, None])], "x~2": [(0.9, [0.1, None])]})
    assert (
        chosen["winner"] == "x~2"
        and chosen["cells"][0]["validation"]["equal_opportunity"] is None
    )
    assert "equal_opportunity missing" in chosen["winners"]["fair"]["reason"]
    chosen = select({"x~1": [(0.895, [None, None])], "x~2": [(0.9, [None, None])]})
    assert (
        chosen["winner"] == "x~2"
        and "are missing" in chosen["winners"]["fair"]["reason"]
    )


def test_a_failed_split_takes_its_cell_out_and_is_listed():
    failure = "the loss is not finite at epoch 7"
    cells = {"x~1": [(0.95, 0.0), failure], "x~2": [(0.9, 0.1), (0.9, 0.1)]}
    chosen = select(cells, published={"x": 1})
    assert chosen["winner"] == "x~2"
    assert chosen["winners"]["paper"] == {
        "cell": None,
        "reason": "the published cell x~1 failed",
    }
    assert chosen["failed"] == [{"cell": "x~1", "split": 1, "reason": failure}]
    assert [
        (cell["n_splits"], cell["validation"] is None) for cell in chosen["cells"]
    ] == [(2, True), (2, False)]


def test_nothing_finished():
    chosen = select({"default": ["diverged"]})
    assert chosen["winner"] is None
    assert {winner["reason"] for winner in chosen["winners"].values()} == {
        "no cell finished on every split"
    }


def test_a_score_that_is_no_number_is_a_failure():
    chosen = select(
        {"x~1": [(math.nan, 0.1)], "x~2": [(0.5, 0.1)], "x~3": [(0.6, math.inf)]}
    )
    assert chosen["winner"] == "x~2"
    reasons = [each["reason"] for each in chosen["failed"]]
    assert reasons == [
        "validation accuracy is missing",
        "validation statistical_parity is inf",
    ]


def test_paper_rule():
    cells = {"a~0.5/eta~0.75": [(0.9, 0.1)], "a~0.5/eta~1.0": [(0.8, 0.1)]}

    def winner(published, cells=cells):
        return select(cells, published=published)["winners"]["paper"]

    assert (
        winner({"a": 0.5, "eta": 1})["cell"] == "a~0.5/eta~1.0"
    )  # 1 and 1.0 are the same value
    assert (
        winner({"a": 0.5, "eta": 1.0}, {"a~0.5": [(0.9, 0.1)]})["cell"] == "a~0.5"
    )  # an ablation's smaller grid
    assert "not in the grid" in winner({"a": 0.75, "eta": 1.0})["reason"]
    assert winner({"eta": 1.0})["cell"] is None  # says nothing of a
    assert winner(None)["cell"] is None
    assert winner(None, {"default": [(0.9, 0.1)]})["cell"] == "default"
