"""Bring raw files from a mirror or the web, and verify them.

They are put in place whole or not at all. Pooch downloads, and tries again after a
broken connection. Each file lands beside its checksum, and a manifest lists them all. A
file that is there already with the right checksum stays.
"""

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fairgat.data.source import File, identities
from fairgat.errors import DataError
from fairgat.files import (
    UNFINISHED,
    irregular,
    sha256_of,
    write_json,
    write_text,
    writing,
)

MANIFEST = "manifest.json"
RETRIES = 3  # Pooch waits 1, 2 and 3 seconds before them
TIMEOUT = (5, 30)  # seconds until there is a connection, and without a byte
LARGEST = 4 << 30  # bytes of a file
LEAST = 1000  # bytes that come in a second, on the average of a WINDOW
WINDOW = 60.0  # seconds
_OWN = (
    "Correct their paths in the data set's `options`: they are relative to where the "
    "command runs."
)
_BY_HAND = (
    "To supply published files by hand: `fairgat data where` lists each with its "
    "address and checksum; {}."
)
_ELSEWHERE = (
    "with the files in one folder, under any names, `fairgat data add FOLDER` verifies "
    "them and takes them in; a mirror is named by `data_mirror` in the configuration"
)
_SKIP = "To run the rest without this data set, add to your command: --config skip={}"


class Unavailable(Exception):
    """Why one place did not give the file."""


class Unreachable(Unavailable):
    """Which host did not answer: none of its other files can be had, either."""


def acquire(
    name: str,
    files: list[File],
    folder: Path,
    mirror: Path | None = None,
    elsewhere: str = _ELSEWHERE,
) -> None:
    """Bring every file to `folder`, and write its manifest.json last.

    Args:
        name: the data set, for messages.
        files: what it needs.
        folder: results/data/raw/{name}.
        mirror: a folder laid out by `File.name`, tried first.
        elsewhere: what is done with files that were fetched by hand, for messages.

    Raises:
        DataError: naming every file that cannot be had, every place tried and why it
            failed. The other files stay, so that the next run fetches only what is
            missing.
    """
    failures = dict[File, Unavailable]()
    entries = []
    silent = dict[str, Unreachable]()  # hosts without an answer, not asked again
    for file in files:
        try:
            checksum = _obtain(file, folder, mirror, silent)
        except Unavailable as reasons:
            failures[file] = reasons
            continue
        # The address even if a mirror gave the file, so that manifests are equal.
        source = file.url or str(file.local)
        entries.append({"name": file.name, "sha256": checksum, "source": source})
    if failures:
        count = f"{name}: {len(failures)} of {len(files)} files cannot be had"
        raise DataError(count + _explained(name, failures, elsewhere))
    write_json(folder / MANIFEST, {"dataset": name, "files": entries})


def _explained(name: str, failures: dict[File, Unavailable], elsewhere: str) -> str:
    """Say why, and what to do; in a sentence where there is no network."""
    reasons = failures.values()
    if all(isinstance(reason, Unreachable) for reason in reasons):
        different = dict.fromkeys(map(str, reasons))
        return f": {'; '.join(different)}; {elsewhere}"
    listed = [f"  {file.name}\n{reason}" for file, reason in failures.items()]
    own = all(file.local for file in failures)
    advice = _OWN if own else _BY_HAND.format(elsewhere)
    return ".\n" + "\n".join([*listed, advice, _SKIP.format(name)])


def hand_on(folder: Path, target: Path, manifest: Path) -> None:
    """Fill a folder with hard links to the files of another.

    Or with copies, where the file system has no links.

    Args:
        folder: where the files were acquired.
        target: the folder to fill.
        manifest: where the manifest is wanted: in a bucket's local copy, if not in
            `folder`.

    Raises:
        DataError: the disk refused.
    """
    with writing(target):
        others = shutil.ignore_patterns(f"{UNFINISHED}*", f"{MANIFEST}*")
        shutil.copytree(
            folder, target, copy_function=_link, ignore=others, dirs_exist_ok=True
        )
        if not manifest.exists():
            manifest.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / MANIFEST, manifest)


def _link(origin: str, target: str) -> None:
    try:
        os.link(origin, target)
    except OSError:
        shutil.copyfile(origin, target)


