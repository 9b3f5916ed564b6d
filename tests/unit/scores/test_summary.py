"""Scores of runs: collected into a shard, which is counted against the configuration, and averaged over the splits."""

import json
import statistics

import pandas as pd
import pytest
from small_results import LINK, NODE, metrics, scores

from fairgat import frames
from fairgat.errors import DataError
from fairgat.scores import compare, judging, runs, selection, summary
from fairgat.training.record import Record

TEST = [0.90, 0.92, 0.1 + 0.2 + 0.67]  # the last has no short decimal form


@pytest.fixture
def found():
    """One method with two cells on three splits, x~1 the most accurate, x~2 the fairest; x~3 failed on one."""
    contents = [
        metrics("d", "m", "x~1", k, scores(NODE, 0.90, 0.2), scores(NODE, a, 0.3))
        for k, a in enumerate(TEST)
    ]
    contents += [
        metrics("d", "m", "x~2", k, scores(NODE, 0.895, 0.1), scores(NODE, 0.8, 0.1))
        for k in range(3)
    ]
    contents += [metrics("d", "m", "x~3", k, scores(NODE, 0.99, 0.0)) for k in range(2)]
    contents += [
        metrics("d", "m", "x~3", 2, None, failure='it said "no, never"\nand diverged')
    ]
    return judging.table(contents)


def winners(found, ddof=1, published=(), task=NODE):
    paper = pd.DataFrame(
        published, columns=["dataset", "method", "metric", "paper_mean", "paper_std"]
    )
    chosen = selection.select(found, task, "validation", "fair", 0.01, None)
    return summary.winners([chosen], summary.cells(found, ddof), paper)


def value(frame, column="mean", **wanted):
    """The only value of a column in the rows that have these values."""
    for name, content in wanted.items():
        frame = frame[frame[name] == content]
    return frame[column].item()


def test_a_shard_has_every_score_and_every_failure(found):
    assert list(found.columns) == list(runs.COLUMNS)
    parts = found[found["cell"] == "x~1"].groupby("part").size()
    assert parts.to_dict() == {"validation": 12, "test": 12, "training": 12}
    (failure,) = found[found["metric"] == runs.FAILURE].itertuples()
    assert (failure.cell, failure.split, failure.reason) == (
        "x~3",
        2,
        'it said "no, never"\nand diverged',
    )


def test_other_rules_for_the_epoch_have_what_the_tables_show_alone():
    all_of_it = scores(NODE, 0.9, 0.1) | {"f1": 0.5}
    other = {"qian": {"validation": all_of_it, "test": all_of_it}}
    rows = judging.table([metrics("d", "m", "x~1", 0, all_of_it, protocols=other)])
    assert "f1" in set(rows.query("protocol == ''")["metric"])
    under = rows.query("protocol == 'qian' and part == 'test'")
    assert set(under["metric"]) == {
        "accuracy",
        "statistical_parity",
        "equal_opportunity",
    }


def test_a_second_run_of_the_same_code_gives_the_same_summary(found):
    alone = summary.without_times(found)
    assert not set(alone["metric"]) & {"seconds", "seconds_per_epoch"}
    assert {"epoch", "epochs", "accuracy", "failure"} <= set(alone["metric"])


def test_mean_and_deviation_of_the_winner_of_each_rule(found):
    table = winners(found)
    assert list(table.columns) == list(summary.WINNERS)
    best = {"rule": "accuracy", "metric": "accuracy"}
    assert value(table, "cell", **best) == "x~1"
    assert value(table, **best) == pytest.approx(statistics.mean(TEST))
    assert value(table, "std", **best) == pytest.approx(statistics.stdev(TEST))
    assert value(table, "n_splits", **best) == 3
    assert value(table, rule="fair", metric="accuracy") == pytest.approx(0.8)
    assert "paper" not in set(table["rule"])  # the paper gives no cell
    assert value(winners(found, ddof=0), "std", **best) == pytest.approx(
        statistics.pstdev(TEST)
    )


def test_one_split_has_no_sample_deviation():
    assert pd.isna(compare.deviation([0.5], ddof=1))
    assert compare.deviation([0.5], ddof=0) == 0


def test_every_cell_is_averaged_on_both_parts(found):
    table = summary.cells(found, ddof=1)
    assert table["part"].iat[0] == "validation"  # in the order of the runs
    assert value(table, cell="x~1", part="test", metric="accuracy") == pytest.approx(
        statistics.mean(TEST)
    )
    assert value(
        table, cell="x~1", part="validation", metric="statistical_parity"
    ) == pytest.approx(0.2)
    assert (
        value(table, "n_splits", cell="x~3", part="test", metric="accuracy") == 2
    )  # the failed one is not counted


