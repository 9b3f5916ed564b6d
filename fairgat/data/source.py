"""What sources share: the raw files they ask for, and the scaling of features."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from fairgat.errors import ConfigError, DataError
from fairgat.files import git_blob_of, sha256_of, stays_inside

Scaling = Literal["min_max", "row", "none"]


@dataclass(frozen=True)
class File:
    """One raw file of a data set, and where to get it.

    In `results/data/raw/{dataset}/` it lies beside its checksum: `bail.csv` and
    `bail.csv.sha256`, which `sha256sum -c` reads.
    """

    name: str
    """Its path in a data mirror, such as `recidivism/bail.csv`. The last part is its
    name in results/data/raw/."""
    url: str | None = None
    """Where it is published, pinned to a commit."""
    sha256: str | None = None
    """Checksum of its bytes."""
    blob: str | None = None
    """Git's id of its bytes, where we never had the file: `git ls-tree` names it."""
    local: Path | None = None
    """The user's own file: it is copied from there and nowhere else."""

    def __post_init__(self) -> None:
        if not stays_inside(self.name):
            raise ConfigError(
                f"{self.name!r} is no path within a data mirror: give a relative one, "
                "without .."
            )
        if not (self.sha256 or self.blob or self.local):
            raise ConfigError(
                f"{self.name} needs a `sha256`, or git's id of it as `blob`: no file "
                "is trusted unseen"
            )

    @property
    def basename(self) -> str:
        return self.name.rsplit("/", 1)[-1]

    @property
    def pin(self) -> str | None:
        """What its bytes are known by; None for the user's own file."""
        if self.sha256:
            return f"SHA-256 {self.sha256}"
        return f"git blob id {self.blob}" if self.blob else None

    def state(self, folder: Path) -> Literal["missing", "altered", "here"]:
        """Compare the file in `folder` with its pin, or the checksum beside it."""
        path = folder / self.basename
        noted = folder / f"{self.basename}.sha256"
        if not path.exists():
            return "missing"
        pin = self.pin
        if pin is None and noted.exists():
            pin = f"SHA-256 {noted.read_text('utf-8', 'replace')[:64]}"
        return "here" if pin in identities(path) else "altered"

    def verify(self, folder: Path) -> None:
        """Refuse a file in `folder` that is not as it should be.

        Raises:
            DataError: it is missing or altered.
        """
        state = self.state(folder)
        if state != "here":
            wanted = self.pin or "the checksum noted beside it"
            raise DataError(
                f"{folder / self.basename} is {state}: it should have {wanted}. Delete "
                f"{folder} and run again to fetch it anew."
            )


def identities(path: Path) -> set[str]:
    """Identify the bytes of `path` in every form of `File.pin`."""
    return {f"SHA-256 {sha256_of(path)}", f"git blob id {git_blob_of(path)}"}


def github(repository: str, commit: str, path: str) -> str:
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


def scaled(features: np.ndarray, how: Scaling) -> np.ndarray:
    """Scale (N, F) features by their own extremes, as `rescaled` does."""
    features = np.asarray(features, dtype=np.float64)
    return rescaled(features, how, features.min(axis=0), features.max(axis=0))


def rescaled(
    features: np.ndarray, how: Scaling, lows: np.ndarray, highs: np.ndarray
) -> np.ndarray:
    """Scale features as the protocol asks; returns float32.

    Args:
        features: (N, F) float64.
        how: `min_max`: each column so that [low, high] becomes [-1, 1], constant ones
            to 0; `row`: each row divided by its sum, empty rows unchanged, after the
            least of all lows is subtracted where it is negative: for the citation
            graphs the same as PyTorch Geometric's NormalizeFeatures; `none`: unchanged.
        lows, highs: (F,) of each column, in the data that a model is trained on.
    """
    if how == "row":
        features = features - min(lows.min(initial=0), 0)
        total = features.sum(axis=1, keepdims=True)
        features = features / np.where(total == 0, 1.0, total)
    if how != "min_max":
        return features.astype(np.float32)
    result = np.zeros(features.shape, dtype=np.float32)
    for column, values in enumerate(features.T):  # one at a time, for memory
        low = lows[column]
        high = highs[column]
        if high > low:
            result[:, column] = 2 * (values - low) / (high - low) - 1
    return result
