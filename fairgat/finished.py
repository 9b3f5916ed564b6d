"""What a finished cell made, kept aside until its batch has ended.

On a cluster the cells of a method share one job. When that job is lost (its node died, its time was up), Snakemake
deletes what all its cells made, also those that had finished, and starts them all again. What was kept is then put
back instead of being made again, provided that it would be made from the same.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from fairgat.files import read_json, write_json

_FOLDER = ".finished"
_KEY = "made-from.json"


def key(inputs: Iterable[str | Path], settings: object) -> str:
    """One number for all that decides a job's outputs: the content of its inputs, and its settings."""
    digest = hashlib.sha256(repr(settings).encode())
    for path in inputs:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def keep(key: str, files: Iterable[str | Path]) -> None:
    """Keep the finished job's files, which lie in one folder: further names for them, no copies."""
    paths = [Path(path) for path in files]
    folder = paths[0].parent / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in paths:
        _link(path, folder / path.name)
    write_json(folder / _KEY, key)  # last: without it nothing is put back


def restore(key: str, files: Iterable[str | Path]) -> bool:
    """Put the kept files back, if they were made from the same; whether they were."""
    paths = [Path(path) for path in files]
    folder = paths[0].parent / _FOLDER
    kept = [folder / path.name for path in paths]
    if not (folder / _KEY).exists() or read_json(folder / _KEY) != key or not all(path.exists() for path in kept):
        return False
    for source, path in zip(kept, paths, strict=True):
        _link(source, path)
    return True


def forget(folder: str | Path) -> None:
    """Keep nothing more of the job that writes to this folder."""
    shutil.rmtree(Path(folder) / _FOLDER, ignore_errors=True)


def _link(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
