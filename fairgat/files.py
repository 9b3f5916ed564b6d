"""Files that appear whole or not at all, and are read as they were written."""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import IO, Any

from fairgat import checksums
from fairgat.checksums import sha256_of as sha256_of
from fairgat.errors import DataError

# What a disk refuses: it is full, protected or read-only.
_REFUSED = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
}
# A folder where a file should be, or the reverse; a name that no file may have.
_REFUSED |= {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT}
_REFUSED |= {errno.ENAMETOOLONG, errno.ELOOP}

UNFINISHED = ".unfinished."
"""How the name of a folder begins in which files are fetched."""
_OLD = 3600  # seconds; a download has a least rate, and all else is written in one go
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")  # as `replacing` names them
_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn what a disk refuses into a message about `path`.

    Such as a disk that is full, protected or read-only, or a place that is taken.

    Raises:
        DataError: the disk refused.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
        raise DataError(
            f"{path} cannot be written: {error.strerror}. What was there before is "
            "kept."
        ) from None


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file to write to, which takes the place of `path` at the end.

    It does so when the block ends without an error.

    Raises:
        DataError: the disk refused, or `path` is no regular file: a device, which root
            may replace, or a link, which may lead anywhere. It is as it was.
    """
    path = Path(path)
    kind = irregular(path)
    if os.path.islink(path):
        kind = f"a link to {path.readlink()}; name that file itself"
    if kind:
        raise DataError(f"{path} cannot be written: it is {kind}")
    # Not by tempfile, whose files only their owner may read.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.tmp"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                yield file
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def remove_unfinished(folder: str | Path) -> None:
    """Remove what killed writers left behind, once it is unchanged for an hour.

    Hidden folders, such as .git, are not looked into.
    """
    for place, folders, names in os.walk(folder):
        unfinished = [name for name in folders if name.startswith(UNFINISHED)]
        for name in unfinished:
            if _is_old(Path(place, name)):
                shutil.rmtree(Path(place, name), ignore_errors=True)
        for name in filter(_TEMPORARY.fullmatch, names):
            if _is_old(Path(place, name)):
                with contextlib.suppress(OSError):
                    Path(place, name).unlink()
        folders[:] = [name for name in folders if not name.startswith(".")]


def _is_old(path: Path) -> bool:
    """Say whether a file or a folder is unchanged for an hour; a link never is."""
    if path.is_symlink():
        return False
    try:
        times = [each.stat().st_mtime for each in (path, *path.glob("*"))]
    except OSError:  # gone meanwhile
        return False
    return max(times) < time.time() - _OLD


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text; readers see the old file or the new one, never a part."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def write_json(path: str | Path, content: Any) -> None:
    """Write indented JSON in the order given; the same content gives the same bytes.

    Raises:
        ValueError: the content holds NaN or an infinity, which JSON lacks.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file.

    Raises:
        DataError: the file is missing, cannot be read or is damaged.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise damaged(path, f"is not JSON ({error})") from None


