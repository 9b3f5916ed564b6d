"""The commands and examples of docs/, word for word, in a copy of the repository."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(text, folder):
    """Save the files and run the commands of a page; returns what was printed."""
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
        elif language == "console":
            expected = int(what.get("exit", 0))
            for command in re.findall(r"^\$ (.*)$", content, re.MULTILINE):
                run = subprocess.run(
                    command,
                    shell=True,
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                assert run.returncode == expected, (
                    f"{command}\n{run.stdout}\n{run.stderr}"
                )
                said += run.stdout
            if expected:  # what the page shows is what people see
                assert content.partition("\n")[2] == run.stderr
        else:
            raise AssertionError(
                f"the test cannot follow a block of {language} without file= or $"
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
    """From two CSV files to the table, by the page's commands.

    `make` uses the environment of the tests.
    """
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
    assert "What these data can show: with 2 splits of these people" in said
    assert (folder / "results/first-look/report.html").exists()


def extended(workflow, heading, change=("", "")):
    """Follow a section of docs/extending.md; returns what its commands printed."""
    text = section(workflow.folder / "docs/extending.md", heading)
    return follow(text.replace(*change), workflow.folder)


def write_club(path):
    """Write a graph with attributes of nodes and edges, some of them missing.

    Returns the number of edges of positive weight.
    """
    graph = nx.cycle_graph([f"p{number}" for number in range(60)])
    for number, values in enumerate(graph.nodes.values()):
        values |= {"sex": "fm"[number % 2], "won": number // 2 % 2}
        if number != 7:
            values["age"] = number
    edges = list(graph.edges.values())
    for number, values in enumerate(edges):
        values |= {"since": 1990 + number, "weight": number % 3}
    del edges[0]["weight"], edges[1]["weight"]
    path.parent.mkdir(exist_ok=True)
    nx.write_graphml(graph, path)
    return sum(values.get("weight", 1) > 0 for values in edges)


@pytest.mark.slow
def test_a_messy_file(fresh):
    """Two rounds of messages, and then a table."""
    said = follow((fresh.folder / "docs/messy.md").read_text(), fresh.folder)
    ((_, read),) = _by_data_set(said)
    assert re.search(r"^  nodes left out: \d+$", read, re.M)
    table = (fresh.folder / "results/messy/tables/comparison.md").read_text()
    assert re.search(r"\| FairGAT.*\| +\S*\d+\.\d+\S* ± \d", table)


def test_scoring_new_people(fresh):
    """By the command, and by hand."""
    said = follow((fresh.folder / "docs/predict.md").read_text(), fresh.folder)
    assert "30 people have a score, 0 of them training's" in said
    assert float(re.search(r"largest difference (\S+)", said)[1]) < 1e-5


def test_adding_a_data_set(fresh):
    pytest.importorskip("torch_geometric")
    linked = write_club(fresh.folder / "my/graph.graphml")
    found = {}
    for name, read in _by_data_set(extended(fresh, "Add a data set")):
        found[name] = dict(re.findall(r"^  (\S+) +(.*)$", read, re.M))

    counts = {"nodes": "60", "groups": "2", "edges": str(2 * linked)}
    assert counts.items() <= found["club"].items()
    assert {"groups": "3", "edges": "120"}.items() <= found["my-graph"].items()
    assert {"nodes": "600", "groups": "2"}.items() <= found["rings"].items()


@pytest.mark.slow
def test_comparing_a_method_with_gat(finished):
    """On the demo's two splits, where GAT and FairGAT are trained."""
    pytest.importorskip("torch_geometric")
    heading = "Add a method, and compare it with GAT"
    extended(finished, heading, ("count: 10", "count: 2"))
    cells = finished.folder / "by-hand/runs/node_classification/demo-social/sage"
    run = cells / "unit_length~True/split-0/run.json"
    assert json.loads(run.read_text())["method"] == "sage"
    study = finished.results / "studies/sage"
    table = (study / "table.md").read_text()
    assert re.search(r"\| GraphSAGE ¹ +\| +\S+ ± \d", table)
    assert re.search(r"\| Adversary \S+ +\| +\S+ ± \d", table)
    assert (study / "node_classification.svg").exists()

    overlays = ("configs/demo.yaml", "my/sage.yaml")
    for file, again in (
        ("my/sage.py", ["sage", "sage-adversary"]),  # which the other one imports
        ("my/sage_adversary.py", ["sage-adversary"]),
    ):
        with finished.edited(file):
            jobs = finished.planned("study", overlays=overlays)
        trained = [job.split()[1] for job in jobs if job.startswith("Train ")]
        assert sorted(set(trained)) == again


