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


def test_headline_counts_and_paths_are_printed(tmp_path, capsys, refused):
    write_text(tmp_path / "audit/headline.txt", "9 agree, 3 not run.")
    write_text(tmp_path / "audit/counts.csv", COUNTS)
    assert cli.main(["audit", "--results-dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert "9 agree, 3 not run." in said and str(tmp_path / "audit/claims.md") in said
    assert (
        ["fair", "accuracy"] in lines
        and ["agrees", "9", "7"] in lines
        and ["supported", "2", "1"] in lines
    )
    write_text(tmp_path / "audit/counts.csv", "a,b\n1,2\n")
    assert "counts.csv lacks the column about" in refused(
        "audit", "--results-dir", tmp_path
    )
    (tmp_path / "audit/counts.csv").unlink()
    assert "holds no audit" in refused("audit", "--results-dir", tmp_path)
    assert "holds no audit" in refused(
        "audit", "--results-dir", tmp_path / "audit/headline.txt"
    )


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
    assert cli.main(["audit"]) == status and said in capfd.readouterr().err
