import json

import pytest
from reporting_fixtures import LINK, NODE, metrics, scores, write

from fairgat.errors import DataError
from fairgat.scores import runs as records
from fairgat.scores import selection


def select(tmp_path, cells, rule="fair", tolerance=0.01, published=None, task=NODE):
    """Select among {cell: [(accuracy, fairness) per split, or a failure in words]}."""
    contents = []
    for cell, splits in cells.items():
        for split, entry in enumerate(splits):
            if isinstance(entry, str):
                contents.append(metrics("d", "m", cell, split, None, task=task, failure=entry))
            else:
                contents.append(metrics("d", "m", cell, split, scores(task, *entry), task=task))
    return selection.select(records.read_all(write(tmp_path, contents)), rule, tolerance, published)


def test_each_rule_has_its_own_winner(tmp_path):
    chosen = select(
        tmp_path,
        {
            "x~1": [(0.900, 0.10), (0.900, 0.10)],  # most accurate
            "x~2": [(0.893, 0.04), (0.893, 0.06)],  # fairest within one point
            "x~3": [(0.700, 0.00), (0.700, 0.00)],  # fairest of all, too far off
            "x~4": [(0.895, 0.09), (0.895, 0.09)],  # published
        },
        published={"x": 4},
    )
    assert {rule: winner["cell"] for rule, winner in chosen["winners"].items()} == {
        "fair": "x~2",
        "accuracy": "x~1",
        "paper": "x~4",
    }
    assert chosen["winner"] == "x~2"
    assert chosen["cells"][1]["validation"]["statistical_parity"] == pytest.approx(0.05)
    assert [entry["validation"]["statistical_parity"] for entry in chosen["cells"][1]["splits"]] == [0.04, 0.06]
    assert "10.00 %" in chosen["winners"]["fair"]["reason"]  # the sum of both measures


def test_the_rendered_rule_is_the_winner(tmp_path):
    cells = {"x~1": [(0.9, 0.1)], "x~2": [(0.895, 0.0)]}
    assert select(tmp_path, cells, rule="accuracy")["winner"] == "x~1"
    assert select(tmp_path, cells, rule="fair")["winner"] == "x~2"
    assert select(tmp_path, cells, rule="paper")["winner"] is None


def test_tolerance_admits_its_own_edge_and_nothing_beyond(tmp_path):
    cells = {"x~1": [(0.90, 0.1)], "x~2": [(0.89, 0.0)]}
    assert select(tmp_path, cells, tolerance=0.01)["winner"] == "x~2"  # 0.90 - 0.01 > 0.89 in floating point
    assert select(tmp_path, cells, tolerance=0.0099)["winner"] == "x~1"


@pytest.mark.parametrize(
    ("cells", "winner"),
    [
        ({"x~1": [(0.895, 0.1)], "x~2": [(0.9, 0.1)]}, "x~2"),  # equally fair: the more accurate
        ({"x~9": [(0.9, 0.1)], "x~1": [(0.9, 0.1)]}, "x~9"),  # equal in all: grid order, not the alphabet
    ],
)
def test_ties(tmp_path, cells, winner):
    assert select(tmp_path, cells)["winners"]["fair"]["cell"] == winner
    assert select(tmp_path, cells)["winners"]["accuracy"]["cell"] == winner


def test_test_scores_are_never_looked_at(tmp_path):
    contents = [
        metrics("d", "m", "x~1", 0, scores(NODE, 0.9, 0.1), test=scores(NODE, 0.1, 0.9)),
        metrics("d", "m", "x~2", 0, scores(NODE, 0.8, 0.2), test=scores(NODE, 1.0, 0.0)),
    ]
    chosen = selection.select(records.read_all(write(tmp_path, contents)), "fair", 0.5, None)
    assert chosen["winners"]["fair"]["cell"] == "x~1"
    assert "test" not in json.dumps(chosen)


def test_link_prediction_sums_all_six_measures(tmp_path):
    chosen = select(
        tmp_path,
        {"x~1": [(0.7, [0.0, 0.0, 0.2, 0.2, 0.2, 0.2])], "x~2": [(0.7, [0.3, 0.3, 0.0, 0.0, 0.0, 0.0])]},
        task=LINK,
    )
    assert chosen["winner"] == "x~2"


