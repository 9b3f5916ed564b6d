"""The published folder of a run."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from fairgat.data.graph import load_npz, save_npz
from fairgat.errors import DataError
from fairgat.files import write_json, write_text
from fairgat.publish import predictions, reference
from fairgat.training.record import Record, pack

PROVENANCE = {
    "commit": "0123456789abcdef",
    "modified": False,
    "trained_at": [],
    "command": "snakemake --cores 2",
    "machine": {"cores": 2, "processor": "a processor"},
    "config": {"selection": {"rule": "fair"}},
    "rules": {
        "train": {"jobs": 2, "wall_seconds": 3.5, "cpu_seconds": 3, "peak_mb": 400}
    },
}
FILES = {
    "audit/headline.txt": "Of the paper's 117 results: 3 agree.\n",
    "tables/comparison.md": (
        "# Comparative results.\n\n| Cora | Accuracy |\n| GAT | 0.5 |\n"
    ),
}
MADE = ("provenance.json", "README.md", "rules.csv", "published.sha256")


@pytest.fixture
def publish(tmp_path):
    """Publish a run whose provenance has these changes; gives the page about it."""
    results = tmp_path / "results"
    for name, text in FILES.items():
        write_text(results / name, text)

    def published(trained=None, **change):
        # Of what .md and .svg show, other formats are not published.
        made = [*FILES, "tables/comparison.html", "figures/account.png"]
        content = PROVENANCE | {"files": made} | change
        write_json(results / "provenance.json", content)
        folder = reference.publish(results, trained)
        return (folder / "README.md").read_text()

    return published


def files(folder):
    """The paths of all files in a folder, from it."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)) for path in paths}


def test_the_folder_holds_what_was_collected_and_nothing_else(publish, tmp_path):
    publish()
    folder = tmp_path / "results/reference"
    write_text(folder / "tables/old.md", "")

    publish()

    assert files(folder) == {*FILES, *MADE}
    _, train = (folder / "rules.csv").read_text().splitlines()
    assert train == "train,2,3.5,3,400"


def test_a_file_that_was_made_again_with_other_settings_is_refused(publish):
    """As by a command with a target, which leaves provenance.json as it was."""
    checksums = {}
    for name, text in FILES.items():
        checksums[name] = hashlib.sha256(text.encode()).hexdigest()
    publish(files=checksums)

    again = {**checksums, "audit/headline.txt": "0" * 64}
    with pytest.raises(DataError, match=r"headline\.txt is another file than .*prov"):
        publish(files=again)


def test_the_page_shows_the_headline_and_the_scores(publish):
    page = publish()

    assert "3 agree" in page
    assert "| GAT | 0.5 |" in page
    assert "# Comparative" not in page


@pytest.fixture
def trained(tmp_path):
    """Write a run of GAT on Cora, of which epoch 7 stands for it."""
    write_text(
        tmp_path / "results/summary/link_prediction/winners.csv",
        "rule,dataset,method,cell\nfair,cora,gat,default\nfair,pubmed,gat,\n"
        "paper,cora,gat,other\n",
    )

    scores = tmp_path / "results/summary/link_prediction/runs.csv"
    write_text(scores, "dataset,method,cell,split\n")

    def write(split, failure=None, scored=True, cell="default", results="results"):
        runs = tmp_path / results / "runs"
        folder = runs / f"link_prediction/cora/gat/{cell}/split-{split}"
        if scored:
            write_text(scores, scores.read_text() + f"cora,gat,{cell},{split}\n")
        record = Record(
            task="link_prediction",
            dataset="cora",
            method="gat",
            cell=cell,
            split=split,
            protocol="auc",
            epochs={"auc": 7, "final": 9},
            failure=failure,
        )
        folder.mkdir(parents=True)
        record.write(folder)
        epochs = {7: {"logits": np.ones(3)}, 9: {"logits": np.zeros(3)}}
        save_npz(folder / "predictions.npz", **pack(epochs))
        return folder

    return write


def test_predictions_of_the_reported_epoch_are_published_of_every_split(
    publish, trained, tmp_path
):
    for split in (0, 1):
        trained(split)

    page = publish()

    runs = tmp_path / "results/reference/runs"
    cell = runs / "link_prediction/cora/gat/default"
    expected = set()
    for split in ("split-0", "split-1"):
        run = f"link_prediction/cora/gat/default/{split}"
        expected |= {f"{run}/run.json", f"{run}/predictions.npz"}
    assert files(runs) == expected
    kept = load_npz(cell / "split-1/predictions.npz")
    assert kept["epochs"].tolist() == [7]
    assert kept["logits"].tolist() == [[1, 1, 1]]
    assert "[predictions](./runs)" in page