def place(file: File, origin: Path | str, folder: Path) -> str:
    """Copy a file, or fetch it from its address, to its place in `folder`.

    Returns:
        Its SHA-256.

    Raises:
        Unavailable: `origin` does not give the file that is wanted.
        DataError: the disk refused.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED) as unfinished:
            part = Path(unfinished, file.basename)
            if isinstance(origin, str):
                _download(origin, part)
            else:
                _copy(origin, part)
            if file.pin and file.pin not in identities(part):
                size = part.stat().st_size
                raise Unavailable(
                    f"it gave {size} bytes with SHA-256 {sha256_of(part)}, not those "
                    f"of {file.pin}"
                )
            checksum = sha256_of(part)
            os.replace(part, folder / part.name)
            write_text(folder / f"{part.name}.sha256", f"{checksum}  {part.name}\n")
            return checksum


def _obtain(
    file: File, folder: Path, mirror: Path | None, silent: dict[str, Unreachable]
) -> str:
    """Bring one file to `folder` from the first place that has it; return its SHA-256.

    `silent` are the hosts that did not answer, which are not asked again.
    """
    target = folder / file.basename
    if file.pin and target.exists():
        if file.pin in identities(target):
            return sha256_of(target)
        what = f"{target} is not the file that is wanted; fetching it again"
        print(what, file=sys.stderr)
    places = _places(file, mirror)
    reasons = []
    for origin in places:
        try:
            return _asked(file, origin, folder, silent)
        except Unavailable as error:
            if isinstance(error, Unreachable) and len(places) == 1:
                raise
            reasons.append(f"    {origin}: {error}")
    raise Unavailable("\n".join(reasons) or "    no place is known for it")


def _places(file: File, mirror: Path | None) -> list[Path | str]:
    """List where a file may be had, in the order to try."""
    if file.local:
        return [file.local]
    places: list[Path | str] = []
    if mirror:
        places.append(mirror / file.name)
    if file.url is not None:
        places.append(file.url)
    return places


def _asked(
    file: File, origin: Path | str, folder: Path, silent: dict[str, Unreachable]
) -> str:
    """Place a file; a host that did not answer is not asked again."""
    host = urlsplit(str(origin)).netloc
    if host in silent:
        raise silent[host]
    try:
        return place(file, origin, folder)
    except Unreachable as error:
        silent[host] = error
        raise


def _copy(origin: Path, part: Path) -> None:
    """Copy a file; raise Unavailable, with the reason, where it cannot be read."""
    what = irregular(origin)
    if what:
        raise Unavailable(f"it is {what}, and a file is needed")
    try:  # separate from copying, which may fail because the disk is full
        origin.open("rb").close()
    except OSError as error:
        raise Unavailable(error.strerror) from None
    shutil.copyfile(origin, part)


def _download(url: str, part: Path) -> None:
    """Download to `part`; give up where the server sends too much, or too slowly."""
    import pooch
    import requests

    print(f"Downloading {url}", file=sys.stderr)
    pooch.get_logger().setLevel("WARNING")  # a line before each further attempt
    # Compressed answers would hide a truncated file: their length is not the file's.
    headers = {"Accept-Encoding": "identity"}
    downloader = pooch.HTTPDownloader(
        sys.stderr.isatty(), timeout=TIMEOUT, headers=headers
    )
    limited = _SizeLimited(downloader)
    cache = pooch.create(
        part.parent,
        "",
        registry={part.name: None},
        urls={part.name: url},
        retry_if_failed=RETRIES,
    )
    try:
        _unless_too_slow(lambda: cache.fetch(part.name, downloader=limited), limited)
    except requests.exceptions.HTTPError as error:
        raise Unavailable(f"the server answered {error}") from None
    except requests.exceptions.ConnectionError as error:
        host = urlsplit(url).netloc
        raise Unreachable(f"no connection to {host} ({type(error).__name__})") from None
    except requests.exceptions.RequestException as error:
        raise Unavailable(
            f"no connection, or it broke off: {type(error).__name__}"
        ) from None


class _SizeLimited:
    """Pooch's downloader, with the bytes that came in all its tries, and a limit."""

    def __init__(self, download: Callable[..., object]) -> None:
        self.download = download
        self.size = 0

    def __call__(self, url: str, path: str, cache: object, **more: Any) -> None:
        with open(path, "wb") as self.file:
            self.download(url, self, cache, **more)

    def write(self, chunk: bytes) -> None:
        """Write what came.

        Raises:
            Unavailable: it is too much.
        """
        self.size += len(chunk)
        if self.file.tell() + len(chunk) > LARGEST:
            raise Unavailable(f"it gave more than {LARGEST} bytes")
        self.file.write(chunk)

    def flush(self) -> None:
        """Leave it to the end, as closing does."""


def _unless_too_slow(fetch: Callable[[], object], limited: _SizeLimited) -> None:
    """Fetch in a thread of its own, and leave it there when what comes is too little.

    A timeout of the connection does not end what gives a byte before each.

    Raises:
        Unavailable: it is too slow.
        Exception: what `fetch` raised.
    """
    result = Future[None]()

    def run() -> None:
        try:
            fetch()
        except BaseException as error:
            result.set_exception(error)
        else:
            result.set_result(None)

    threading.Thread(target=run, daemon=True).start()
    while True:
        before = limited.size
        wait([result], timeout=WINDOW)
        if result.done():
            return result.result()
        rate = (limited.size - before) / WINDOW
        if rate < LEAST:
            raise Unavailable(
                f"it gave {rate:.0f} bytes in a second, and {LEAST} are the least"
            )
