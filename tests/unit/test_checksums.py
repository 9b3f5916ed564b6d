"""Files of results that were changed after they were written, and who notices."""

import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from fairgat import frames
from fairgat.cli import main as cli
from fairgat.data.graph import load_npz, save_npz
from fairgat.errors import DataError
from fairgat.files import (
    copy,
    read_json,
    read_text,
    record_published,
    recording,
    write_json,
    write_text,
)
from fairgat.job_log import logged

NAMES = ("winners.csv", "selection.json", "model.npz")
READERS = dict(zip(NAMES, (frames.read, read_json, load_npz), strict=True))


def job(folder, value, names=NAMES):
    """Write files as a job of the workflow does."""
    output = [str(folder / name) for name in names]
    with logged(SimpleNamespace(log=[str(folder.parent / "log")], output=output)):
        write(folder, value, names)


def write(folder, value, names=NAMES):
    for name in names:
        path = folder / name
        if path.suffix == ".csv":
            write_text(path, f"cell,mean\ndefault,{value}\n")
        elif path.suffix == ".json":
            write_json(path, {"mean": value})
        else:
            save_npz(path, mean=np.float64(value))


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "results of a run"
    folder.mkdir()
    job(folder, 81.67)
    return folder


def flip(path, place=-1):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def refused(path):
    with pytest.raises(DataError) as error:
        READERS[path.name](path)
    assert str(error.value).startswith(f"{path} was changed after it was written")
    assert "Delete it and run again" in str(error.value)


def verify(folder, capsys):
    """The exit status of `fairgat verify`, and what it says."""
    status = cli.main(["verify", str(folder)])
    return status, capsys.readouterr().out


def test_what_a_job_wrote_is_read(run, capsys):
    for name, reader in READERS.items():
        reader(run / name)
    assert verify(run, capsys) == (0, "3 files are as they were written.\n")


def test_one_digit_changed_is_refused(run):
    winners = run / "winners.csv"
    winners.write_text(winners.read_text().replace("81.67", "99.67"))
    refused(winners)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", [0, 10, -1])
def test_a_flipped_bit_is_refused_and_named(run, name, place, capsys):
    flip(run / name, place)
    refused(run / name)
    status, said = verify(run, capsys)
    assert status == 1
    assert said.startswith(f"{run / name} was changed")
    assert "2 files are as they were written, 1 are not" in said


@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_and_an_older_file_are_refused(run, tmp_path, name):
    older = tmp_path / "older"
    older.mkdir()
    job(older, 12.5)
    shutil.copy(older / name, run / name)
    refused(run / name)
    job(run, 81.67)
    (run / name).write_bytes((run / name).read_bytes()[:-5])
    refused(run / name)


def test_files_of_two_splits_that_were_exchanged_are_refused(run, tmp_path):
    other = tmp_path / "split-1"
    other.mkdir()
    job(other, 12.5)
    (other / "model.npz").rename(tmp_path / "kept")
    (run / "model.npz").rename(other / "model.npz")
    (tmp_path / "kept").rename(run / "model.npz")
    refused(run / "model.npz")
    refused(other / "model.npz")


def test_a_missing_file_is_named(run, capsys):
    (run / "model.npz").unlink()
    status, said = verify(run, capsys)
    assert status == 1 and f"{run / 'model.npz'} is missing" in said


def test_a_file_without_a_checksum_is_read_and_counted(run, capsys):
    (run / "winners.csv.sha256").unlink()
    flip(run / "winners.csv", 20)
    frames.read(run / "winners.csv")
    assert cli.main(["verify", str(run)]) == 1
    assert "has no checksums" in capsys.readouterr().err
    job(run, 81.67)
    write_text(run / "old.csv", "of an earlier version")
    status, said = verify(run, capsys)
    assert status == 0
    assert "without a recorded checksum: 1 (" in said and "old.csv" in said


@pytest.mark.parametrize("damage", ["cut", "no list", "leads out", "not text"])
def test_a_damaged_list_is_named(run, capsys, damage):
    listing = run / "winners.csv.sha256"
    content = {
        "cut": listing.read_bytes()[:-5],
        "no list": b"81.67\n",
        "leads out": f"{'0' * 64}  ../winners.csv\n".encode(),
        "not text": b"\xff\n",
    }
    listing.write_bytes(content[damage])
    with pytest.raises(DataError, match=r"winners\.csv\.sha256 is damaged"):
        frames.read(run / "winners.csv")
    status, said = verify(run, capsys)
    assert status == 1 and f"{listing} is damaged" in said
    job(run, 81.67)
    assert verify(run, capsys)[0] == 0


def test_an_interrupted_job_leaves_no_checksum(run):
    output = [run / name for name in NAMES]
    with pytest.raises(KeyboardInterrupt), recording(output):
        write(run, 12.5)
        raise KeyboardInterrupt
    assert not list(run.glob("*.sha256"))
    read_json(run / "selection.json")


def test_a_list_of_an_earlier_run_condemns_nothing(run, capsys):
    """The first output of the job is another one: its list has another name."""
    job(run, 12.5, NAMES[1:])
    for name, reader in READERS.items():
        reader(run / name)
    assert verify(run, capsys)[0] == 0
    flip(run / "winners.csv")
    refused(run / "winners.csv")


@pytest.mark.parametrize("name", ["a name.csv", "(1) é*[x].csv", "back\\slash.csv"])
def test_sha256sum_reads_the_lists(run, name):
    if not shutil.which("sha256sum"):
        pytest.skip("there is no sha256sum")
    job(run, 81.67, [name, "second.csv"])
    listing = f"{name}.sha256"
    command = ["sha256sum", "--check", "--strict", "--quiet", "--", listing]
    assert subprocess.run(command, cwd=run).returncode == 0
    read_text(run / name)
    flip(run / name)
    with pytest.raises(DataError, match="was changed"):
        read_text(run / name)
    assert subprocess.run(command, cwd=run, capture_output=True).returncode == 1


def test_what_was_changed_is_not_copied(run, tmp_path):
    flip(run / "model.npz")
    with pytest.raises(DataError, match="was changed"):
        copy(run / "model.npz", tmp_path / "copy.npz")
    assert not (tmp_path / "copy.npz").exists()


def test_a_part_of_what_is_published_is_verified(run, capsys, monkeypatch):
    """Its list is that of the whole."""
    published = run.parent / "reference"
    for part in ("summary", "tables"):
        (published / part).mkdir(parents=True)
        write(published / part, 81.67)
    record_published(published)
    monkeypatch.chdir(published / "tables")

    whole = verify(published / "summary", capsys)
    flip(published / "summary" / "model.npz")
    status, said = verify("../summary", capsys)

    assert whole == (0, "3 files are as they were written.\n")
    assert status == 1
    assert "../summary/model.npz was changed: it is not as published.sha256" in said
    assert verify(".", capsys) == (0, "3 files are as they were written.\n")