def read_text(path: str | Path) -> str:
    """Read a file's UTF-8 text, its lines' ends as they are.

    Raises:
        DataError: the file is missing, cannot be read, is damaged or was changed.
    """
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(
            path, f"is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from None


def irregular(path: str | Path) -> str | None:
    """Name the kind of a path that is no regular file, such as a pipe.

    Reading one may never end or never begin. None for a regular file, a link to
    one, and what cannot be looked at: who opens it is told why.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # the latter for NUL
        return None
    if stat.S_ISREG(mode):
        return None
    for is_kind, kind in _KINDS.items():
        if is_kind(mode):
            return kind
    return "no regular file"


def stays_inside(name: str) -> bool:
    """Say whether a path that a file or a configuration gives stays in its folder."""
    path = PurePath(name)
    if not path.parts or path.is_absolute():
        return False
    return ".." not in path.parts and "\0" not in name


def read_bytes(path: str | Path) -> bytes:
    """Read a file, and compare it with its checksum where one is recorded.

    This is where every reader of results learns that a file was changed.

    Raises:
        DataError: the file is missing, cannot be read, or was changed since.
    """
    try:
        kind = irregular(path)
        if kind:
            raise DataError(f"{path} cannot be read: it is {kind}")
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path} does not exist") from None
    except OSError as error:  # a file taken for a folder, no permission
        raise DataError(f"{path} cannot be read: {error.strerror}") from None

    checksum = hashlib.sha256(content).hexdigest()
    listing = checksums.contradiction(path, checksum)
    if listing:
        raise damaged(
            path,
            f"was changed after it was written: it is not as {listing.name} has it",
        )
    return content


def copy(origin: str | Path, target: str | Path) -> None:
    """Copy the bytes of a file that is as it was written; `target` is new.

    Raises:
        DataError: as `read_bytes`, or the disk refused.
    """
    with replacing(target) as file:
        file.write(read_bytes(origin))


def damaged(path: str | Path, fault: str) -> DataError:
    """Make the error that names a file of an earlier job, its fault, and what to do."""
    return DataError(
        f"{path} {fault}. Delete it and run again: what a run made will be made anew. "
        "What is published comes back by `git checkout`."
    )


@contextlib.contextmanager
def recording(paths: Iterable[str | Path]) -> Iterator[None]:
    """Record the checksums of the files that the block writes, if it ends well.

    What was recorded of them before is forgotten first: files of a block that is
    interrupted have no checksum, and never an earlier one.

    Args:
        paths: the files. In each folder, the list is named after the first of them;
            folders among them are left out, and in a published folder its own list is
            brought up to date.

    Raises:
        DataError: the disk refused.
    """
    files = [Path(path) for path in paths]
    for file in files:
        _forget(file)
    yield
    record([file for file in files if not file.is_dir()])


def _forget(file: Path) -> None:
    """Take a file out of the lists that have it."""
    own = file.parent / f"{file.name}{checksums.SUFFIX}"
    for listing, name in checksums.listings(file):
        others: dict[str, str] = {}
        if listing != own:  # the job's own list is written anew as a whole
            try:
                others = checksums.read(listing)
            except DataError:  # `fairgat verify` and readers name it
                continue
            if others.pop(name, None) is None:
                continue
        if others:
            write_text(listing, checksums.formatted(others))
        else:  # nothing is left to list
            with writing(listing):
                listing.unlink(missing_ok=True)


def record(files: Iterable[Path]) -> None:
    """Record the checksums of files; of none where one is missing: its job failed."""
    by_folder: dict[Path, dict[str, str]] = {}
    for file in files:
        if not file.is_file():
            return
        by_folder.setdefault(file.parent, {})[file.name] = sha256_of(file)

    for folder, entries in by_folder.items():
        listing = checksums.published(folder)
        if listing:  # names there are relative to its folder
            inside = folder.absolute().relative_to(listing.parent)
            named = {(inside / name).as_posix(): entries[name] for name in entries}
            entries = checksums.read(listing) | named
        else:
            first_name = next(iter(entries))
            listing = folder / f"{first_name}{checksums.SUFFIX}"
        write_text(listing, checksums.formatted(entries))


def record_published(folder: Path) -> None:
    """List the checksum of every file of a folder that is published."""
    listing = folder / checksums.PUBLISHED
    entries = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != checksums.SUFFIX:
            entries[path.relative_to(folder).as_posix()] = sha256_of(path)
    write_text(listing, checksums.formatted(entries))


def git_blob_of(path: str | Path) -> str:
    """Compute Git's id of a file's bytes, as a repository's tree has it.

    It is the SHA-1 of `blob <size>`, NUL and the bytes.
    """
    digest = hashlib.sha1(usedforsecurity=False)
    digest.update(b"blob %d\0" % os.path.getsize(path))
    with open(path, "rb") as file:
        hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
