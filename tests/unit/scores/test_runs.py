"""Shards of scores, counted against the configuration."""

import pytest
from small_results import NODE, metrics, scores, write

from fairgat import frames
from fairgat.errors import DataError
from fairgat.scores import runs

CELLS = ["x~1", "x~2"]


@pytest.fixture
def shard(tmp_path):
    """A method with two cells on two splits, the first of which failed once."""
    contents = [metrics("d", "m", cell, k, scores(NODE, 0.9, 0.1)) for cell in CELLS for k in range(2)]
    contents[1] = metrics("d", "m", "x~1", 1, None, failure="diverged")
    path = tmp_path / "runs.csv"
    frames.write(path, runs.collect(write(tmp_path, contents)))
    return path


def test_a_whole_shard_is_read_and_one_that_is_cut_off_named_wherever_that_was(shard):
    assert runs.read_shards([shard], [("d", "m", CELLS, 2)]).equals(runs.read(shard))
    lines = shard.read_text().splitlines(keepends=True)
    for end in range(len(lines)):
        shard.write_text("".join(lines[:end]))
        with pytest.raises(DataError, match=r"runs\.csv .*Delete it and run again"):
            runs.read_shards([shard], [("d", "m", CELLS, 2)])


@pytest.mark.parametrize(
    ("cells", "splits", "expected"),
    [
        ([*CELLS, "x~3"], 2, r"lacks the end of m \(x~3\) on d, split 0"),
        (CELLS, 3, r"lacks the end of m \(x~1\) on d, split 2"),
        (CELLS[:1], 2, r"has, besides its own runs, m \(x~2\) on d, split 0"),
        (CELLS, 1, r"has, besides its own runs, m \(x~1\) on d, split 1"),
    ],
)
def test_cells_and_splits_are_those_of_the_configuration(shard, cells, splits, expected):
    with pytest.raises(DataError, match=expected):
        runs.read_shards([shard], [("d", "m", cells, splits)])
