"""The rows of judged runs, and runs whose files do not belong together."""

import pytest
from dense import run_job, small_graph, write_graph
from small_results import NODE, metrics, scores

from fairgat.config import NodeTraining
from fairgat.data import splits
from fairgat.errors import DataError
from fairgat.files import write_json
from fairgat.scores import judging, runs
from fairgat.training.record import digests

THREE_EPOCHS = NodeTraining(epochs=3, hidden=6)


def rows_of(run):
    return judging.table([run])


def test_a_run_has_its_scores_on_both_parts_and_its_times():
    rows = rows_of(metrics("d", "m", "x~1", 0, scores(NODE, 0.9, 0.2)))

    assert list(rows.columns) == list(runs.COLUMNS)
    values = rows.set_index(["part", "metric"])["value"]
    for part in ("validation", "test"):
        assert values[part].to_dict() == scores(NODE, 0.9, 0.2)
    assert values["training"].to_dict() == {
        "epoch": 3,
        "epochs": 5,
        "seconds": 9.0,
        "seconds_per_epoch": 0.5,
    }


def test_a_failed_run_is_one_row_with_its_reason():
    failure = 'it said "no, never"\nand diverged'

    (row,) = rows_of(metrics("d", "m", "x~3", 2, None, failure=failure)).itertuples()

    assert (row.cell, row.split, row.part) == ("x~3", 2, "training")
    assert (row.metric, row.reason) == (runs.FAILURE, failure)


def test_other_rules_for_the_epoch_have_what_the_tables_show_alone():
    values = scores(NODE, 0.9, 0.1) | {"f1": 0.5}
    other = {"qian": {"validation": values, "test": values}}

    rows = rows_of(metrics("d", "m", "x~1", 0, values, protocols=other))

    ours = rows[rows["protocol"] == ""]
    by_other = rows[(rows["protocol"] == "qian") & (rows["part"] == "test")]
    shown = {"accuracy", "statistical_parity", "equal_opportunity"}
    assert "f1" in set(ours["metric"])
    assert set(by_other["metric"]) == shown


def test_runs_are_counted_by_the_code_that_trained_them():
    first, second, third = (
        metrics("d", "m", "x~1", split, scores(NODE, 0.9, 0.1)).run
        for split in range(3)
    )
    old = first.model_copy(update={"code": {"commit": "0ld", "modified": True}})

    counted = judging.trained_at([old, second, third])

    assert counted == [
        {"commit": "c0ffee", "modified": False, "runs": 2},
        {"commit": "0ld", "modified": True, "runs": 1},
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a graph, two splits, and a run of GAT on the first of them."""
    folder = tmp_path_factory.mktemp("trained")
    run_job(folder, "gat", graph=small_graph(), protocol=THREE_EPOCHS)
    write_graph(folder, small_graph(), count=2)
    return folder


def judge(folder, split="split-0.npz", graph=None, check=None):
    graph = graph or small_graph()
    parts = splits.load(folder / split)
    inputs = digests(folder / "graph.npz", folder / split)
    return judging.judged(folder / "gat/run.json", graph, parts, inputs, check)


def test_a_run_is_judged_by_its_predictions(trained):
    found = judge(trained)

    test = found.scores[found.run.protocol]["test"]
    assert found.run.method == "gat"
    assert 0 < test["accuracy"] <= 1


def test_a_run_on_another_split_is_refused(trained):
    with pytest.raises(DataError, match=r"does not fit its split, .*made anew since"):
        judge(trained, split="split-1.npz")


def test_predictions_for_another_number_of_people_are_refused(trained):
    with pytest.raises(DataError, match=r"predictions\.npz is not of this run"):
        judge(trained, graph=small_graph(nodes=50))


def test_predictions_without_the_reported_epoch_are_refused(trained, tmp_path):
    run = judge(trained).run
    never = run.model_copy(update={"epochs": {run.protocol: 99}})
    predictions = (trained / "gat/predictions.npz").read_bytes()
    (tmp_path / "predictions.npz").write_bytes(predictions)
    write_json(tmp_path / "run.json", never.model_dump(exclude_none=True))
    split = splits.load(trained / "split-0.npz")

    with pytest.raises(DataError, match="lacks the reported epoch 99"):
        judging.judged(tmp_path / "run.json", small_graph(), split, {})


def test_a_run_may_be_refused_by_its_record(trained):
    def refuse(path, record):
        raise DataError(f"{path} of {record.method}")

    with pytest.raises(DataError, match=r"gat/run\.json of gat"):
        judge(trained, check=refuse)