def test_a_run_that_has_no_scores_is_not_published(publish, trained, tmp_path):
    """As one of an earlier run with more splits, perhaps of other settings."""
    trained(0)
    trained(1, scored=False)

    publish()

    runs = (tmp_path / "results/reference/runs").rglob("run.json")
    assert [run.parent.name for run in runs] == ["split-0"]


def test_runs_of_cells_that_another_rule_chose_are_not_published(
    publish, trained, tmp_path
):
    trained(0)
    trained(0, cell="other")

    publish()

    runs = (tmp_path / "results/reference/runs").rglob("run.json")
    assert [run.parts[-3] for run in runs] == ["default"]


def test_predictions_of_a_judged_run_are_those_of_its_trainings(
    publish, trained, tmp_path
):
    trained(0, results="earlier")
    publish()
    runs = tmp_path / "results/reference/runs"
    assert not runs.exists()

    publish(trained=tmp_path / "earlier")
    (kept,) = runs.rglob("predictions.npz")
    assert load_npz(kept)["epochs"].tolist() == [7]

    with pytest.raises(DataError, match="has none of the trainings"):
        publish(trained=tmp_path / "another")


def test_a_run_that_failed_says_so_and_has_no_predictions(publish, trained, tmp_path):
    trained(0, failure="the loss is not finite")

    publish()

    (run,) = (tmp_path / "results/reference/runs").rglob("split-0")
    assert [path.name for path in run.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("fits", "splits"),
    [
        pytest.param(7, [0, 1, 2, 3, 4, 5, 6], id="all splits fit"),
        pytest.param(6, [0, 1, 2, 3, 4], id="the first five fit"),
        pytest.param(4, [], id="not even five fit"),
    ],
)
def test_predictions_are_published_of_as_many_splits_as_fit(
    publish, trained, tmp_path, monkeypatch, capsys, fits, splits
):
    for split in range(7):
        trained(split)
    publish()
    runs = tmp_path / "results/reference/runs"
    size = next(runs.rglob("predictions.npz")).stat().st_size

    monkeypatch.setattr(predictions, "BUDGET", fits * size)
    publish()

    for name in ("run.json", "predictions.npz"):
        kept = sorted(path.parent.name for path in runs.rglob(name))
        assert kept == [f"split-{split}" for split in splits]
    assert ("are not published" in capsys.readouterr().out) == (fits < 7)


def test_the_first_splits_are_the_first_that_there_are(
    publish, trained, tmp_path, monkeypatch
):
    for split in range(20, 27):
        trained(split)
    publish()
    runs = tmp_path / "results/reference/runs"
    size = next(runs.rglob("predictions.npz")).stat().st_size

    monkeypatch.setattr(predictions, "BUDGET", 6 * size)
    publish()

    kept = sorted(path.parent.name for path in runs.rglob("run.json"))
    assert kept == [f"split-{split}" for split in range(20, 25)]


def test_a_run_that_is_not_about_the_paper_has_no_audit(publish):
    page = publish(files=["tables/comparison.md"])

    assert "| GAT | 0.5 |" in page
    assert "117" not in page
    assert "audit/" not in page
    assert (
        "More: [all tables](./tables), [versions and seed](./provenance.json).\n"
        in page
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, r"headline\.txt does not exist"),
        ("x" * (reference.LARGEST + 1), "too large"),
    ],
)
def test_a_run_that_cannot_be_published_leaves_the_old_folder(
    publish, tmp_path, text, words
):
    publish()
    headline = tmp_path / "results/audit/headline.txt"
    headline.unlink()
    if text is not None:
        headline.write_text(text)

    with pytest.raises(DataError, match=words):
        publish()
    assert "3 agree" in (tmp_path / "results/reference/README.md").read_text()
    assert [path.name for path in (tmp_path / "results").glob(".*")] == []


def test_a_folder_that_cannot_be_replaced_stays(publish, tmp_path, monkeypatch):
    publish()
    folder, rename = tmp_path / "results/reference", Path.rename

    def fails_for_the_new_one(path, target):
        if path.name == folder.name and target == folder:
            raise OSError("no more")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails_for_the_new_one)
    with pytest.raises(OSError, match="no more"):
        publish()
    assert files(folder) == {*FILES, *MADE}


def test_a_run_of_an_earlier_version_is_told(tmp_path):
    write_text(tmp_path / "provenance.json", "{}")
    with pytest.raises(DataError, match="earlier version"):
        reference.publish(tmp_path)


@pytest.mark.parametrize(
    "name", ["../../../x", "/etc/hostname", "tables/../../x", "..", "", "a\0b", 5, None]
)
def test_no_file_outside_of_the_run_is_published(publish, tmp_path, name):
    write_text(tmp_path / "x", "mine")
    with pytest.raises(DataError, match=r"provenance\.json lists .*, which is no file"):
        publish(files=["tables/comparison.md", name])
    assert not (tmp_path / "results/reference").exists()


