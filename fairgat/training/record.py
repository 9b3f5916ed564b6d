"""What a run leaves for those who judge it: run.json and predictions.npz."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fairgat.config import TASKS, Task, Training
from fairgat.errors import DataError
from fairgat.files import read_json, write_json

NAME = "run.json"


@dataclass(frozen=True)
class Record:
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
    epochs: Mapping[str, int] = field(default_factory=dict)
    """The epoch that each protocol of the task, or rule for the epoch, reports; none where the run failed."""
    failure: str | None = None
    """Why there are no predictions."""
    module: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the method, with the cell's hyperparameters."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """The task's protocol."""
    experiment: Mapping[str, Any] = field(default_factory=dict)
    """The experiment's seed, the threads, and the device that was asked for."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files of the graph and of the split."""
    runtime: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reported(self) -> int:
        """The epoch that stands for the run."""
        return self.epochs[self.protocol]

    @property
    def trained_by(self) -> Training:
        """The task's protocol, validated."""
        return TASKS[self.task](**self.training)

    def write(self, folder: Path) -> None:
        write_json(folder / NAME, {key: value for key, value in vars(self).items() if value is not None})

    @classmethod
    def read(cls, path: str | Path) -> "Record":
        """Read a run.json.

        Raises:
            DataError: it is missing, damaged or of another version.
        """
        content = read_json(path)
        try:
            record = cls(**content)
        except TypeError as error:
            raise DataError(f"{path} is not a {NAME} of this version: {error}") from None
        if record.task not in TASKS or (record.failure is None and record.protocol not in record.epochs):
            raise DataError(f"{path} is not a {NAME} of this version: the task or the reported epoch is unknown")
        return record


def pack(predictions: Mapping[int, Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Stack the predictions of several epochs: `epochs` (E,), and each array with E rows."""
    epochs = sorted(predictions)
    names = predictions[epochs[0]]
    return {"epochs": np.array(epochs)} | {name: np.stack([predictions[e][name] for e in epochs]) for name in names}


def unpack(arrays: Mapping[str, np.ndarray], epoch: int) -> dict[str, np.ndarray]:
    """Take the predictions of an epoch from predictions.npz.

    Raises:
        DataError: the epoch was not kept.
    """
    kept = arrays.get("epochs", np.zeros(0)) == epoch
    if not kept.any():
        raise DataError(f"predictions.npz lacks the reported epoch {epoch}: train this run again")
    return {name: array[kept.argmax()] for name, array in arrays.items() if name.endswith("logits")}