def test_adding_a_table(finished):
    extended(finished, "Add a table")
    table = (finished.results / "tables/best_epoch.md").read_text()
    assert re.search(r"\| FairGAT +\| +\d+ \|", table)


def test_adding_a_figure(finished):
    extended(finished, "Add a figure")
    assert "Demo-social" in (finished.results / "figures/accuracies.svg").read_text()


def _trained(workflow):
    records = workflow.results.rglob("run.json")
    return {path: path.stat().st_mtime_ns for path in records}


def test_adding_a_measure(finished):
    """Into the table; nothing is chosen by it, and nothing trains again."""
    before = _trained(finished)
    extended(finished, "Add a measure")
    assert before == _trained(finished)
    text = (finished.results / "tables/comparison.md").read_text()
    lines = [line.split("|") for line in text.splitlines() if "|" in line]
    header, *rows = [[cell.strip() for cell in line] for line in lines]
    for measure in ("Balanced accuracy (%)", "Balanced gap (%)"):
        place = header.index(measure)
        shown = [row for row in rows if re.match(r"\**\d", row[place])]
        assert len(shown) > 2
    (chosen,) = finished.results.rglob("demo-social/nifty/selection.json")
    fairness = json.loads(chosen.read_text())["fairness"]
    assert fairness == ["statistical_parity", "equal_opportunity"]


def test_a_training_loop_of_ones_own(fresh):
    """With fewer epochs than the page has, on the demo's data."""
    page = (fresh.folder / "docs/loop.md").read_text()
    said = follow(page.replace("range(500)", "range(30)"), fresh.folder)
    (accuracy,) = re.findall(r"^accuracy +(\d+\.\d\d)$", said, re.MULTILINE)
    assert 60 < float(accuracy) < 100
    assert "4 people" in said


def test_checking_a_method(fresh):
    said = follow((fresh.folder / "docs/check-method.md").read_text(), fresh.folder)
    assert said.count("right  node_classification: ") == said.count("\n") == 7


@pytest.mark.slow
@pytest.mark.real_data
def test_a_training_loop_on_recidivism(fresh, data_mirror):
    """After 20 epochs it beats whoever takes everyone for the larger class."""
    (fresh.folder / "mirror.yaml").write_text(f"data_mirror: {data_mirror}")
    page = (fresh.folder / "docs/loop.md").read_text()
    page = page.replace("range(500)", "range(20)")
    command = "$ python loop.py demo-social configs/demo.yaml"
    assert command in page
    page = page.replace(command, "$ python loop.py recidivism mirror.yaml")
    said = follow(page, fresh.folder)
    (accuracy,) = re.findall(r"^accuracy +(\d+\.\d\d)$", said, re.MULTILINE)
    assert float(accuracy) > 70


def test_the_layer_in_a_model_of_ones_own(fresh):
    pytest.importorskip("torch_geometric")
    said = follow((fresh.folder / "docs/layer.md").read_text(), fresh.folder)
    assert re.search(
        r"'accuracy': 0\.[5-9]\d+, 'statistical_parity': 0\.\d+, "
        r"'equal_opportunity': 0\.\d+",
        said,
    )


def test_minibatches(fresh):
    """Step 1 is exact in parts of a graph, and step 3 in a batch of graphs."""
    pytest.importorskip("torch_geometric")
    said = follow((fresh.folder / "docs/minibatches.md").read_text(), fresh.folder)
    differences = dict(re.findall(r"^(.*): at most (\S+) from", said, re.M))
    assert float(differences["step 1"]) < 1e-5
    assert float(differences["with step 3"]) > 1e-2
    assert "as if each graph came alone" in said
    if any(map(importlib.util.find_spec, ("pyg_lib", "torch_sparse"))):
        follow("```console\n$ python neighbour_loader.py\n```", fresh.folder)


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
