"""`fairgat audit`: what it prints, and what it says of results without an audit."""

import pytest

from fairgat.cli import main as cli
from fairgat.files import write_text

COUNTS = """about,rule,outcome,count
numbers,fair,agrees,9
numbers,fair,not run,3
numbers,accuracy,agrees,7
numbers,accuracy,not run,5
claims,fair,supported,2
claims,accuracy,supported,1
"""


@pytest.fixture
def results(tmp_path):
    write_text(tmp_path / "audit/headline.txt", "9 agree, 3 not run.")
    write_text(tmp_path / "audit/counts.csv", COUNTS)
    return tmp_path


def test_headline_counts_and_paths_are_printed(results, capsys):
    status = cli.main(["audit", "--results-dir", str(results)])

    said = capsys.readouterr().out
    assert status == 0
    assert "9 agree, 3 not run." in said
    assert str(results / "audit/claims.md") in said
    lines = [line.split() for line in said.splitlines()]
    for line in ("fair accuracy", "agrees 9 7", "supported 2 1"):
        assert line.split() in lines


def test_a_damaged_audit_is_named(results, refused):
    write_text(results / "audit/counts.csv", "a,b\n1,2\n")
    said = refused("audit", "--results-dir", results)
    assert "counts.csv lacks the column about" in said


def test_results_without_an_audit_say_so(results, refused):
    (results / "audit/counts.csv").unlink()
    assert "holds no audit" in refused("audit", "--results-dir", results)


def test_a_file_is_no_folder_of_results(results, refused):
    file = results / "audit/headline.txt"
    assert "holds no audit" in refused("audit", "--results-dir", file)


def test_a_module_of_our_own_that_is_missing_is_a_fault_and_no_package(monkeypatch):
    def run(arguments):
        raise ModuleNotFoundError(name="fairgat.nothing")

    monkeypatch.setattr("fairgat.cli.audit.run", run)

    with pytest.raises(ModuleNotFoundError):
        cli.main(["audit"])


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (BrokenPipeError(), 0, ""),  # its reader has seen enough
        (ModuleNotFoundError(name="pandas.core"), 1, "pandas.core is not installed"),
    ],
)
def test_a_command_that_ends_early_shows_no_traceback(
    monkeypatch, capfd, error, status, said
):
    def run(arguments):
        raise error

    monkeypatch.setattr("fairgat.cli.audit.run", run)

    assert cli.main(["audit"]) == status
    assert said in capfd.readouterr().err
