"""What every workflow script does with its log."""

import sys
from types import SimpleNamespace

import pytest

from fairgat.errors import DataError
from fairgat.job_log import logged


@pytest.fixture
def log(tmp_path):
    return tmp_path / "rule.log"


def job(log, output=()):
    return logged(SimpleNamespace(log=[str(log)], output=output))


def test_output_goes_to_the_log(log, capsys):
    with job(log):
        print("counted")
        print("warned", file=sys.stderr)
    assert log.read_text() == "counted\nwarned\n"
    assert capsys.readouterr() == ("", "")


def test_an_error_for_people_is_said_once_in_the_log_without_a_traceback(log, capfd):
    with pytest.raises(SystemExit) as status, job(log):
        print("counted")
        raise DataError("cora: a file is missing")
    assert status.value.code == 1
    assert log.read_text() == "counted\ncora: a file is missing\n"
    assert capfd.readouterr().err == ""  # Snakemake shows the log of a failed job


@pytest.mark.parametrize("says_more", [True, False])
def test_a_full_disk_hides_no_message(capfd, says_more):
    with pytest.raises(SystemExit) as status, job("/dev/full"):
        if says_more:
            print("counted")
        raise DataError("graph.npz cannot be written: No space left on device")
    assert status.value.code == 1
    said = capfd.readouterr().err
    assert "cannot be written: No space left on device" in said
    assert "Traceback" not in said and len(said.splitlines()) == 1


def test_an_error_of_ours_keeps_its_traceback(log):
    with pytest.raises(ZeroDivisionError), job(log):
        print(1 / 0)
    assert "Traceback" in log.read_text()
