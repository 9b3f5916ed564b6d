"""Whether a finished run is the one that the configuration asks for.

Snakemake takes it for that by its times and parameters, which `--touch` renews.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairgat import methods
from fairgat.config import TASKS
from fairgat.errors import ConfigError, DataError
from fairgat.plan import Run
from fairgat.training.record import Record

_AGAIN = "Delete it and run again: this run is then trained anew"


@dataclass(frozen=True)
class Asked:
    """A run as the configuration has it."""

    run: Run
    module: str
    settings: Mapping[str, Any]
    """Of the method, with the cell's hyperparameters."""
    training: Mapping[str, Any]
    """The task's protocol."""
    seed: int
    """The experiment's, or the method's own."""

    def check(self, path: str | Path, found: Record) -> None:
        """Check what the record at `path` says of itself.

        Settings are compared as the methods take them: with the defaults of what was
        not given. Threads, the device and the module's name do not count.

        Raises:
            DataError: it is another run, or was trained otherwise.
        """
        identity = vars(self.run) | {"seed": self.seed}
        found_identity = {name: getattr(found, name) for name in vars(self.run)}
        found_identity["seed"] = found.experiment.get("seed")
        _compare(path, identity, found_identity)

        training = TASKS[self.run.task].model_validate(self.training).model_dump()
        found_training = found.trained_by.model_dump()
        _compare(path, training, found_training, prefix="training.")

        check_settings(path, self.module, self.settings, found.settings)


def check_settings(
    path: str | Path,
    module: str,
    asked: Mapping[str, Any],
    trained: Mapping[str, Any],
    advice: str = _AGAIN,
) -> None:
    """Check that a method was trained with the settings that are asked for.

    Both are compared with the defaults of what was not given.

    Args:
        path: what says how it was trained.
        module: the method's.
        advice: what to do where they differ.

    Raises:
        DataError: naming the first setting that differs.
    """
    if trained == asked:  # otherwise PyTorch is imported for nothing
        return
    both = []
    for settings in (asked, trained):
        try:
            resolved = methods.settings(module, dict(settings), "settings")
        except ConfigError as error:
            raise DataError(
                f"{path} was trained with settings that are not of this version: "
                f"{error}. {advice}"
            ) from None
        both.append(resolved.model_dump())
    asked, trained = both
    _compare(path, asked, trained, "settings.", advice)


def _compare(
    path: str | Path,
    asked: Mapping[str, Any],
    trained: Mapping[str, Any],
    prefix: str = "",
    advice: str = _AGAIN,
) -> None:
    """Refuse the first value that differs, naming it by `prefix` and its key."""
    for name in {**asked, **trained}:
        wanted, found = asked.get(name), trained.get(name)
        if isinstance(wanted, Mapping) and isinstance(found, Mapping):
            _compare(path, wanted, found, f"{prefix}{name}.", advice)
        elif wanted != found:
            raise DataError(
                f"{path} was trained with {prefix}{name}: {found}, and {wanted} is "
                f"asked for. {advice}"
            )
