"""`fairgat publish`: what it copies, and what it renders."""

import json

from fairgat.cli import main as cli
from fairgat.files import write_text

PROVENANCE = {
    "commit": "c0ffee",
    "modified": False,
    "trained_at": [],
    "command": "snakemake",
    "config": {},
    "rules": {},
    "machine": {"cores": 2, "processor": "a processor"},
    "files": ["tables/comparison.md"],
}


def test_a_run_is_copied_and_its_readme_rendered_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    published = tmp_path / "results/reference"
    write_text(tmp_path / "results/tables/comparison.md", "# Scores\n\nof the run\n")
    write_text(tmp_path / "results/provenance.json", json.dumps(PROVENANCE))
    assert cli.main(["publish"]) == 0
    assert "published in results/reference" in capsys.readouterr().out
    assert "of the run" in (published / "README.md").read_text()

    write_text(published / "tables/comparison.md", "# Scores\n\nwritten since\n")
    assert cli.main(["publish", "--pages-only"]) == 1
    assert "comparison.md was changed" in capsys.readouterr().err

    (published / "published.sha256").unlink()
    assert cli.main(["publish", "--pages-only"]) == 0
    assert cli.main(["verify", "results/reference"]) == 0
    text = (published / "README.md").read_text()
    assert "written since" in text
    assert "From [tables/comparison.md](./tables/comparison.md)." in text
