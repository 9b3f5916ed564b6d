"""CSV files between jobs: none that is cut off or damaged is read as a whole one."""

import pandas as pd
import pytest

from fairgat import frames
from fairgat.errors import DataError

WHOLE = pd.DataFrame(
    {
        "dataset": ["NA", "cora"],  # a name, no missing value
        "cell": ["0.50", "eta~1.0"],
        "value": [0.1 + 0.2, None],
        "reason": ["", 'it said "no,\nnever"'],
    }
)


def test_what_is_written_is_read_back_exactly(tmp_path):
    path = tmp_path / "runs.csv"
    frames.write(path, WHOLE)
    again = frames.read(path, path, columns=("dataset",), numbers=("value", "mean"))
    pd.testing.assert_frame_equal(
        again, pd.concat([WHOLE, WHOLE], ignore_index=True), check_dtype=False
    )
    frames.write(path, WHOLE.iloc[:0])
    assert frames.read(path).empty
    assert list(frames.read(columns=("a", "b"))) == ["a", "b"]


@pytest.mark.parametrize("end", range(1, 70))
def test_a_file_that_is_cut_off_within_a_row_is_named(tmp_path, end):
    path = tmp_path / "runs.csv"
    frames.write(path, WHOLE)
    content = path.read_bytes()
    path.write_bytes(content[:-end])
    if (
        content[:-end].count(b"\n")
        and content[:-end].endswith(b"\n")
        and content[:-end].count(b'"') % 2 == 0
    ):
        pytest.skip("cut between two rows: whoever reads it counts")
    with pytest.raises(DataError, match=r"runs\.csv .*\. Delete it and run again"):
        frames.read(path, columns=("dataset", "cell", "value", "reason"))


def test_names_are_text_whatever_they_hold(tmp_path):
    path = tmp_path / "differences.csv"
    path.write_text("dataset,of,run_on,value\n2019,1,2019,1\n")
    assert frames.read(path).iloc[0].tolist() == ["2019", "1", "2019", 1]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "does not exist"),
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"dataset,value\na,1\nb\n", "has 1 values instead of 2 in row 3"),
        (b"dataset,value\na,1,2\n", "has 3 values instead of 2 in row 2"),
        (b"dataset\na\n", "lacks the column value"),
        (b"dataset,value\na,0.5x\n", "has a value that is not a number"),
        (b"dataset,value\n\xff,1\n", "is not UTF-8 text"),
        (b'dataset,value\n"a,1\n', "is not CSV"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, content, what):
    path = tmp_path / "cells.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        DataError,
        match=rf"cells\.csv {what}"
        + ".*Delete it and run again" * (content is not None),
    ):
        frames.read(path, columns=("dataset", "value"), numbers=("value",))
