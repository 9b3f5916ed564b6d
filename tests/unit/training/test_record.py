"""The run.json that a training leaves, read again."""

import json

import pytest

from fairgat.errors import DataError
from fairgat.training.record import Record

RUN = {
    "task": "node_classification",
    "dataset": "d",
    "method": "m",
    "cell": "default",
    "split": 0,
    "epochs": {"": 3},
}
OTHER_VERSION = r"run\.json is not a run\.json of this version: "


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("{")

    with pytest.raises(DataError, match=r"run\.json is not JSON"):
        Record.read(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], ".*train this run again"),
        (
            RUN | {"epochs": {"qian": 3}},
            "it reports no epoch under the protocol ''",
        ),
        (
            RUN | {"training": {"patience": 5}},
            r"training\.patience: unknown key; expected one of: .*hidden",
        ),
    ],
    ids=["no run", "no reported epoch", "an unknown key"],
)
def test_a_file_of_another_version_is_named(tmp_path, content, problem):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))

    with pytest.raises(DataError, match=OTHER_VERSION + problem):
        Record.read(path)
