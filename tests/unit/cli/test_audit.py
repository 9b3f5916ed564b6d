"""`fairgat audit`: what it prints, and what it says of results without an audit."""

import pytest

from fairgat.cli import main as cli

COUNTS = """about,rule,outcome,count
numbers,fair,agrees,9
numbers,fair,not run,3
numbers,accuracy,agrees,7
numbers,accuracy,not run,5
claims,fair,supported,2
claims,accuracy,supported,1
"""


def audit(folder, capsys, *, headline="9 agree, 3 not run.", counts=COUNTS):
    (folder / "audit").mkdir()
    (folder / "audit/headline.txt").write_text(headline)
    (folder / "audit/counts.csv").write_text(counts)
    status = cli.main(["audit", "--results-dir", str(folder)])
    return status, capsys.readouterr()


def test_headline_counts_and_paths_are_printed(tmp_path, capsys):
    status, said = audit(tmp_path, capsys)
    lines = [line.split() for line in said.out.splitlines()]
    assert status == 0 and "9 agree, 3 not run." in said.out
    assert ["fair", "accuracy"] in lines and ["agrees", "9", "7"] in lines and ["supported", "2", "1"] in lines
    assert str(tmp_path / "audit/claims.md") in said.out


def test_a_damaged_file_is_named(tmp_path, capsys):
    status, said = audit(tmp_path, capsys, counts="a,b\n1,2\n")
    assert status == 1 and "counts.csv lacks the column about" in said.err


@pytest.mark.parametrize(
    ("place", "expected"), [(".", "holds no audit"), ("README.md", "README.md cannot be read: Not a directory")]
)
def test_results_without_an_audit_are_named(tmp_path, capsys, place, expected):
    (tmp_path / "README.md").write_text("")
    assert cli.main(["audit", "--results-dir", str(tmp_path / place)]) == 1
    assert expected in capsys.readouterr().err
