"""The commands and examples of docs/, followed word for word in a copy of the repository."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(text, folder):
    """Do what each code block says: save a file, insert into one, or run a command. Returns what commands printed."""
    said = ""
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    for language, info, content in BLOCK.findall(text):
        what = dict(part.split("=", 1) for part in info.split())
        if "file" in what:
            path = folder / what["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        elif "insert" in what:
            path = folder / what["insert"]
            before = path.read_text()
            heading = re.search(rf"^{what['under']}.*\n", before, re.MULTILINE)
            assert heading, f"{path.name} has no line {what['under']}"
            path.write_text(before[: heading.end()] + content + before[heading.end() :])
        elif language == "console":
            for command in re.findall(r"^\$ (.*)$", content, re.MULTILINE):
                run = subprocess.run(
                    command,
                    shell=True,
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                assert run.returncode == 0, f"{command}\n{run.stdout}\n{run.stderr}"
                said += run.stdout
        else:
            raise AssertionError(
                f"the test cannot follow a block of {language} without file=, insert= or $"
            )
    return said


def section(page, heading):
    """The part of a page from one heading to the next of its level."""
    text = page.read_text()
    start = text.index(f"## {heading}\n")
    return text[start : text.find("\n## ", start) + 1 or None]


def _by_data_set(said):
    """What `fairgat data stats` printed: the name of each data set and its lines."""
    return re.findall(r"^(\S+):\n((?:  .*\n)+)", said, re.M)


@pytest.mark.slow
def test_ones_own_data(fresh):
    """From two CSV files to the table, by the page's commands; `make` uses the environment that the tests have."""
    folder = fresh.folder
    page = (folder / "docs/own.md").read_text()
    said = follow(
        page.replace("$ make own", f"$ make --old-file=env VENV={sys.prefix} own"),
        folder,
    )
    ((_, read),) = _by_data_set(said)
    counts = dict(re.findall(r"^  (\S+) +(.*)$", read, re.M))
    assert (counts["nodes"], counts["groups"]) == ("300", "3")
    rows = [line for line in said.splitlines() if line.startswith("|")]
    assert any(re.search(r"\| FairGAT.*\| +\S*\d+\.\d+\S* ± \d", line) for line in rows)
    assert (folder / "results/first-look/report.html").exists()


def test_adding_a_data_set(fresh):
    pytest.importorskip("torch_geometric")
    said = follow(
        section(fresh.folder / "docs/extending.md", "Add a data set"), fresh.folder
    )
    ((_, read),) = _by_data_set(said)
    counts = dict(re.findall(r"^  (\S+) +(.*)$", read, re.M))
    assert (counts["groups"], counts["edges"]) == ("3", "120")


@pytest.mark.slow
def test_comparing_a_method_with_gat(finished):
    """On the demo's two splits, where GAT and FairGAT are trained."""
    pytest.importorskip("torch_geometric")
    page = section(
        finished.folder / "docs/extending.md",
        "Compare your method with GAT on your data",
    )
    follow(page.replace("count: 10", "count: 2"), finished.folder)
    run = "by-hand/runs/node_classification/demo-social/sage/unit_length~True/split-0/run.json"
    assert json.loads((finished.folder / run).read_text())["method"] == "sage"
    study = finished.results / "studies/sage"
    assert re.search(r"\| GraphSAGE ¹ +\| +\S+ ± \d", (study / "table.md").read_text())
    assert (study / "node_classification.svg").exists()


def test_adding_a_table(finished):
    follow(
        section(finished.folder / "docs/extending.md", "Add a table"), finished.folder
    )
    assert re.search(
        r"\| FairGAT +\| +\d+ \|",
        (finished.results / "tables/best_epoch.md").read_text(),
    )


def test_adding_a_measure(finished):
    """Into the table; nothing is chosen by it, and nothing trains again."""
    trained = {
        path: path.stat().st_mtime_ns for path in finished.results.rglob("run.json")
    }
    follow(
        section(finished.folder / "docs/extending.md", "Add a measure"), finished.folder
    )
    assert trained == {
        path: path.stat().st_mtime_ns for path in finished.results.rglob("run.json")
    }
    lines = [
        line
        for line in (finished.results / "tables/comparison.md").read_text().splitlines()
        if "|" in line
    ]
    header, *rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    place = header.index("Balanced accuracy (%)")
    assert len([row[place] for row in rows if re.match(r"\**\d", row[place])]) > 2
    (chosen,) = finished.results.rglob("demo-social/nifty/selection.json")
    assert json.loads(chosen.read_text())["fairness"] == [
        "statistical_parity",
        "equal_opportunity",
    ]


def test_the_layer_in_a_model_of_ones_own(fresh):
    pytest.importorskip("torch_geometric")
    said = follow((fresh.folder / "docs/layer.md").read_text(), fresh.folder)
    assert re.search(
        r"'accuracy': 0\.[5-9]\d+, 'statistical_parity': 0\.\d+, 'equal_opportunity': 0\.\d+",
        said,
    )


@pytest.mark.slow
def test_walking_through_the_workflow(finished):
    """What Snakemake is asked for on the page is planned, the rest done."""
    text = (finished.folder / "docs/workflow.md").read_text()
    commands = dict.fromkeys(re.findall(r"^\$ (.*)$", text, re.MULTILINE))
    planned = [
        re.sub(r"^snakemake", "snakemake -n", command.partition(" | ")[0])
        for command in commands
    ]
    assert len(planned) > 5
    follow(
        "\n".join(f"```console\n$ {command}\n```" for command in planned),
        finished.folder,
    )
