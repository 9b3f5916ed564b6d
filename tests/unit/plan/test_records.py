"""Results of which .snakemake/ knows nothing are not gone on with."""

import shutil

import pytest

from fairgat.errors import ConfigError
from fairgat.plan import check_known, leave_key


def known(*words):
    try:
        check_known("results", words)
    except ConfigError:
        return False
    return True


@pytest.fixture(autouse=True)
def _begun(tmp_path, monkeypatch):
    """A folder in which a run has begun."""
    monkeypatch.chdir(tmp_path)
    assert known()
    leave_key("results")


def test_one_goes_on_with_ones_own_results(tmp_path, monkeypatch):
    leave_key("others")
    leave_key("results")
    assert known()
    copied = shutil.copytree(tmp_path, tmp_path / "copy")  # with .snakemake/
    monkeypatch.chdir(copied)
    assert known()


def test_results_without_their_records_are_refused(tmp_path):
    shutil.rmtree(tmp_path / ".snakemake")
    assert not known()
    leave_key("others")
    assert not known()


def test_results_of_another_folder_are_refused(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    leave_key("own")
    assert known()
    shutil.copytree(tmp_path / "results", "results")
    assert not known()


def test_one_may_say_that_they_are_up_to_date(tmp_path):
    shutil.rmtree(tmp_path / ".snakemake")
    assert known("--cores", "2", "--touch", "--forceall")
    leave_key("results")
    assert known()
