"""Fetching raw files, from a server that misbehaves in every way it is asked to."""

import errno
import hashlib
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
from fairgat.files import read_json

CONTENT = bytes(range(256)) * 4000  # about a megabyte: several chunks
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
PAUSE = time.sleep  # `quick` takes it from Pooch


class Handler(BaseHTTPRequestHandler):
    """/good, /gone (404), /busy2 (503 twice, then good), /cut (always), /cut1 (once),
    /other (bytes), /endless, /drop (a byte at a time), /head (of the header).
    """

    asked = Counter()

    def do_GET(self):
        name = self.path.strip("/")
        self.asked[name] += 1
        times = self.asked[name]
        if name == "gone":
            self.send_error(404)
        elif name == "busy2" and times <= 2:
            self.send_error(503)
        elif name in ("endless", "drop", "head"):
            self.without_end(name)
        else:
            content = b"0" * 1000 if name == "other" else CONTENT
            is_cut = (name, times) == ("cut1", 1) or name == "cut"
            self.give(content, len(content) // 2 if is_cut else len(content))

    def give(self, content, end):
        """Announce the content, and send it up to `end`."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:end])

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


@pytest.fixture
def good(address):
    return pinned(f"{address}/good")


@pytest.fixture
def mirror(tmp_path):
    """A folder for the files of the data set in a mirror, which is its parent."""
    folder = tmp_path / "mirror/web"
    folder.mkdir(parents=True)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --------------------------------------------------------------------------- it comes


def test_a_file_comes_with_its_checksum_and_the_manifest(good, tmp_path):
    download.acquire("web", [good], tmp_path)

    assert names(tmp_path) == ["file.bin", "file.bin.sha256", "manifest.json"]
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    entry = {"name": "web/file.bin", "sha256": SHA256, "source": good.url}
    manifest = read_json(tmp_path / "manifest.json")
    assert manifest == {"dataset": "web", "files": [entry]}
    good.verify(tmp_path)


def test_the_folder_of_a_file_is_made_with_those_above_it(good, tmp_path):
    raw = tmp_path / "results/data/raw"

    download.acquire("web", [good], raw)

    assert (raw / "file.bin").read_bytes() == CONTENT


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum")
def test_the_checksum_beside_a_file_is_as_sha256sum_reads_it(good, tmp_path):
    download.acquire("web", [good], tmp_path)

    command = ["sha256sum", "--check", "--quiet", "file.bin.sha256"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("content", "asked"),
    [(CONTENT, 0), (CONTENT[:-1], 1)],
    ids=["whole", "damaged"],
)
def test_the_mirror_comes_first_and_then_the_next_place(
    good, tmp_path, mirror, content, asked
):
    (mirror / "file.bin").write_bytes(content)

    download.acquire("web", [good], tmp_path / "raw", mirror.parent)

    assert Handler.asked["good"] == asked
    assert (tmp_path / "raw/file.bin").read_bytes() == CONTENT


def test_a_mirror_that_is_a_file_is_passed_over(good, tmp_path, mirror):
    file = mirror / "file.bin"
    file.write_bytes(CONTENT)

    download.acquire("web", [good], tmp_path / "raw", file)

    assert Handler.asked["good"] == 1
    assert (tmp_path / "raw/file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize(("path", "tries"), [("busy2", 3), ("cut1", 2)])
def test_what_may_pass_is_tried_again(address, tmp_path, path, tries):
    download.acquire("web", [pinned(f"{address}/{path}")], tmp_path)

    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert Handler.asked[path] == tries


def test_a_file_that_is_there_is_not_fetched_again(good, tmp_path):
    download.acquire("web", [good], tmp_path)
    download.acquire("web", [good], tmp_path)

    assert Handler.asked["good"] == 1


def test_a_file_altered_on_disk_is_refused_and_then_fetched_anew(
    good, tmp_path, capsys
):
    download.acquire("web", [good], tmp_path)
    (tmp_path / "file.bin").write_bytes(CONTENT[:-1] + b"!")

    with pytest.raises(DataError, match=r"file\.bin is altered: .*Delete "):
        good.verify(tmp_path)

    download.acquire("web", [good], tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    said = capsys.readouterr().err
    assert "is not the file that is wanted; fetching it again" in said


# ------------------------------------------------------------------- it cannot be had


@pytest.mark.parametrize(
    ("path", "reason", "tries"),
    [
        ("gone", "the server answered 404 Client Error: Not Found", 4),
        ("cut", "no connection, or it broke off: ChunkedEncodingError", 4),
        (
            "other",
            "it gave 1000 bytes with SHA-256 [0-9a-f]{64}, "
            f"not those of SHA-256 {SHA256}",
            1,
        ),
    ],
)
def test_what_is_not_the_file_is_named_and_leaves_nothing(
    address, tmp_path, path, reason, tries
):
    with pytest.raises(DataError, match=reason):
        download.acquire("web", [pinned(f"{address}/{path}")], tmp_path)

    assert names(tmp_path) == []
    assert Handler.asked[path] == tries


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

    assert names(tmp_path) == []
    assert Handler.asked[path] == 1


@pytest.fixture(params=["pipe", "folder", "device"])
def no_file(request, tmp_path):
    """What stands where a file should, and what it is."""
    path = tmp_path / "mine.csv"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    return path, request.param


def test_what_is_no_file_is_not_waited_for(tmp_path, no_file):
    path, kind = no_file
    own = File("web/mine.csv", local=path)

    with pytest.raises(DataError, match=f"{path}: it is a {kind}, and a file is"):
        download.acquire("web", [own], tmp_path / "raw")


def test_what_is_no_file_in_the_mirror_is_not_waited_for(tmp_path, mirror, no_file):
    path, kind = no_file
    (mirror / "file.bin").symlink_to(path)

    with pytest.raises(DataError, match=f"it is a {kind}, and a file is needed"):
        download.acquire("web", [pinned()], tmp_path / "raw", mirror.parent)


def test_a_full_disk_is_said_and_loses_nothing(address, tmp_path, monkeypatch):
    first = pinned(f"{address}/good", name="web/first.bin")
    second = pinned(f"{address}/good", name="web/second.bin")
    download.acquire("web", [first], tmp_path)
    kept = names(tmp_path)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", full)
    said = r"cannot be written: No space left on device\. What was there"
    with pytest.raises(DataError, match=said):
        download.acquire("web", [second], tmp_path)

    assert names(tmp_path) == kept


# ------------------------------------------------------------------- what is said then


@pytest.fixture
def two_of_three(address):
    """Three files, of which one is good."""
    paths = ("gone", "good", "other")
    return [pinned(f"{address}/{path}", name=f"web/{path}.bin") for path in paths]


def test_one_message_names_every_file_every_place_and_what_to_do(
    address, tmp_path, two_of_three
):
    mirror = tmp_path / "mirror"

    with pytest.raises(DataError) as error:
        download.acquire("web", two_of_three, tmp_path / "raw", mirror)

    text = str(error.value)
    assert text.startswith("web: 2 of 3 files cannot be had.")
    for part in (
        "web/gone.bin",
        "web/other.bin",
        f"{mirror / 'web/gone.bin'}: No such file",
        f"{address}/gone",
        "fairgat data where",
        "fairgat data add FOLDER",
        "--config skip=web",
    ):
        assert part in text


def test_what_was_fetched_before_a_failure_is_kept(tmp_path, two_of_three):
    with pytest.raises(DataError):
        download.acquire("web", two_of_three, tmp_path)
    assert names(tmp_path) == ["good.bin", "good.bin.sha256"]

    _, good, _ = two_of_three
    download.acquire("web", [good], tmp_path)
    assert Handler.asked["good"] == 1


def test_an_own_file_that_is_missing_is_not_to_be_looked_for_on_the_web(good, tmp_path):
    own = File("web/mine.csv", local=tmp_path / "mine.csv")
    with pytest.raises(DataError, match="Correct their paths"):
        download.acquire("web", [good, own], tmp_path / "raw")


@pytest.fixture
def without_network():
    """Files of a host that does not answer."""
    gone = "http://127.0.0.1:9"
    return [pinned(f"{gone}/{name}", name=f"web/{name}") for name in "abcd"]


def test_without_a_network_a_data_set_says_so_in_one_sentence(
    tmp_path, capfd, without_network
):
    with pytest.raises(DataError) as error:
        download.acquire("web", without_network, tmp_path)

    reason = "no connection to 127.0.0.1:9 (ConnectionError)"
    (said,) = str(error.value).splitlines()
    assert said.startswith(f"web: 4 of 4 files cannot be had: {reason}; ")
    assert "`fairgat data add FOLDER`" in said
    assert "`data_mirror`" in said
    # A silent host is tried again for the first of its files alone.
    tries = capfd.readouterr().err.splitlines()
    assert len(tries) == 1


def test_without_a_network_a_mirror_that_lacks_files_is_named(
    tmp_path, without_network
):
    said = r"(?s)mirror/web/a: No such file.*/b: no conn"
    with pytest.raises(DataError, match=said):
        download.acquire("web", without_network[:2], tmp_path, tmp_path / "mirror")


# ------------------------------------------------------------------------- which file


def test_a_file_of_unknown_place_is_refused(tmp_path):
    with pytest.raises(DataError, match="no place is known for it"):
        download.acquire("web", [pinned()], tmp_path)


def test_a_file_of_unknown_content_is_refused():
    said = r"web/file\.bin needs a `sha256`, or git's id"
    with pytest.raises(ConfigError, match=said):
        pinned(sha256=None)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "..", "."])
def test_a_file_lies_within_its_folder(name):
    with pytest.raises(ConfigError, match="is no path within a data mirror"):
        pinned(name=name)


def known_by_git(url=None):
    """The file, of which we know git's id alone."""
    return pinned(url, sha256=None, blob=BLOB)


def test_a_file_we_never_had_is_known_by_gits_id(address, tmp_path):
    file = known_by_git(f"{address}/good")
    for _ in range(2):
        download.acquire("web", [file], tmp_path)
        file.verify(tmp_path)

    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert Handler.asked["good"] == 1


def test_a_file_of_another_git_id_is_refused(address, tmp_path):
    other = known_by_git(f"{address}/other")
    said = rf"1000 bytes .* not those of git blob id {BLOB}"
    with pytest.raises(DataError, match=said):
        download.acquire("web", [other], tmp_path)


def test_a_file_known_by_gits_id_that_was_altered_is_refused(tmp_path):
    (tmp_path / "file.bin").write_bytes(b"something else")
    said = f"file.bin is altered: it should have git blob id {BLOB}"
    with pytest.raises(DataError, match=said):
        known_by_git().verify(tmp_path)


@pytest.fixture
def own(tmp_path):
    """A user's own file, whose content is `a`, copied to raw/."""
    path = tmp_path / "my.csv"
    path.write_text("a")
    file = File("mine/n.csv", local=path)
    download.acquire("mine", [file], tmp_path / "raw")
    return file


def test_a_users_own_file_is_copied_again_when_it_has_changed(tmp_path, own):
    own.verify(tmp_path / "raw")

    own.local.write_text("b")
    download.acquire("mine", [own], tmp_path / "raw")

    assert (tmp_path / "raw/n.csv").read_text() == "b"


def test_the_copy_of_a_users_own_file_is_known_by_the_checksum_beside_it(tmp_path, own):
    raw = tmp_path / "raw"
    (raw / "n.csv").write_text("c")
    assert own.state(raw) == "altered"

    (raw / "n.csv.sha256").unlink()
    said = r"n\.csv is altered: it should have the checksum noted beside it"
    with pytest.raises(DataError, match=said):
        own.verify(raw)


def test_a_users_own_file_that_is_not_there_is_named(tmp_path):
    own = File("mine/n.csv", local=tmp_path / "my.csv")

    with pytest.raises(DataError, match=r"my\.csv: No such file or directory"):
        download.acquire("mine", [own], tmp_path)
    with pytest.raises(DataError, match=r"n\.csv is missing"):
        own.verify(tmp_path)


def test_what_is_handed_on_may_be_deleted(good, tmp_path):
    raw, inputs = tmp_path / "raw", tmp_path / "inputs/web"
    manifest = tmp_path / "bucket/manifest.json"
    download.acquire("web", [good], raw)

    download.hand_on(raw, inputs, manifest)

    good.verify(inputs)
    assert {*names(inputs), "manifest.json"} == set(names(raw))
    assert manifest.read_bytes() == (raw / "manifest.json").read_bytes()
    shutil.rmtree(inputs)
    good.verify(raw)
