"""The published folder of a run."""

import json
from pathlib import Path

import pytest

from fairgat.errors import DataError
from fairgat.files import write_text
from fairgat.publish import reference

PROVENANCE = {
    "commit": "0123456789abcdef",
    "modified": False,
    "trained_at": [],
    "command": "snakemake --cores 2",
    "machine": {"cores": 2, "processor": "a processor"},
    "config": {},
    "rules": {"train": {"jobs": 2, "wall_seconds": 3.5, "cpu_seconds": 3, "peak_mb": 400}},
}


@pytest.fixture
def run(tmp_path):
    """The files of a run, and how to publish them."""
    contents = {
        "audit/headline.txt": "Of the paper's 117 results: 3 agree.\n",
        "tables/comparison.md": "# Comparative results.\n\n| Cora | Accuracy |\n| GAT | 0.5 |\n",
    }
    contents["provenance.json"] = json.dumps(PROVENANCE | {"files": [*contents]})
    results = tmp_path / "results"
    for name, text in contents.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    paths = [results / name for name in contents]
    folder = results / "reference"
    return paths, folder, lambda: reference.publish(results)


def test_the_folder_holds_what_was_collected_and_nothing_else(run):
    paths, folder, publish = run
    (folder / "tables").mkdir(parents=True)
    (folder / "tables/old.md").touch()
    publish()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == {str(path.relative_to(folder.parent)) for path in paths} | {"README.md", "rules.csv"}
    assert (folder / "rules.csv").read_text().splitlines()[1] == "train,2,3.5,3,400"
    text = (folder / "README.md").read_text()
    assert "3 agree" in text and "| GAT | 0.5 |" in text and "# Comparative" not in text


def test_a_run_that_is_not_about_the_paper_has_no_audit(run):
    paths, folder, publish = run
    paths[-1].write_text(json.dumps(PROVENANCE | {"files": ["tables/comparison.md"]}))
    publish()
    page = (folder / "README.md").read_text()
    assert "| GAT | 0.5 |" in page and "117" not in page and "audit/" not in page and "costs/" not in page
    assert "More: [all tables](./tables), [versions and seed](./provenance.json).\n" in page


def test_a_run_that_is_not_whole_is_not_published(run):
    paths, folder, publish = run
    paths[0].unlink()
    with pytest.raises(DataError, match=r"headline\.txt does not exist"):
        publish()
    paths[-1].write_text("{}")
    with pytest.raises(DataError, match="earlier version"):
        publish()
    assert not folder.exists()


def test_a_large_file_is_refused_and_the_old_folder_stays(run):
    paths, folder, publish = run
    publish()
    paths[0].write_text("x" * (reference.LARGEST + 1))
    with pytest.raises(DataError, match="too large"):
        publish()
    assert (folder / "README.md").exists()
    assert [path.name for path in folder.parent.glob(".*")] == []


def test_a_folder_that_cannot_be_replaced_stays(run, monkeypatch):
    paths, folder, publish = run
    publish()
    rename = Path.rename

    def fails_for_the_fresh_one(path, target):
        if path.name == folder.name and target == folder and path.parent.name != "before":
            raise OSError("no more")
        return rename(path, target)

    paths[0].write_text("new")
    monkeypatch.setattr(Path, "rename", fails_for_the_fresh_one)
    with pytest.raises(OSError, match="no more"):
        publish()
    assert "3 agree" in (folder / "audit/headline.txt").read_text()
    assert [path.name for path in folder.parent.glob(".*")] == []


def test_a_published_study_stays_until_there_is_a_new_one(run, capsys):
    _, folder, publish = run
    study = folder.parent / "studies/sensitivity/table.md"
    study.parent.mkdir(parents=True)
    study.write_text("the study")
    publish()
    assert capsys.readouterr().out == ""
    study.unlink()
    publish()
    assert "no study sensitivity was made" in capsys.readouterr().out
    assert (folder / "studies/sensitivity/table.md").read_text() == "the study"
    (study.parent / "differences.csv").write_text("a newer one")
    other = folder.parent / "demo/studies/sensitivity/differences.csv"
    write_text(other, "the demo's")
    with pytest.raises(DataError, match=r"demo/studies/sensitivity/differences\.csv would both be"):
        publish()
    other.unlink()
    publish()
    assert [path.name for path in (folder / "studies/sensitivity").iterdir()] == ["differences.csv"]
    for name, mean in [("power", "95.2"), ("when", "")]:  # studies with results directories of their own
        write_text(folder.parent / name / f"studies/{name}/table.md", f"the study {name}")
        write_text(folder.parent / name / "audit/claims.md", "the claims with 20 splits")
        write_text(folder.parent / name / "figures/account.svg", "<svg/>")
        write_text(folder.parent / name / "audit/paper_vs_reproduced.csv", f"metric,mean\naccuracy,{mean}\n")
    publish()
    assert (folder / "studies/power/claims.md").read_text() == "the claims with 20 splits"
    own = {path.name for path in (folder / "studies/when").iterdir()}
    assert own == {"table.md", "account.svg"}  # nothing of the paper was run


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "at commit 0123456789ab by"),
        ({"commit": None}, "at commit unknown by"),
        (
            {"trained_at": [{"commit": "fedcba9876543210", "modified": True, "runs": 7}]},
            "7 runs trained at commit fedcba987654 with uncommitted changes. Rendered at commit 0123456789ab by",
        ),
    ],
)
def test_it_says_what_code_it_comes_from(run, change, words):
    paths, folder, publish = run
    paths[-1].write_text(json.dumps(json.loads(paths[-1].read_text()) | change))
    publish()
    assert words in (folder / "README.md").read_text()