def test_a_mean_says_over_how_many_splits_it_is(tmp_path):
    gaps = [[0.1, 0.2], [0.1, None], [0.1, 0.4]]
    contents = [
        metrics("d", "m", "x~1", k, scores(NODE, 0.9, gap))
        for k, gap in enumerate(gaps)
    ]
    shard = judging.table(contents)
    frames.write(tmp_path / "runs.csv", shard)
    assert (
        ",equal_opportunity,," in (tmp_path / "runs.csv").read_text()
    )  # an empty cell
    table = summary.cells(runs.read(tmp_path / "runs.csv"), ddof=1)
    which = {"part": "test", "metric": "equal_opportunity"}
    assert (value(table, "n_splits", **which), value(table, **which)) == (
        2,
        pytest.approx(0.3),
    )
    assert value(table, "n_splits", part="test", metric="accuracy") == 3


def test_published_numbers_stand_beside(found):
    table = winners(found, published=[("d", "m", "accuracy", 0.95, 0.01)])
    assert value(table, "paper_mean", rule="fair", metric="accuracy") == 0.95
    assert pd.isna(value(table, "paper_mean", rule="fair", metric="statistical_parity"))


def test_a_method_that_is_another_one_has_its_rows(found):
    table = winners(found)
    both = summary.with_same(
        pd.concat([table, table.assign(method="n", mean=0.0)]), {"n": "m"}
    )
    assert both["method"].tolist() == ["m"] * len(table) + ["n"] * len(table)
    assert both["mean"].tolist() == 2 * table["mean"].tolist()


def test_protocols_share_the_cells_and_differ_in_the_scores():
    contents = []
    for cell, validation in (("x~1", 0.9), ("x~2", 0.8)):
        for k in range(2):
            other = {
                "validation": scores(
                    LINK, 1.9 - validation if cell == "x~2" else 0.1, 0.1
                ),  # nothing is chosen by it
                "test": scores(LINK, validation + 0.01 * k, 0.3),
            }
            ours = scores(LINK, validation, 0.1)
            contents.append(
                metrics(
                    "cora", "m", cell, k, ours, task=LINK, protocols={"fairdrop": other}
                )
            )
    table = winners(judging.table(contents), task=LINK).query("rule == 'accuracy'")
    assert set(table["cell"]) == {"x~1"}
    assert value(table, protocol="validation", metric="accuracy") == pytest.approx(0.9)
    assert value(table, protocol="fairdrop", metric="accuracy") == pytest.approx(0.905)


RUN = {
    "task": NODE,
    "dataset": "d",
    "method": "m",
    "cell": "default",
    "split": 0,
    "epochs": {"": 3},
}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ([], "is not a run.json of this version: .*train this run again"),
        (
            RUN | {"epochs": {"qian": 3}},
            "is not a run.json of this version: it reports no epoch under the protocol ''",
        ),
        (
            RUN | {"training": {"patience": 5}},
            "is not a run.json of this version: training.patience: unknown key; expected one of: .*hidden",
        ),
    ],
)
def test_a_run_that_is_damaged_or_of_another_version_is_named(
    tmp_path, content, message
):
    path = tmp_path / "run.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(DataError, match=rf"run\.json {message}"):
        Record.read(path)


CELLS = ["x~1", "x~2"]


@pytest.fixture
def shard(tmp_path):
    """A method with two cells on two splits, the first of which failed once."""
    contents = [
        metrics("d", "m", cell, k, scores(NODE, 0.9, 0.1))
        for cell in CELLS
        for k in range(2)
    ]
    contents[1] = metrics("d", "m", "x~1", 1, None, failure="diverged")
    path = tmp_path / "runs.csv"
    frames.write(path, judging.table(contents))
    return path


def test_a_whole_shard_is_read_and_one_that_is_cut_off_named_wherever_that_was(shard):
    assert runs.read_shards([shard], [("d", "m", CELLS, range(2))]).equals(
        runs.read(shard)
    )
    lines = shard.read_text().splitlines(keepends=True)
    for end in range(len(lines)):
        shard.write_text("".join(lines[:end]))
        with pytest.raises(DataError, match=r"runs\.csv .*Delete it and run again"):
            runs.read_shards([shard], [("d", "m", CELLS, range(2))])


@pytest.mark.parametrize(
    ("cells", "splits", "expected"),
    [
        ([*CELLS, "x~3"], [0, 1], r"lacks the end of m \(x~3\) on d, split 0"),
        (CELLS, [0, 1, 2], r"lacks the end of m \(x~1\) on d, split 2"),
        (CELLS[:1], [0, 1], r"has, besides its own runs, m \(x~2\) on d, split 0"),
        (CELLS, [0], r"has, besides its own runs, m \(x~1\) on d, split 1"),
        (CELLS, [1, 2], r"lacks the end of m \(x~1\) on d, split 2"),
    ],
)
def test_cells_and_splits_are_those_of_the_configuration(
    shard, cells, splits, expected
):
    with pytest.raises(DataError, match=expected):
        runs.read_shards([shard], [("d", "m", cells, splits)])
