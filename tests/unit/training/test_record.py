"""The run.json that a training leaves, read again."""

import json

import numpy as np
import pytest

from fairgat.errors import DataError
from fairgat.training.record import Record, pack, unpack

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


def test_a_run_fits_the_files_that_it_was_trained_on(tmp_path):
    record = Record(**RUN, inputs={"graph": "abc", "split": "def"})

    record.check_inputs(tmp_path, {"graph": "abc", "split": "def"})


@pytest.mark.parametrize("what", ["graph", "split"])
def test_a_file_that_was_made_anew_since_is_named(tmp_path, what):
    record = Record(**RUN, inputs={"graph": "abc", "split": "def"})
    now = {"graph": "abc", "split": "def"} | {what: "other"}

    with pytest.raises(DataError, match=f"does not fit its {what}, .* made anew"):
        record.check_inputs(tmp_path, now)


def test_predictions_of_an_epoch_are_found_again():
    of_epochs = {7: {"logits": np.array([0.7])}, 3: {"logits": np.array([0.3])}}

    packed = pack(of_epochs)

    assert packed["epochs"].tolist() == [3, 7]
    for epoch, arrays in of_epochs.items():
        np.testing.assert_array_equal(unpack(packed, epoch)["logits"], arrays["logits"])


@pytest.mark.parametrize(
    "predictions",
    [
        pytest.param(pack({3: {"logits": np.zeros(2)}}), id="of another epoch"),
        pytest.param({}, id="of no epoch"),
    ],
)
def test_predictions_that_were_not_kept_are_an_error(predictions):
    with pytest.raises(DataError, match="lacks the reported epoch 4"):
        unpack(predictions, 4)
