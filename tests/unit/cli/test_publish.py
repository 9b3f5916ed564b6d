"""`fairgat publish`: what it copies, and what it renders."""

import json

import pytest

from fairgat.cli import main as cli
from fairgat.files import write_text

PROVENANCE = {
    "commit": "c0ffee",
    "modified": False,
    "trained_at": [],
    "command": "snakemake",
    "config": {"selection": {"rule": "fair"}},
    "rules": {},
    "machine": {"cores": 2, "processor": "a processor"},
    "files": ["tables/comparison.md"],
}


@pytest.fixture
def published(tmp_path, monkeypatch, capsys):
    """The folder of a published run."""
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "results/tables/comparison.md", "# Scores\n\nof the run\n")
    write_text(tmp_path / "results/provenance.json", json.dumps(PROVENANCE))
    assert cli.main(["publish"]) == 0
    return tmp_path / "results/reference"


def test_a_run_is_copied_with_a_readme(published, capsys):
    assert "published in results/reference" in capsys.readouterr().out
    text = (published / "README.md").read_text()
    assert "of the run" in text
    assert "From [tables/comparison.md](./tables/comparison.md)." in text


def test_a_published_file_that_was_changed_is_not_rendered(published, capsys):
    write_text(published / "tables/comparison.md", "# Scores\n\nwritten since\n")

    assert cli.main(["publish", "--pages-only"]) == 1
    assert "comparison.md was changed" in capsys.readouterr().err


def test_verify_counts_what_is_whole_and_what_is_not(published, capsys):
    assert cli.main(["verify", "results/reference"]) == 0
    whole = capsys.readouterr().out
    write_text(published / "tables/comparison.md", "# Scores\n\nwritten since\n")

    assert cli.main(["verify", "results/reference"]) == 1

    assert "are not" not in whole
    assert ", 1 are not. Delete these" in capsys.readouterr().out


def test_the_readme_of_files_without_checksums_is_rendered_again(published):
    write_text(published / "tables/comparison.md", "# Scores\n\nwritten since\n")
    (published / "published.sha256").unlink()

    assert cli.main(["publish", "--pages-only"]) == 0

    assert "written since" in (published / "README.md").read_text()
    assert cli.main(["verify", "results/reference"]) == 0
