"""The published reproduction, and what the README and docs/ quote of it."""

import json
from pathlib import Path

import pytest

from fairgat.errors import DataError
from fairgat.files import write_text
from fairgat.publish import quotes, reference
from fairgat.report.model import Block, Cell, Panel, Row, Table, to_json
from fairgat.report.render import render

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"
PROVENANCE = {
    "commit": "0123456789abcdef",
    "modified": False,
    "trained_at": [],
    "command": "snakemake --cores 2",
    "machine": {"cores": 2, "processor": "a processor"},
    "config": {
        "selection": {"rule": "fair"},
        "tables": {"comparison": ["gat", "mlp"]},
        "datasets": {"social": {"title": "Social", "task": "node_classification"}},
        "methods": {"gat": {"title": "GAT"}, "mlp": {"title": "MLP"}},
    },
    "rules": {"train": {"jobs": 2, "wall_seconds": 3.5, "cpu_seconds": 3, "peak_mb": 400}},
}

WINNERS = """rule,dataset,method,metric,mean,std,n_splits
fair,social,gat,accuracy,0.9,0.01,5
paper,social,gat,accuracy,0.8,0.01,5
fair,social,mlp,accuracy,0.7,0.01,5
"""
PAIRED = """dataset,method,metric,selected,n_splits,difference,low,high
social,mlp,accuracy,True,5,-0.2,-0.25,-0.15
social,mlp,accuracy,False,5,-0.6,-0.65,-0.55
"""
STUDY = """dataset,of,run_on,method,epochs,of_epochs,metric,n_splits,mean,std,difference,low,high
social,gat,social,gat,accuracy,accuracy,accuracy,20,0.91,0.02,,,
social,gat,social,gat,last,last,accuracy,20,0.5,0.02,,,
social,gat,social,mlp,accuracy,accuracy,accuracy,20,0.71,0.02,-0.19,-0.2,-0.18
social,gat,social,mlp,last,accuracy,accuracy,20,0.61,0.02,-0.29,-0.3,-0.28
social,gat,other,mlp,accuracy,accuracy,accuracy,20,0.71,0.02,-0.39,-0.4,-0.38
"""


@pytest.fixture
def run(tmp_path):
    """The files of a run, and how to publish them."""
    columns = ["", "Claim", "Paper's own numbers", "Ours (fair)", "Ours (paper)", "Ours (20 splits)"]
    verdicts = [Cell("1"), Cell("It is fair."), *(Cell(f"verdict {number}") for number in range(4))]
    overview = Panel("stacked", columns, [Block("#", [Row(verdicts)])])
    chance = Panel("stacked", ["", "everywhere", "here"], [Block("#", [Row([Cell("1"), Cell("0.37"), Cell("0.91")])])])
    other = Panel("stacked", ["", "Check"], [Block("#", [Row([Cell("1"), Cell("a detail")])])])
    blocks = [Block("Pokec", reason="no file"), Block("Cora", [Row([Cell("GAT", mark="1"), Cell("0.5")])])]
    comparison = Table(
        "comparison", "C", [Panel("stacked", ["", "B"], blocks, title="Grid")], [("1", "a note")], "words"
    )
    contents = {
        "audit/headline.txt": "Of the paper's 117 results: 3 agree.\n",
        "audit/claims.json": to_json(Table("claims", "Claims", [overview, chance, other], [], "How they are checked.")),
        "audit/paired.csv": PAIRED,
        "summary/node_classification/winners.csv": WINNERS,
        "tables/comparison.json": to_json(comparison),
        "tables/comparison.md": render(comparison, "md"),
    }
    contents["provenance.json"] = json.dumps(PROVENANCE | {"files": [*contents]})
    results = tmp_path / "results"
    for name, text in contents.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    paths = [results / name for name in contents]
    folder = results / "reference"
    return paths, folder, lambda: reference.publish(results)


@pytest.fixture
def published(run):
    """The folder of a run that was published."""
    _, folder, publish = run
    publish()
    return folder


