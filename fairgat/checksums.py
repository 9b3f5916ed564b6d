"""Checksums of results, recorded beside them in the format of `sha256sum`.

A job lists what it wrote to a folder in a file named after the first of it, such as
`run.json.sha256` (`fairgat.files.recording`); raw files have theirs, too. A published
folder lists all that is in it in `published.sha256`. Who reads a file compares it with
what is listed (`fairgat.files.read_bytes`); a file that no list has, such as one of an
earlier version, is taken as it is.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from fairgat.errors import DataError

SUFFIX = ".sha256"
PUBLISHED = f"published{SUFFIX}"
_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")
_NEVER_RECORDED = ("logs", "benchmarks")  # Snakemake's, and nothing is made of them


def sha256_of(path: str | Path) -> str:
    """Compute the SHA-256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def formatted(checksums: Mapping[str, str]) -> str:
    """Write checksums by file name as `sha256sum` does, sorted by name."""
    lines = [_line(name, checksums[name]) for name in sorted(checksums)]
    return "".join(lines)


def _line(name: str, checksum: str) -> str:
    """A file's line; a backslash before it says that its name is escaped."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "" if escaped == name else "\\"
    return f"{mark}{checksum}  {escaped}\n"


def read(listing: Path) -> dict[str, str]:
    """Read a list of checksums by file name, relative to its folder.

    Raises:
        DataError: it is cut off, or not such a list.
    """
    try:
        *lines, after_last = listing.read_bytes().decode("utf-8").split("\n")
    except FileNotFoundError:  # a job that writes anew what it lists took it away
        return {}
    except OSError as error:
        raise DataError(f"{listing} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _not_a_list(listing, 1) from None
    if after_last or not lines:  # cut off, or empty
        raise _not_a_list(listing, len(lines) + 1)

    checksums = {}
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line.removesuffix("\r"))
        if not match:
            raise _not_a_list(listing, number)
        is_escaped, checksum, name = match.groups()
        if is_escaped:
            name = re.sub(r"\\([\\nr])", _unescaped, name)
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:  # it leads out of the folder
            raise _not_a_list(listing, number)
        checksums[name] = checksum
    return checksums


def _unescaped(match: re.Match[str]) -> str:
    return {"\\": "\\", "n": "\n", "r": "\r"}[match[1]]


def _not_a_list(listing: Path, number: int) -> DataError:
    return DataError(
        f"{listing} is damaged (line {number}): it should list checksums as "
        "`sha256sum` does. Delete it; the files that it listed are then read unchecked"
    )


def listings(path: Path) -> Iterator[tuple[Path, str]]:
    """Find the lists that may have a file's checksum, each with the file's name in it.

    1. FILE.sha256, 2. other lists in its folder, 3. published.sha256 of a folder above.
    """
    folder = path.parent
    own = folder / f"{path.name}{SUFFIX}"
    if own.is_file():
        yield own, path.name
    for listing in sorted(folder.glob(f"*{SUFFIX}")):
        if listing != own and listing.is_file():
            yield listing, path.name

    # From the parent on: the folder's own published.sha256 is among those above.
    listing = published(folder.absolute().parent)
    if listing:
        name = path.absolute().relative_to(listing.parent)
        yield listing, name.as_posix()


def published(folder: Path) -> Path | None:
    """Find the nearest published.sha256, in a folder or in one above it."""
    folder = folder.absolute()
    for parent in (folder, *folder.parents):
        listing = parent / PUBLISHED
        if listing.is_file():
            return listing
    return None


def contradiction(path: str | Path, checksum: str) -> Path | None:
    """Find what lists another checksum of a file, where nothing lists this one.

    Raises:
        DataError: what may list it is damaged.
    """
    contradicting = None
    for listing, name in listings(Path(path)):
        listed = read(listing).get(name)
        if listed == checksum:
            return None
        if listed:
            contradicting = contradicting or listing
    return contradicting


@dataclass
class Verified:
    """What `verify` found in a folder."""

    whole: int = 0
    """Files whose bytes are those recorded."""
    problems: list[str] = field(default_factory=list)
    """A line for each file that is changed, missing or unreadable."""
    unrecorded: list[Path] = field(default_factory=list)
    """Files that no list has, but for those that none ever has, such as logs."""


def verify(folder: Path) -> Verified:
    """Compare every file under a folder with its recorded checksum.

    The list of a published folder counts for a part of it, too.
    """
    verified = Verified()
    root = Path(os.path.abspath(folder))
    lists = sorted(folder.rglob(f"*{SUFFIX}"))
    above = published(root.parent)
    if above:
        lists.append(above)

    # The checksums recorded of each file, with the lists that have them.
    recorded: dict[Path, list[tuple[str, Path]]] = {}
    for listing in lists:
        try:
            checksums = read(listing)
        except DataError as error:
            verified.problems.append(str(error))
            continue
        place = Path(os.path.abspath(listing.parent))
        for name, checksum in checksums.items():
            path = place / name
            if not path.is_relative_to(root):
                continue
            entries = recorded.setdefault(folder / path.relative_to(root), [])
            entries.append((checksum, listing))

    for path in sorted(recorded):
        problem = _problem(path, dict(recorded[path]))
        if problem:
            verified.problems.append(f"{path} {problem}")
        else:
            verified.whole += 1

    for path in sorted(folder.rglob("*")):
        if path in recorded or not path.is_file():
            continue
        if not _is_never_recorded(path, folder):
            verified.unrecorded.append(path)
    return verified


def _is_never_recorded(path: Path, folder: Path) -> bool:
    """Say whether no list ever has a file: it is one, hidden, a log or a benchmark."""
    if path.suffix == SUFFIX or path.name.startswith("."):
        return True
    return any(part in _NEVER_RECORDED for part in path.relative_to(folder).parts)


def _problem(path: Path, recorded: Mapping[str, Path]) -> str | None:
    """Say what is wrong with a file, given what lists each of its checksums."""
    listing = next(iter(recorded.values()))
    if not path.is_file():
        return f"is missing, or no file; {listing.name} lists it"
    try:
        checksum = sha256_of(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if checksum not in recorded:
        return f"was changed: it is not as {listing.name} has it"
    return None
