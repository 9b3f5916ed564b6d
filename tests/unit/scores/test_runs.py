"""The runs.csv of a method on a data set, counted against the configuration."""

import pandas as pd
import pytest
from small_results import NODE, metrics, scores

from fairgat import frames
from fairgat.errors import DataError
from fairgat.scores import judging, runs

CELLS = ["x~1", "x~2"]
SPLITS = [0, 1]


@pytest.fixture
def shard(tmp_path):
    """The file of two cells on two splits; the second run failed."""
    judged = []
    for cell in CELLS:
        for split in SPLITS:
            judged.append(metrics("d", "m", cell, split, scores(NODE, 0.9, 0.1)))
    judged[1] = metrics("d", "m", "x~1", 1, None, failure="diverged")
    path = tmp_path / "runs.csv"
    frames.write(path, judging.table(judged))
    return path


def read(shard, cells=CELLS, splits=SPLITS):
    return runs.read_shards([shard], [("d", "m", cells, splits)])


def test_a_whole_shard_is_read(shard):
    assert read(shard).equals(runs.read(shard))


def test_a_shard_that_is_cut_off_at_any_line_is_refused(shard):
    lines = shard.read_text().splitlines(keepends=True)

    for end in range(len(lines)):
        shard.write_text("".join(lines[:end]))
        with pytest.raises(DataError, match=r"runs\.csv .*Delete it and run again"):
            read(shard)


@pytest.mark.parametrize(
    ("cells", "splits", "message"),
    [
        ([*CELLS, "x~3"], [0, 1], r"lacks the end of m \(x~3\) on d, split 0"),
        (CELLS, [0, 1, 2], r"lacks the end of m \(x~1\) on d, split 2"),
        (CELLS[:1], [0, 1], r"has, besides its own runs, m \(x~2\) on d, split 0"),
        (CELLS, [0], r"has, besides its own runs, m \(x~1\) on d, split 1"),
        (CELLS, [1, 2], r"lacks the end of m \(x~1\) on d, split 2"),
    ],
    ids=["a cell more", "a split more", "a cell less", "a split less", "other splits"],
)
def test_runs_are_those_of_the_configuration(shard, cells, splits, message):
    with pytest.raises(DataError, match=message):
        read(shard, cells, splits)


def test_without_a_file_there_are_no_rows():
    empty = runs.read()

    assert empty.empty
    assert list(empty.columns) == list(runs.COLUMNS)


def test_published_scores_end_as_a_shard_does(shard):
    published = runs.read(shard)
    published = published[~published["metric"].isin(runs.CLOCK)]

    ended = runs.untimed(published)

    times = ended[ended["metric"].isin(runs.CLOCK)]
    assert len(times) == 2 * 3  # of each of the three runs that finished
    assert times["value"].isna().all()
    frames.write(shard, ended)
    assert len(read(shard)) == len(ended)


def test_rows_without_a_protocol_belong_to_every_one():
    frame = pd.DataFrame({"protocol": ["", "validation", "fairdrop"]})

    kept = runs.rows_under(frame, "validation")

    assert kept["protocol"].tolist() == ["", "validation"]


def test_of_published_scores_the_runs_that_are_asked_for_are_read(shard):
    """In the grid's order, as the first of equal cells is chosen."""
    rows = runs.read_published(shard, "d", "m", ["x~2", "x~1"], [0])

    assert list(rows["cell"].unique()) == ["x~2", "x~1"]
    again = rows.sort_values("cell", kind="stable", ignore_index=True)
    published = runs.read(shard).query("split == 0")
    assert again.equals(published.reset_index(drop=True))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("d", "other", CELLS, [0]), r"has no run of other \(x~1\) on d, split 0"),
        (("d", "m", [*CELLS, "x~3"], [0]), r"has no run of m \(x~3\) on d, split 0"),
        (("d", "m", CELLS, [0, 5]), r"has no run of m \(x~1\) on d, split 5"),
    ],
    ids=["a method", "a cell", "a split"],
)
def test_a_run_that_published_scores_lack_is_named(shard, asked, message):
    with pytest.raises(DataError, match=message):
        runs.read_published(shard, *asked)
