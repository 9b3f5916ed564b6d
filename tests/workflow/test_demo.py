"""The whole workflow on the demo's data, as a user runs it."""

import json
import re

from conftest import Workflow

from fairgat.cli import main as cli
from fairgat.reporting.reference import LARGEST

TABLES = ("comparison", "ablation", "runtime", "link_prediction", "dataset_statistics", "hyperparameters")


def test_all_tables_are_rendered(finished):
    for table in TABLES:
        markdown = (finished.folder / f"results/demo/tables/{table}.md").read_text()
        latex = (finished.folder / f"results/demo/tables/{table}.tex").read_text()
        assert "Demo" in markdown
        assert latex.count(r"\begin{table") == latex.count(r"\end{table") >= 1
        assert not re.search(r"\bnan\b", markdown + latex, re.IGNORECASE)


def test_every_cell_left_its_metrics(finished):
    found = list(finished.folder.glob("results/demo/runs/*/*/*/**/metrics.json"))
    assert len(found) == 28  # cells, each on two splits
    for path in found:
        metrics = json.loads(path.read_text())
        if metrics["method"] != "edits":  # a threshold may be called off
            assert "failure" not in metrics
            assert 0 <= metrics["test"]["accuracy"] <= 1
        assert {"seed", "epoch", "runtime", "versions"} <= set(metrics)


def test_links_of_the_demo_can_be_predicted(finished):
    for path in finished.folder.glob("results/demo/runs/link_prediction/demo-citation/gat/default/*/metrics.json"):
        assert json.loads(path.read_text())["test"]["auc"] > 0.75


def test_a_second_run_finds_nothing_to_do(finished):
    with finished.edited("fairgat/methods/gat.py"):
        pass  # Snakemake compares content, not only dates
    moved = Workflow(finished.folder.rename(finished.folder.with_name("moved")))
    try:
        run = moved.snakemake()
    finally:
        moved.folder.rename(finished.folder)
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout


def test_editing_a_method_runs_its_cells_again_and_no_others(finished):
    with finished.edited("fairgat/methods/gat.py"):
        planned = finished.planned()
    trained = {line.split()[1] for line in planned if line.startswith("Train ")}
    assert "gat" in trained
    assert not any(name.startswith("fairgat") for name in trained)
    assert any("comparison" in line for line in planned)


def test_changing_a_grid_adds_its_cells_alone(finished):
    grids = {"fairgat": {"grid": {"alpha_chi_max": [0.5, 0.25]}}, "edits": {"grid": {"threshold": [0.5, 0.4]}}}
    planned = finished.planned("--config", f"methods={grids}")
    trained = [line for line in planned if line.startswith("Train ")]
    assert {cell for line in trained for cell in re.findall(r"(\S+) \((\S+)\)", line)} == {
        ("fairgat", "alpha_chi_max~0.25/eta~0.75"),
        ("fairgat", "alpha_chi_max~0.25/eta~1.0"),
        ("edits", "threshold~0.4"),
    }
    assert not any(line.startswith("Debias ") for line in planned)  # one debiasing serves all thresholds
    del grids["edits"]
    assert not any(line.startswith("Time ") for line in finished.planned("--config", f"methods={grids}"))


def test_a_debiasing_of_one_data_set_trains_on_no_other(finished):
    planned = finished.planned("--config", "methods={'edits': {'settings': {'debias': {'epochs_of': {'cora': 5}}}}}")
    assert not any(line.startswith(("Debias ", "Train ", "Time ")) for line in planned)


def test_settings_run_again_what_reads_them(finished):
    momentum = "methods={'edits': {'settings': {'debias': {'momentum': 0.5}}}}"
    planned = finished.planned("--config", momentum, "training={'theory_every': 10}")
    assert any(line.startswith("Debias ") for line in planned)
    trained = [line for line in planned if line.startswith("Train ")]
    assert any(line.startswith("Train gat ") for line in trained)
    assert all(" on demo-social" in line for line in trained)  # theory_every: node classification alone


def test_a_subset_of_data_sets_and_methods(fresh):
    planned = fresh.planned("--config", "only_datasets=demo-social", "only_methods=gat,fairgat")
    trained = [line for line in planned if line.startswith("Train ")]
    assert trained
    assert all(" on demo-social" in line and line.split()[1] in ("gat", "fairgat") for line in trained)
    links = fresh.planned("--config", "only_methods=fairdrop")
    assert any(line.startswith("Train ") for line in links)
    assert not any(line.startswith("Time ") for line in links)
    drawn = {line.removeprefix("Drawing the figure ") for line in links if line.startswith("Drawing the figure ")}
    assert drawn == {"tradeoff_link_prediction", "curves_link_prediction", "link_prediction", "published"}


def test_a_wrong_configuration_is_explained_before_anything_runs(fresh):
    run = fresh.snakemake("--config", "only_method=gat")
    assert run.returncode != 0
    assert "only_method: unknown key; did you mean 'only_methods'?" in run.stdout
    assert "Traceback" not in run.stdout
    assert not (fresh.folder / "results").exists()


def test_the_report_is_one_page_that_needs_no_network(finished):
    run = finished.snakemake("--report", "results/demo/report.html")
    assert run.returncode == 0, run.stdout[-5000:]
    page = (finished.folder / "results/demo/report.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?(https?:)?//", page)
    results = json.loads(re.search(r"var results = (\{.*\});", page)[1])
    for table in TABLES:
        for form in ("html", "md", "tex", "csv"):
            assert results[f"results/demo/tables/{table}.{form}"]["caption"]
    assert "Of the paper's 8 claims" in page


def test_the_audit_can_be_asked_for(finished, capsys):
    assert cli.main(["audit", "--results-dir", str(finished.folder / "results/demo")]) == 0
    assert "not run" in capsys.readouterr().out


def test_a_run_can_be_published(finished):
    study = finished.folder / "results/demo/sensitivity/sensitivity.md"  # of another configuration
    study.parent.mkdir()
    study.write_text("the study")
    run = finished.snakemake("--", "readme")
    assert run.returncode == 0, run.stdout[-3000:]
    folder = finished.folder / "results/demo/reference"
    page = (folder / "README.md").read_text()
    assert "| GAT " in page and "117 not run" in page
    for link in re.findall(r"\]\((\./[^)]+)\)", page):
        assert (folder / link).exists(), link
    assert (folder / "sensitivity/sensitivity.md").read_text() == "the study"
    protocols = (folder / "summary/link_prediction_by_protocol.csv").read_text()
    assert "\nfairdrop,fair,demo-citation,fairdrop,accuracy,0." in protocols
    assert "\nvalidation,fair,demo-citation,fairdrop,accuracy,0." in protocols
    assert "demo-citation,fairdrop,2,200," in (folder / "costs/costs.csv").read_text()
    assert "](results/demo/reference/figures/published.svg)" in (finished.folder / "README.md").read_text()

    study.write_text("x" * (LARGEST + 1))
    run = finished.snakemake("--", "reference")
    assert run.returncode != 0
    assert "too large" in run.stdout
    assert (folder / "README.md").read_text() == page
    assert (folder / "sensitivity/sensitivity.md").read_text() == "the study"


def test_one_rule_again(finished):
    run = finished.snakemake("--forcerun", "table", "--", "results/demo/tables/comparison.md")
    assert run.returncode == 0
    assert "Train " not in run.stdout
    # It ends with the paths of its tables.
    assert run.stdout.split("Tables (as Markdown")[1].splitlines()[1].strip() == "results/demo/tables/comparison.md"