def test_the_folder_holds_what_was_collected_and_nothing_else(run):
    paths, folder, publish = run
    (folder / "tables").mkdir(parents=True)
    (folder / "tables/old.md").touch()
    publish()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == {str(path.relative_to(folder.parent)) for path in paths} | {"README.md", "rules.csv"}
    assert (folder / "rules.csv").read_text().splitlines()[1] == "train,2,3.5,3,400"
    text = (folder / "README.md").read_text()
    assert "3 agree" in text and "How they are checked." in text and "a detail" not in text and ".svg" not in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["1", "It is fair.", "verdict 0", "verdict 1", "verdict 3", "0.91"] in rows
    assert ["Social", "GAT", "90.00 ± 1.00", "–", "–"] in rows
    assert ["", "MLP − GAT", "**-20.00** ± 5.00", "–", "–"] in rows


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


def test_pages_quote_the_published_run(published):
    table = "<!-- table: tables/comparison.md -->"
    stale = f"{quotes.BEGIN}\nstale words\n{quotes.END}"
    page = f"before\n{stale}\nbetween `{table}` and\n{table}\n{quotes.END}\nafter\n"
    new = quotes.with_quotes(page, published, "../results")
    assert "stale" not in new and "3 agree" in new and "](../results/audit/claims.md)" in new
    quote = new[new.index(f"\n{table}\n") : new.index("after")]
    assert (
        "**Grid**" in quote and "| Cora" in quote and "[tables/comparison.md](../results/tables/comparison.md)" in quote
    )
    assert new.startswith("before\n") and new.endswith(f"{quotes.END}\nafter\n")
    assert quotes.with_quotes(new, published, "../results") == new
    with pytest.raises(DataError, match="needs a line"):
        quotes.with_quotes(f"{table}\n| A |\n", published, ".")
    with pytest.raises(DataError, match=r"nothing\.json does not exist"):
        quotes.with_quotes(page.replace("comparison", "nothing"), published, ".")
    (published / "tables/comparison.json").write_text("{}")
    with pytest.raises(DataError, match=r"comparison\.json holds no table"):
        quotes.with_quotes(page, published, ".")


def test_the_figure_that_leads_is_the_first_that_was_made(published):
    for name in ("published", "account"):
        write_text(published / f"figures/{name}.svg", "<svg/>")
        assert f"](./figures/{name}.svg)" in quotes.summary(published, ".")


def test_pages_quote_rows_of_a_study(published):
    write_text(published / "studies/power/differences.csv", STUDY)

    def rows(**wanted):
        said = " ".join(f"{name}={value}" for name, value in wanted.items())
        mark = f"<!-- table: studies/power/differences.csv {said}".rstrip()
        text = quotes.with_quotes(f"{mark} -->\n{quotes.END}\n", published, ".")
        return [[cell.strip() for cell in line.split("|")[2:-1]] for line in text.splitlines() if "±" in line]

    assert rows() == rows(datasets="social") == [["GAT", "91.00 ± 2.00"], ["MLP − GAT", "**-19.00** ± 1.00"]]
    for wrong in ({"methods": "mpl"}, {"colour": "red"}):
        with pytest.raises(DataError, match=rf"differences\.csv has no {next(iter(wrong))}"):
            rows(**wrong)
    other = f"<!-- table: studies/other/differences.csv -->\n\n| MLP | 1.00 ± 1.00 |\n\n{quotes.END}\n"
    assert quotes.with_quotes(other, published, ".") == other  # the run has no such study
    with pytest.raises(DataError, match=r"paired\.csv does not exist"):
        quotes.with_quotes(other.replace("other/differences", "power/paired"), published, ".")
    summary = quotes.summary(published, ".")
    assert "91.00 ± 2.00" in summary and "**-19.00** ± 1.00" in summary and "Accuracy (%), 20 splits" in summary


@pytest.mark.skipif(not PUBLISHED.exists(), reason="results/reference is missing: git checkout results/reference")
def test_the_pages_are_in_step_with_the_published_results():
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        link = "results/reference" if page.parent == ROOT else "../results/reference"
        text = page.read_text(encoding="utf-8")
        assert quotes.with_quotes(text, PUBLISHED, link) == text, page
    assert quotes.summary(PUBLISHED, ".") in (PUBLISHED / "README.md").read_text(encoding="utf-8")