def test_no_run_outside_is_published_that_a_table_names(publish, tmp_path):
    results, cell = tmp_path / "results", "../../../../../x"
    summary = results / "summary/link_prediction"
    chosen = f"rule,dataset,method,cell\nfair,cora,gat,{cell}\n"
    write_text(summary / "winners.csv", chosen)
    write_text(summary / "runs.csv", f"dataset,method,cell,split\ncora,gat,{cell},0\n")
    for name in ("run.json", "predictions.npz"):
        write_text(results / f"runs/link_prediction/cora/gat/{cell}/split-0/{name}", "")
    with pytest.raises(DataError, match=r"would be published as runs/.*, outside"):
        publish()


def test_what_was_not_published_is_not_replaced(publish, tmp_path):
    folder = tmp_path / "results/reference"
    write_text(folder / "mine.txt", "mine")
    with pytest.raises(DataError, match="is no published run"):
        publish()
    assert files(folder) == {"mine.txt"}
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is a link"):
        publish()
    assert folder.is_symlink()
    assert files(tmp_path / "elsewhere") == {"mine.txt"}


def test_a_folder_without_a_run_is_refused(tmp_path):
    write_text(tmp_path / "mine.txt", "mine")
    with pytest.raises(DataError, match="is not the folder of a finished run"):
        reference.publish(tmp_path)
    assert files(tmp_path) == {"mine.txt"}


def test_what_a_killed_publication_left_is_put_back(publish, tmp_path):
    publish()
    folder = tmp_path / "results/reference"
    (tmp_path / "results/.reference.abc").mkdir()
    folder.rename(tmp_path / "results/.reference.abc/before")
    (tmp_path / "results/audit/headline.txt").unlink()
    with pytest.raises(DataError, match="does not exist"):
        publish()
    assert "README.md" in files(folder)


def test_a_published_study_stays_until_there_is_a_new_one(publish, tmp_path, capsys):
    results = tmp_path / "results"
    made = results / "studies/sensitivity"
    published = results / "reference/studies/sensitivity"
    write_text(made / "table.md", "the study")
    publish()
    assert capsys.readouterr().out == ""
    (made / "table.md").unlink()
    publish()
    assert "no study sensitivity was made" in capsys.readouterr().out
    assert (published / "table.md").read_text() == "the study"
    write_text(made / "differences.csv", "a newer one")
    publish()
    assert files(published) == {"differences.csv"}
    write_text(results / "demo/studies/sensitivity/differences.csv", "the demo's")
    with pytest.raises(
        DataError, match=r"demo/studies/sensitivity/differences\.csv would both be"
    ):
        publish()


def test_a_study_with_results_of_its_own_brings_its_audit_if_it_is_of_the_paper(
    publish, tmp_path
):
    for name, mean in [("power", "95.2"), ("when", "")]:
        root = tmp_path / "results" / name
        write_text(root / f"studies/{name}/table.md", f"the study {name}")
        write_text(root / "audit/claims.md", "the claims with 20 splits")
        write_text(root / "figures/account.svg", "<svg/>")
        write_text(
            root / "audit/paper_vs_reproduced.csv", f"metric,mean\naccuracy,{mean}\n"
        )
    publish()
    studies = tmp_path / "results/reference/studies"
    assert files(studies / "power") == {
        "table.md",
        "account.svg",
        "claims.md",
        "paper_vs_reproduced.csv",
    }
    assert files(studies / "when") == {
        "table.md",
        "account.svg",
    }  # nothing of the paper was run


def test_a_study_that_was_made_again_with_other_settings_is_refused(publish, tmp_path):
    """Its own provenance.json is about the earlier one."""
    root = tmp_path / "results/dose"
    table = root / "studies/dose/table.md"
    write_text(table, "the study")
    checksums = {"studies/dose/table.md": hashlib.sha256(b"the study").hexdigest()}
    write_json(root / "provenance.json", {"files": checksums})
    publish()

    write_text(table, "the study, with other settings")
    with pytest.raises(DataError, match=r"dose/table\.md is another file than .*dose"):
        publish()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "at commit 0123456789ab by"),
        ({"commit": None}, "at commit unknown by"),
        (
            {
                "trained_at": [
                    {"commit": "fedcba9876543210", "modified": True, "runs": 7}
                ]
            },
            "7 runs trained at commit fedcba987654 with uncommitted changes. "
            "Rendered at commit 0123456789ab by",
        ),
    ],
)
def test_it_says_what_code_it_comes_from(publish, change, words):
    assert words in publish(**change)
