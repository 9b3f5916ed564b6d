"""docs/extending.md and docs/layer.md, followed word for word in a copy of the repository."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The repository as a user has it, without results."""
    folder = tmp_path_factory.mktemp("repository") / "fairgat"
    ignored = shutil.ignore_patterns("results", ".*", "*.egg-info", "tests")
    shutil.copytree(REPOSITORY, folder, ignore=ignored)
    demo = folder / "configs/demo.yaml"
    text, found, rest = demo.read_text().partition("nodes: 5000")
    assert found  # 500 of them, and 20 epochs instead of 500
    demo.write_text(f"{text}nodes: 500{rest}\ntraining: {{ node_classification: {{ epochs: 20 }} }}\n")
    return folder


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
            path, heading = folder / what["insert"], what["under"] + "\n"
            before, found, after = path.read_text().partition(heading)
            assert found, f"{path.name} has no line {what['under']}"
            path.write_text(before + heading + content + after)
        elif language == "console":
            for command in re.findall(r"^\$ (.*)$", content, re.MULTILINE):
                run = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
                assert run.returncode == 0, f"{command}\n{run.stdout}\n{run.stderr}"
                said += run.stdout
        else:
            raise AssertionError(f"the test cannot follow a block of {language} without file=, insert= or $")
    return said


def test_adding_a_data_set(copy):
    pytest.importorskip("torch_geometric")
    follow((copy / "docs/extending.md").read_text().partition("## Add a method")[0], copy)
    counts = {
        name: json.loads((copy / f"results/data/graphs/{name}.stats.json").read_text())["counts"]
        for name in ("my-network", "my-pyg-graph", "club")
    }
    assert (counts["my-network"]["nodes"], counts["my-network"]["edges"]) == (20, 50)
    assert (counts["my-pyg-graph"]["groups"], counts["my-pyg-graph"]["edges"]) == (3, 120)
    assert (counts["club"]["s0"], counts["club"]["s1"], counts["club"]["edges"]) == (3, 3, 12)
    assert (copy / "results/runs/node_classification/my-network/gat/default/split-0/metrics.json").exists()


def test_adding_a_method(copy):
    follow("## Add a method" + (copy / "docs/extending.md").read_text().partition("## Add a method")[2], copy)
    (metrics,) = copy.glob(
        "results/demo/runs/node_classification/demo-social/covariance/weight~10.0/split-0/metrics.json"
    )
    assert json.loads(metrics.read_text())["method"] == "covariance"


def test_the_layer_in_a_model_of_ones_own(copy):
    pytest.importorskip("torch_geometric")
    said = follow((copy / "docs/layer.md").read_text(), copy)
    assert re.search(r"'accuracy': 0\.[5-9]\d+, 'statistical_parity': 0\.\d+, 'equal_opportunity': 0\.\d+", said)
