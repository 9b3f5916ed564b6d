"""The benchmarks on tiny graphs run, say what they measured, and say what could not be."""

import json
import subprocess
import sys

import pytest

from fairgat import files
from fairgat.bench import scale
from fairgat.bench.networks import DGL, FAIRGAT, GAT, OURS, PYG
from fairgat.bench.worker import GIB, Worker
from fairgat.cli import main as cli
from tools import performance

CONFIG = """
datasets:
  demo-social: {task: node_classification}
methods:
  gat: {tasks: [node_classification]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with a configuration; DGL is not in it, and a broken one comes before any that is installed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "dgl.py").write_text("raise ModuleNotFoundError('No module named dgl')\n")
    monkeypatch.syspath_prepend(tmp_path)  # which multiprocessing hands on
    return tmp_path


def test_a_peers_process_does_not_keep_memory_as_ours():
    ask = "import sys, fairgat.bench.networks; print('fairgat.nn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout == "False\n"


def test_both_benchmarks_and_their_page(folder, monkeypatch, capsys):
    pytest.importorskip("torch_geometric")
    monkeypatch.setattr("fairgat.bench.attention.TURN", 0.01)
    monkeypatch.setattr("fairgat.bench.scale.COUNTED", 0.01)
    on_demo = ["--dataset", "demo-social", "--hidden", "8", "--threads", "1", "--pairs", "2"]
    assert cli.main(["bench", "attention", *on_demo, "--output", "attention.json"]) == 0
    shown = capsys.readouterr().out
    result = files.read_json("attention.json")
    rows = {row["network"]: row for row in result["rows"]}
    assert "No module named dgl" in rows[DGL]["failure"]
    for name in (GAT, FAIRGAT, PYG):
        assert len(rows[name]["seconds"]) == 2 and rows[name]["threads_used"] == 1 and rows[name]["memory_gib"] > 0
        assert f"| {name} | 1 | {rows[name]['milliseconds']:.1f} | {rows[name]['times'][PYG]:.1f} | – |" in shown
    assert rows[PYG]["times"][PYG] == 1
    assert all(len(rows[name]["new_forward_seconds"]) == 2 for name in OURS)
    assert [row["network"] for row in result["small_rows"]] == list(OURS)
    assert {"processor", "cores", "torch"} <= result["machine"].keys()

    # What was measured before a peer failed is kept.
    (folder / "torch_geometric.py").write_text("raise ModuleNotFoundError('not here')\n")
    growing = ["--nodes", "500", "--edges", "0.001", "0.002", "--features", "4", "--hidden", "4", "--threads", "1"]
    assert cli.main(["bench", "scale", *growing, "--output", "scale.json"]) == 0
    growth = json.loads((folder / "scale.json").read_text())
    *ours, peer = growth["rows"]
    assert [row["network"] for row in ours] == [FAIRGAT] * 2 and ours[0]["seconds"] > 0
    assert 700 < ours[0]["edges"] <= 1000 < ours[1]["edges"] <= 2000
    assert peer["failure"] == "not here"

    page = folder / "performance.md"
    page.write_text("Above.\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nBelow.\n")
    performance.write(page, result, growth)
    text = page.read_text()
    assert text.startswith("Above.\n") and text.endswith("\nBelow.\n") and "\nold\n" not in text
    assert all(line in text for line in shown.splitlines())
    plot = page.with_suffix(".svg").read_text()
    assert f"<!-- {PYG} -->" in plot and f"<!-- {DGL} -->" not in plot


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *((["scale", f"--{name}", "0"], "count from 1") for name in ("nodes", "features", "hidden", "threads")),
        (["scale", "--edges", "1", "0"], "--edges are millions"),
        (["scale", "--edges", "nan"], "--edges are millions"),
        (["scale", "--limit-gib", "-1"], "--limit-gib must be above 0, got -1"),
        (["scale", "--output", "."], "--output . is a folder; give a file"),
        (["attention", "--pairs", "0"], "count from 1"),
        (["attention", "--dataset", "demo-socail"], "demo-social"),
    ],
)
def test_wrong_arguments_are_explained(folder, capsys, arguments, message):
    assert cli.main(["bench", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_line_tells_nodes_from_edges():
    rows = [{"edges": edges, "seconds": 2 + 3e-6 * edges} for edges in (10, 1000, 5000)]
    assert scale.line(rows) == pytest.approx((2, 3e-6))
    assert scale.line([*rows[:1], *rows[:1], {"edges": 20, "failure": "needs more"}]) is None


def test_generated_graphs_are_graphs():
    graph = scale.random_graph(300, 2000, 3)
    graph.check()
    assert 1800 <= graph.num_edges <= 2000


class Hungry:
    """Eats on request."""

    def eat(self, gib: int) -> int:
        return len(bytearray(gib * GIB))

    def fail(self) -> None:
        raise ValueError("no good")


def test_what_goes_wrong_ends_only_the_worker():
    with Worker(Hungry, limit_gib=1) as worker:
        assert worker.call("eat", 0) == 0
        with pytest.raises(MemoryError):
            worker.call("eat", 4)
    with Worker(Hungry) as worker, pytest.raises(ValueError, match="no good"):
        worker.call("fail")
    with pytest.raises(TypeError):
        Worker(bool, 1, 2)
