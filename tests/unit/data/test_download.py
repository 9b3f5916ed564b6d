"""Fetching raw files, from a server on this machine that misbehaves in every way it is asked to."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fairgat.data import download
from fairgat.data.source import File
from fairgat.errors import ConfigError, DataError

CONTENT = bytes(range(256)) * 4000  # about a megabyte: several chunks
PAUSE = time.sleep  # `quick` takes it from Pooch
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """/good, /gone (404), /busy2 (503 twice, then good), /cut (always), /cut1 (once),
    /other (bytes), /endless, /drop (a byte at a time), /head (of the header).
    """

    asked = Counter()

    def do_GET(self):
        name = self.path.strip("/")
        self.asked[name] += 1
        if name == "gone" or (name == "busy2" and self.asked[name] <= 2):
            self.send_error(404 if name == "gone" else 503)
            return
        if name in ("endless", "drop", "head"):
            self.without_end(name)
            return
        content = b"0" * 1000 if name == "other" else CONTENT
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        cut = name == "cut" or (name == "cut1" and self.asked[name] == 1)
        self.wfile.write(content[: len(content) // 2] if cut else content)

    def without_end(self, name):
        """Answer until nobody listens any more, or the test is over."""
        self.send_response(200)
        if name != "head":
            self.end_headers()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                self.wfile.write(CONTENT if name == "endless" else b"0")
                self.wfile.flush()
            except OSError:
                break
            PAUSE(0.0 if name == "endless" else 0.05)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Handler.asked.clear()


def pinned(url=None, sha256=SHA256, name="web/file.bin", **more):
    return File(name, url=url, sha256=sha256, **more)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_comes_with_its_checksum_and_the_manifest(address, tmp_path):
    download.acquire("web", [pinned(f"{address}/good")], tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert names(tmp_path) == ["file.bin", "file.bin.sha256", "manifest.json"]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    entry = {"name": "web/file.bin", "sha256": SHA256, "source": f"{address}/good"}
    assert manifest == {"dataset": "web", "files": [entry]}
    if shutil.which("sha256sum"):
        subprocess.run(
            ["sha256sum", "--check", "--quiet", "file.bin.sha256"],
            cwd=tmp_path,
            check=True,
        )
    pinned().verify(tmp_path)


@pytest.mark.parametrize(
    ("mirror", "content", "asked"),
    [
        ("mirror", CONTENT, 0),
        ("mirror", CONTENT[:-1], 1),
        ("mirror/web/file.bin", CONTENT, 1),
    ],
    ids=["whole", "damaged", "a file"],
)
def test_the_mirror_comes_first_and_then_the_next_place(
    address, tmp_path, mirror, content, asked
):
    (tmp_path / "mirror/web").mkdir(parents=True)
    (tmp_path / "mirror/web/file.bin").write_bytes(content)
    download.acquire(
        "web", [pinned(f"{address}/good")], tmp_path / "raw", tmp_path / mirror
    )
    assert (
        Handler.asked["good"] == asked
        and (tmp_path / "raw/file.bin").read_bytes() == CONTENT
    )


@pytest.mark.parametrize(("path", "tries"), [("busy2", 3), ("cut1", 2)])
def test_what_may_pass_is_tried_again(address, tmp_path, path, tries):
    download.acquire("web", [pinned(f"{address}/{path}")], tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT and Handler.asked[
        path
    ] == tries


@pytest.mark.parametrize(
    ("path", "reason", "tries"),
    [
        ("gone", "the server answered 404 Client Error: Not Found", 4),
        ("cut", "no connection, or it broke off: ChunkedEncodingError", 4),
        (
            "other",
            f"it gave 1000 bytes with SHA-256 [0-9a-f]{{64}}, not those of SHA-256 {SHA256}",
            1,
        ),
    ],
)
def test_what_is_not_the_file_is_named_and_leaves_nothing(
    address, tmp_path, path, reason, tries
):
    with pytest.raises(DataError, match=reason):
        download.acquire("web", [pinned(f"{address}/{path}")], tmp_path)
    assert names(tmp_path) == [] and Handler.asked[path] == tries


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("endless", "it gave more than 3000000 bytes"),
        ("drop", r"it gave \d+ bytes in a second, and 1000 are the least"),
        ("head", "it gave 0 bytes in a second, and 1000 are the least"),
    ],
)
def test_what_does_not_end_is_given_up(address, tmp_path, monkeypatch, path, reason):
    monkeypatch.setattr(download, "LARGEST", 3_000_000)
    monkeypatch.setattr(download, "WINDOW", 0.5)
    with pytest.raises(DataError, match=reason):
        download.acquire("web", [pinned(f"{address}/{path}")], tmp_path)
    assert names(tmp_path) == [] and Handler.asked[path] == 1


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind):
    origin = Path("/dev/zero") if kind == "device" else tmp_path / "mine.csv"
    if kind == "pipe":
        os.mkfifo(origin)
    elif kind == "folder":
        origin.mkdir()
    with pytest.raises(DataError, match=f"{origin}: it is a {kind}, and a file is"):
        download.acquire("web", [File("web/mine.csv", local=origin)], tmp_path / "raw")
    (tmp_path / "mirror/web").mkdir(parents=True)
    (tmp_path / "mirror/web/file.bin").symlink_to(origin)
    with pytest.raises(DataError, match=f"it is a {kind}, and a file is needed"):
        download.acquire("web", [pinned()], tmp_path / "raw", tmp_path / "mirror")


def test_one_message_names_every_file_every_place_and_what_to_do(address, tmp_path):
    files = [
        pinned(f"{address}/{path}", name=f"web/{path}.bin")
        for path in ("gone", "good", "other")
    ]
    with pytest.raises(DataError) as error:
        download.acquire("web", files, tmp_path / "raw", tmp_path / "mirror")
    text = str(error.value)
    assert text.startswith("web: 2 of 3 files cannot be had.")
    places = [
        "web/gone.bin",
        "web/other.bin",
        f"{tmp_path / 'mirror/web/gone.bin'}: No such file",
        f"{address}/gone",
    ]
    for part in (
        *places,
        "fairgat data where",
        "fairgat data add FOLDER",
        "--config skip=web",
    ):
        assert part in text
    assert names(tmp_path / "raw") == [
        "good.bin",
        "good.bin.sha256",
    ]  # fetched once, kept for the next run
    download.acquire("web", files[1:2], tmp_path / "raw")
    assert Handler.asked["good"] == 1


def test_an_own_file_that_is_missing_is_not_to_be_looked_for_on_the_web(
    address, tmp_path
):
    files = [
        pinned(f"{address}/good", name="web/good.bin"),
        File("web/mine.csv", local=tmp_path / "mine.csv"),
    ]
    with pytest.raises(DataError, match="Correct their paths"):
        download.acquire("web", files, tmp_path / "raw")


def test_without_a_network_a_data_set_says_so_in_one_sentence(tmp_path, capfd):
    gone = "http://127.0.0.1:9"
    files = [pinned(f"{gone}/{name}", name=f"web/{name}") for name in "abcd"]
    with pytest.raises(DataError) as error:
        download.acquire("web", files, tmp_path)
    reason = "no connection to 127.0.0.1:9 (ConnectionError)"
    assert str(error.value) == f"web: 4 of 4 files cannot be had: {reason}"
    # A silent host is tried again for the first of its files alone.
    assert len(capfd.readouterr().err.splitlines()) == 1
    with pytest.raises(DataError, match=r"(?s)mirror/web/a: No such file.*/b: no conn"):
        download.acquire("web", files[:2], tmp_path, tmp_path / "mirror")


def test_a_file_of_unknown_place_or_content_is_refused(tmp_path):
    with pytest.raises(DataError, match="no place is known for it"):
        download.acquire("web", [pinned()], tmp_path)
    with pytest.raises(
        ConfigError, match=r"web/file\.bin needs a `sha256`, or git's id"
    ):
        pinned(sha256=None)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "..", "."])
def test_a_file_lies_within_its_folder(name):
    with pytest.raises(ConfigError, match="is no path within a data mirror"):
        pinned(name=name)


def test_a_file_altered_on_disk_is_refused_and_then_fetched_anew(
    address, tmp_path, capsys
):
    files = [pinned(f"{address}/good")]
    download.acquire("web", files, tmp_path)
    (tmp_path / "file.bin").write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(DataError, match=r"file\.bin is altered: .*Delete "):
        files[0].verify(tmp_path)
    download.acquire("web", files, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert (
        "is not the file that is wanted; fetching it again" in capsys.readouterr().err
    )


def test_a_file_we_never_had_is_known_by_gits_id(address, tmp_path):
    blob = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
    known = {"name": "web/file.bin", "sha256": None, "blob": blob}
    for _ in range(2):
        download.acquire("web", [pinned(f"{address}/good", **known)], tmp_path)
        pinned(**known).verify(tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT and Handler.asked[
        "good"
    ] == 1
    with pytest.raises(
        DataError, match=rf"1000 bytes .* not those of git blob id {blob}"
    ):
        download.acquire(
            "web", [pinned(f"{address}/other", **known)], tmp_path / "elsewhere"
        )
    (tmp_path / "file.bin").write_bytes(b"something else")
    with pytest.raises(
        DataError, match=f"file.bin is altered: it should have git blob id {blob}"
    ):
        pinned(**known).verify(tmp_path)


def test_a_users_own_file_is_as_it_was_copied(tmp_path):
    own = File("mine/n.csv", local=tmp_path / "my.csv")
    with pytest.raises(DataError, match=r"my\.csv: No such file or directory"):
        download.acquire("mine", [own], tmp_path / "raw")
    (tmp_path / "my.csv").write_text("a")
    download.acquire("mine", [own], tmp_path / "raw")
    own.verify(tmp_path / "raw")
    (tmp_path / "my.csv").write_text("b")
    download.acquire("mine", [own], tmp_path / "raw")
    assert (tmp_path / "raw/n.csv").read_text() == "b"
    (tmp_path / "raw/n.csv").write_text("c")
    assert own.state(tmp_path / "raw") == "altered"
    (tmp_path / "raw/n.csv.sha256").unlink()
    with pytest.raises(
        DataError,
        match=r"n\.csv is altered: it should have the checksum noted beside it",
    ):
        own.verify(tmp_path / "raw")
    with pytest.raises(DataError, match=r"n\.csv is missing"):
        own.verify(tmp_path)


def test_a_full_disk_is_said_and_loses_nothing(address, tmp_path, monkeypatch):
    download.acquire("web", [pinned(f"{address}/good", name="web/first.bin")], tmp_path)
    kept = names(tmp_path)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", full)
    with pytest.raises(
        DataError, match=r"cannot be written: No space left on device\. What was there"
    ):
        download.acquire(
            "web", [pinned(f"{address}/good", name="web/second.bin")], tmp_path
        )
    assert names(tmp_path) == kept


def test_what_is_handed_on_may_be_deleted(address, tmp_path):
    files = [pinned(f"{address}/good")]
    download.acquire("web", files, tmp_path / "raw")
    download.hand_on(
        tmp_path / "raw", tmp_path / "inputs/web", tmp_path / "bucket/manifest.json"
    )
    files[0].verify(tmp_path / "inputs/web")
    handed_on = {*names(tmp_path / "raw")} - {"manifest.json"}
    assert {*names(tmp_path / "inputs/web")} == handed_on
    assert (tmp_path / "bucket/manifest.json").read_bytes() == (
        tmp_path / "raw/manifest.json"
    ).read_bytes()
    shutil.rmtree(tmp_path / "inputs")
    files[0].verify(tmp_path / "raw")
