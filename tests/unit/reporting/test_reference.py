"""The published reproduction and the README made from it."""

import html
import json
from pathlib import Path

import pytest

from fairgat import config
from fairgat.errors import DataError
from fairgat.reporting import audit_pages, reference
from fairgat.reporting.settings import audit_settings

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"


@pytest.fixture
def run(tmp_path):
    contents = {
        "audit/headline.txt": "Of the paper's 117 results: 3 reproduced.\n",
        "audit/claims.md": "# Claims\n\nwords\n\n| # | Claim |\n| - | - |\n| 1 | holds |\n\n| other | grid |\n",
        "tables/comparison.md": "# Comparative results.\nwords\n\n| A | B |\n",
        "tables/link_prediction.md": "# Link prediction.\nwords\n\n| C | D |\n",
        "costs/costs.md": "costs",
        "provenance.json": json.dumps(
            {
                "commit": "0123456789abcdef",
                "modified": False,
                "trained_at": [],
                "command": "snakemake --cores 2",
                "machine": {"cores": 2, "processor": "a processor"},
                "rules": {"train": {"jobs": 2, "wall_seconds": 3.5, "cpu_seconds": 3, "peak_mb": 400}},
            }
        ),
    }
    paths = []
    for name, text in contents.items():
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        paths.append(path)
    return paths, tmp_path / "results", tmp_path / "results/reference"


def test_the_folder_holds_what_was_collected_and_nothing_else(run):
    paths, results, folder = run
    (folder / "tables").mkdir(parents=True)
    (folder / "tables/old.md").touch()
    reference.collect(paths, results, folder)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == {str(path.relative_to(results)) for path in paths} | {"README.md", "rules.csv"}
    assert (folder / "rules.csv").read_text().splitlines()[1] == "train,2,3.5,3,400"
    text = (folder / "README.md").read_text()
    assert "3 reproduced" in text and "| 1 | holds |" in text and "other" not in text
    assert "**Comparative results.** words" in text and "**Link prediction.** words" in text
    assert "](./figures/published.svg)" in text


def test_a_large_file_is_refused_and_the_old_folder_stays(run):
    paths, results, folder = run
    reference.collect(paths, results, folder)
    paths[0].write_text("x" * (reference.LARGEST + 1))
    with pytest.raises(DataError, match="too large"):
        reference.collect(paths, results, folder)
    assert (folder / "README.md").exists()
    assert [path.name for path in folder.parent.glob(".*")] == []


def test_a_folder_that_cannot_be_replaced_stays(run, monkeypatch):
    paths, results, folder = run
    reference.collect(paths, results, folder)
    rename = Path.rename

    def fails_for_the_fresh_one(path, target):
        if path.name == folder.name and target == folder:
            raise OSError("no more")
        return rename(path, target)

    paths[0].write_text("new")
    monkeypatch.setattr(Path, "rename", fails_for_the_fresh_one)
    with pytest.raises(OSError, match="no more"):
        reference.collect(paths, results, folder)
    assert "3 reproduced" in (folder / "audit/headline.txt").read_text()
    assert [path.name for path in folder.parent.glob(".*")] == []


def test_a_published_study_stays_until_there_is_a_new_one(run, capsys):
    paths, results, folder = run
    study = results / "sensitivity/sensitivity.md"
    study.parent.mkdir()
    study.write_text("the study")
    reference.collect([*paths, study], results, folder)
    assert capsys.readouterr().out == ""
    reference.collect(paths, results, folder)
    assert "the study published before stays" in capsys.readouterr().out
    assert (folder / "sensitivity/sensitivity.md").read_text() == "the study"
    newer = results / "sensitivity/differences.csv"
    newer.write_text("a newer one")
    reference.collect([*paths, newer], results, folder)
    assert [path.name for path in (folder / "sensitivity").iterdir()] == ["differences.csv"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "at commit 0123456789ab by"),
        ({"modified": True}, "at commit 0123456789ab with uncommitted changes by"),
        ({"commit": None}, "at an unknown commit by"),
        (
            {"trained_at": [{"commit": "fedcba9876543210", "modified": True, "runs": 7}]},
            "7 runs trained at commit fedcba987654 with uncommitted changes. Rendered at commit 0123456789ab by",
        ),
    ],
)
def test_it_says_what_code_it_comes_from(run, change, words):
    paths, results, folder = run
    provenance = json.loads(paths[-1].read_text())
    paths[-1].write_text(json.dumps(provenance | change))
    reference.collect(paths, results, folder)
    assert words in (folder / "README.md").read_text()


def test_the_readmes_part_is_replaced():
    text = f"before\n{reference.BEGIN}\nold\n{reference.END}\nafter\n"
    new = reference.insert(text, "new")
    assert new == f"before\n{reference.BEGIN}\n\nnew\n\n{reference.END}\nafter\n"
    assert reference.insert(new, "new") == new
    with pytest.raises(DataError, match="README"):
        reference.insert("nothing here", "new")


def published() -> Path:
    if not PUBLISHED.exists():
        pytest.skip("results/reference is missing, which Git keeps: git checkout results/reference")
    return PUBLISHED


def test_the_readme_is_in_step_with_the_published_results():
    folder, text = published(), (ROOT / "README.md").read_text(encoding="utf-8")
    assert reference.insert(text, reference.summary(folder, "results/reference")) == text
    own = (published() / "README.md").read_text(encoding="utf-8")
    assert reference.summary(folder, ".") in own
    for name in reference.FIGURES:
        assert (published() / f"figures/{name}.svg").is_file()


def test_the_published_decisions_are_those_of_the_code():
    """Otherwise render again: `--forcerun audit -- readme` in the folder of the run."""
    loaded = config.load_files(ROOT / "config.yaml", ROOT / "configs/reference.yaml")
    wanted = audit_pages._decisions(audit_settings(loaded)["decisions"]).text
    page = html.unescape((published() / "audit/paper_vs_reproduced.md").read_text()).replace("\\", "")
    assert [text for text in wanted if text not in page] == []
