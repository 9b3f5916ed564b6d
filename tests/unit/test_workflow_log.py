"""What every workflow script does with its log."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairgat.errors import DataError

PATH = Path(__file__).resolve().parents[2] / "workflow_scripts" / "_log.py"


@pytest.fixture
def logged(tmp_path):
    specification = importlib.util.spec_from_file_location("_log", PATH)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return lambda: module.logged(SimpleNamespace(log=[str(tmp_path / "rule.log")]))


def test_output_goes_to_the_log(logged, tmp_path, capsys):
    with logged():
        print("counted")
        print("warned", file=sys.stderr)
    assert (tmp_path / "rule.log").read_text() == "counted\nwarned\n"
    assert capsys.readouterr() == ("", "")


def test_an_error_for_people_is_said_in_both_places_without_a_traceback(logged, tmp_path, capfd):
    with pytest.raises(SystemExit) as status, logged():
        raise DataError("cora: a file is missing")
    assert status.value.code == 1
    assert (tmp_path / "rule.log").read_text() == "cora: a file is missing\n"
    assert capfd.readouterr().err == "cora: a file is missing\n"


def test_an_error_of_ours_keeps_its_traceback(logged, tmp_path):
    with pytest.raises(ZeroDivisionError), logged():
        print(1 / 0)
    assert "Traceback" in (tmp_path / "rule.log").read_text()
