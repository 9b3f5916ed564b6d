"""`fairgat audit`: what it prints, and what it says of results without an audit."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from fairgat import frames
from fairgat.cli import main as cli
from fairgat.files import write_json, write_text

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


@pytest.fixture
def published(plan, tmp_path):
    """What is published of a run, and the configuration of the run."""
    folder = tmp_path / "published"
    for path in map(
        Path, [*plan.files("winners"), *plan.files("runs"), *plan.files("runtime")]
    ):
        copy = folder / path.relative_to(plan.config.results_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for name in (
        "figures/published.svg",
        "figures/ablation.svg",
        "tables/comparison.md",
        "tables/theory.tex",
        "tables/theory.md",
    ):
        write_text(folder / name, "an older one")
    write_text(folder / "tables/all_tables.tex", "older ones")
    content = plan.config.model_dump(mode="json", exclude={"results_dir"})
    write_json(folder / "provenance.json", {"command": "snakemake", "config": content})
    return folder, content


def again(folder, content):
    settings = folder.parent / "config.yaml"
    settings.write_text(yaml.safe_dump(content))
    return cli.main(["audit", "--results-dir", str(folder), "--again", str(settings)])


def test_a_run_is_judged_again_from_what_is_published(published):
    folder, content = published
    agree = []
    for margin in (0.02, 0.0001):
        assert (
            again(
                folder,
                content
                | {"audit": {"margins": {"accuracy": margin, "fairness": margin}}},
            )
            == 0
        )
        counts = frames.read(folder / "audit/counts.csv")
        agree.append(
            counts.query("about == 'numbers' and outcome == 'agrees'")["count"].sum()
        )
    assert agree[0] > 0 == agree[1]
    assert all(
        "<svg" in (folder / f"figures/{name}.svg").read_text()
        for name in ("published", "ablation")
    )
    assert "| GAT " in (folder / "tables/comparison.md").read_text()
    assert (
        "an older one" in (folder / "tables/all_tables.tex").read_text()
    )  # theory reads more than scores
    assert not list(folder.glob("audit/*.html"))  # .md shows the same
    assert (
        not (folder / "tables/ablation.md").exists() and not (folder / "runs").exists()
    )
    provenance = json.loads((folder / "provenance.json").read_text())
    assert set(provenance) == {"command", "config", "audited_at"} and provenance[
        "audited_at"
    ]["without"] == ["tables/theory.md"]
    assert provenance["config"]["audit"]["margins"]["accuracy"] == 0.0001


def test_a_run_that_cannot_be_judged_stays_as_it_is(published, capsys):
    folder, content = published
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    more = content | {"audit": {"more_splits": "of/another/folder.csv"}}
    assert (
        again(folder, more) == 1
        and "of/another/folder.csv does not exist" in capsys.readouterr().err
    )
    scores = folder / "summary/node_classification/runs.csv"
    rows = frames.read(scores)
    frames.write(scores, rows[rows["method"] != "gat"])
    before[scores] = scores.read_bytes()
    assert (
        again(folder, content) == 1
        and "lacks, gat on odd, gat on recidivism" in capsys.readouterr().err
    )
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


@pytest.mark.parametrize(
    ("recorded", "given", "words"),
    [
        (
            {},
            {"methods": {"gat": {"tasks": ["node_classification"]}}},
            "has edits, which",
        ),
        (
            {},
            {"aggregation": {"ddof": 0}},
            "was made with aggregation: {'ddof': 1}, and",
        ),
        ({}, {"only_methods": ["fairgat"]}, "was made with only_methods: [], and"),
        (
            {"audit": {"more_splits": "a study"}},
            {},
            "was judged with `audit.more_splits`",
        ),
        (
            {"only_datasets": ["odd"]},
            {"only_datasets": ["odd"]},
            "has none of the paper's data sets",
        ),
    ],
)
def test_a_run_is_judged_by_its_own_configuration_only(
    published, capsys, recorded, given, words
):
    folder, content = published
    write_json(
        folder / "provenance.json",
        {"command": "snakemake", "config": content | recorded},
    )
    assert again(folder, content | {"tables": {}, "figures": []} | given) == 1
    assert words in capsys.readouterr().err
    assert not (folder / "audit").exists()
