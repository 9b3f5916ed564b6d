"""What a run leaves for those who judge it: run.json and predictions.npz."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError, model_validator

from fairgat.config import TASKS, Model, Task, Training, explain
from fairgat.errors import DataError
from fairgat.files import read_json, sha256_of, write_json

RUN_JSON = "run.json"
FILES = (RUN_JSON, "history.csv", "predictions.npz", "model.npz")
"""All that a run leaves."""


class Record(Model):
    """The content of run.json: what was trained, with what, and how it ended."""

    task: Task
    dataset: str
    method: str
    cell: str
    split: int
    seed: int = 0
    """Of the run; every random number follows from it."""
    protocol: str = ""
    """The one that stands for the run."""
    epochs: dict[str, int] = {}
    """The epoch that each protocol of the task, or rule for the epoch, reports; none
    where the run failed."""
    failure: str | None = None
    """Why there are no predictions."""
    module: str = ""
    settings: dict[str, Any] = {}
    """Of the method, with the cell's hyperparameters."""
    training: dict[str, Any] = {}
    """The task's protocol."""
    experiment: dict[str, Any] = {}
    """The experiment's seed, the threads, and the device that was asked for."""
    inputs: dict[str, str] = {}
    """What `digests` gives of the files of the graph and of the split."""
    runtime: dict[str, Any] = {}
    versions: dict[str, str] = {}
    code: dict[str, Any] = {}

    @model_validator(mode="after")
    def _of_this_version(self) -> "Record":
        if self.failure is None and self.protocol not in self.epochs:
            raise ValueError(
                f"it reports no epoch under the protocol {self.protocol!r}"
            )
        try:
            TASKS[self.task].model_validate(self.training)
        except ValidationError as error:  # which names no key above its own
            raise ValueError(explain(error, "training", TASKS[self.task])[0]) from None
        return self

    @property
    def reported(self) -> int:
        """The epoch that stands for the run."""
        return self.epochs[self.protocol]

    @property
    def trained_by(self) -> Training:
        """The task's protocol, validated."""
        return TASKS[self.task].model_validate(self.training)

    def write(self, folder: Path) -> None:
        content = {key: value for key, value in self if value is not None}
        write_json(folder / RUN_JSON, content)

    @classmethod
    def read(cls, path: str | Path) -> "Record":
        """Read a run.json.

        Raises:
            DataError: it is missing, damaged or of another version.
        """
        try:
            return cls.model_validate(read_json(path))
        except ValidationError as error:
            problem = explain(error, "", cls)[0]
            raise DataError(
                f"{path} is not a {RUN_JSON} of this version: {problem}; train this "
                "run again"
            ) from None

    def check_inputs(self, folder: Path, inputs: Mapping[str, str]) -> None:
        """Check that this run, of a folder, was trained on files with these `digests`.

        Raises:
            DataError: one was made anew since.
        """
        for what, digest in inputs.items():
            if self.inputs.get(what) != digest:
                raise DataError(
                    f"{folder} does not fit its {what}, which was made anew since: "
                    "train this run again"
                )


def digests(graph: str | Path, split: str | Path) -> dict[str, str]:
    """Compute the SHA-256 of the files that a run is trained on."""
    return {"graph": sha256_of(graph), "split": sha256_of(split)}


def pack(predictions: Mapping[int, Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Stack predictions of E epochs: `epochs` (E,), and each array with E rows."""
    epochs = sorted(predictions)
    arrays = {"epochs": np.array(epochs)}
    for name in predictions[epochs[0]]:
        arrays[name] = np.stack([predictions[epoch][name] for epoch in epochs])
    return arrays


def unpack(arrays: Mapping[str, np.ndarray], epoch: int) -> dict[str, np.ndarray]:
    """Take the predictions of an epoch from predictions.npz.

    Raises:
        DataError: the epoch was not kept.
    """
    is_reported = arrays.get("epochs", np.zeros(0)) == epoch
    if not is_reported.any():
        raise DataError(
            f"predictions.npz lacks the reported epoch {epoch}: train this run again"
        )
    row = is_reported.argmax()
    names = [name for name in arrays if name.endswith("logits")]
    return {name: arrays[name][row] for name in names}