def test_a_failed_split_takes_its_cell_out_and_is_listed(tmp_path):
    chosen = select(
        tmp_path,
        {"x~1": [(0.95, 0.0), "the loss is not finite at epoch 7"], "x~2": [(0.9, 0.1), (0.9, 0.1)]},
        published={"x": 1},
    )
    assert chosen["winner"] == "x~2"
    assert chosen["winners"]["paper"] == {"cell": None, "reason": "the published cell x~1 failed"}
    assert chosen["failed"] == [{"cell": "x~1", "split": 1, "reason": "the loss is not finite at epoch 7"}]
    assert chosen["cells"][0]["validation"] is None


def test_nothing_finished(tmp_path):
    chosen = select(tmp_path, {"default": ["diverged"]})
    assert chosen["winner"] is None
    assert all("no cell finished" in winner["reason"] for winner in chosen["winners"].values())


def test_a_score_that_is_no_number_is_a_failure(tmp_path):
    chosen = select(tmp_path, {"x~1": [(float("nan"), 0.1)], "x~2": [(0.5, 0.1)]})
    assert chosen["winner"] == "x~2"
    assert chosen["failed"][0]["reason"] == "validation accuracy is nan"


def test_paper_rule(tmp_path):
    cells = {"a~0.5/eta~0.75": [(0.9, 0.1)], "a~0.5/eta~1.0": [(0.8, 0.1)]}

    def winner(published, cells=cells):
        return select(tmp_path, cells, published=published)["winners"]["paper"]

    assert winner({"a": 0.5, "eta": 1})["cell"] == "a~0.5/eta~1.0"  # 1 and 1.0 are the same value
    assert winner({"a": 0.5, "eta": 1.0}, {"a~0.5": [(0.9, 0.1)]})["cell"] == "a~0.5"  # an ablation's smaller grid
    assert winner({"a": 0.75, "eta": 1.0})["cell"] is None
    assert "not in the grid" in winner({"a": 0.75, "eta": 1.0})["reason"]
    assert winner({"eta": 1.0})["cell"] is None  # says nothing of a
    assert winner(None)["cell"] is None
    assert winner(None, {"default": [(0.9, 0.1)]})["cell"] == "default"


def test_records_of_several_methods_are_refused(tmp_path):
    paths = write(tmp_path, [metrics("d", m, "default", 0, scores(NODE, 0.9, 0.1)) for m in ("a", "b")])
    with pytest.raises(DataError, match="one method"):
        selection.select(records.read_all(paths), "fair", 0.01, None)
    with pytest.raises(DataError, match="none"):
        selection.select([], "fair", 0.01, None)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not JSON"), ("{}", "not a metrics.json"), ("[]", "not a metrics.json")]
)
def test_a_damaged_file_is_named(tmp_path, text, message):
    path = tmp_path / "metrics.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as error:
        records.read(path)
    assert str(path) in str(error.value)


def test_a_run_of_another_configuration_is_refused(tmp_path):
    path = tmp_path / "metrics.json"
    run = {
        "settings": {"center": False, "eta": 0.5},
        "training": {"hidden": 8, "cutoffs": [0.5]},
        "experiment": {"seed": 0, "threads": 1},
    }
    path.write_text(json.dumps({"method": "m", "task": NODE, "dataset": "d", "split": 0, "cell": "eta~0.5"} | run))

    def check(settings=None, training=None, experiment=None):
        made_with = {
            "settings": {"d": {"m": settings or {"center": False}}},
            "training": {NODE: {"hidden": 8, "cutoffs": (0.5,)} | (training or {})},
            "experiment": {"seed": 0, "threads": 1} | (experiment or {}),
        }
        records.read_all([path], made_with)

    check()
    for change, message in [
        ({"settings": {"center": True}}, "settings: center was False, is True"),
        ({"settings": {"center": False, "new": 1}}, "settings: new was None, is 1"),
        ({"training": {"hidden": 16}}, "training: hidden was 8, is 16"),
        ({"experiment": {"seed": 1}}, "experiment: seed was 0, is 1"),
    ]:
        with pytest.raises(DataError, match=rf"metrics.json .*{message}.*Delete it"):
            check(**change)
