"""The benchmarks on tiny graphs: they run, and say what they measured."""

import json
import re

import pytest

from fairgat.bench import attention, isolated, page, scale
from fairgat.cli import main as cli
from fairgat.data.graph import Graph

CONFIG = """
datasets:
  demo-social: {task: node_classification}
methods:
  gat: {tasks: [node_classification]}
"""


def test_attention(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch_geometric")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG)
    arguments = ["--dataset", "demo-social", "--hidden", "8", "--threads", "1", "--pairs", "2", "--eager-only"]
    assert cli.main(["bench", "attention", *arguments, "--output", "b.json"]) == 0
    shown = capsys.readouterr().out
    result = json.loads((tmp_path / "b.json").read_text())
    rows = {row["network"]: row for row in result["rows"]}
    assert {"GAT", "FairGAT", "PyG GAT, eager"} <= set(rows)
    for row in rows.values():
        assert "failure" in row or (row["milliseconds"] > 0 and len(row["seconds"]) == 2)
    assert rows["PyG GAT, eager"]["speed-up"] == 1
    assert f"{rows['GAT']['milliseconds']:.1f}" in shown


def test_a_peer_apart_is_put_in_epochs_of_gat(tmp_path):
    pytest.importorskip("torch_geometric")
    scale.random_graph(200, 800, 5, 0).save(tmp_path / "graph.npz")
    rows = attention.measure(tmp_path / "graph.npz", 8, [1], 2, peers=["FairGAT"], warmup=1)["rows"]
    assert [row["network"] for row in rows] == ["GAT", "FairGAT", "PyG GAT, eager", "FairGAT"]
    eager, apart = rows[2], rows[3]
    assert apart["speed-up"] == pytest.approx(eager["times GAT"] / apart["times GAT"])
    assert apart["seconds"] != rows[1]["seconds"]


def test_a_peer_for_which_memory_does_not_suffice_has_no_numbers(tmp_path, monkeypatch):
    scale.random_graph(200, 800, 5, 0).save(tmp_path / "graph.npz")
    run = isolated.run

    def short(function, *arguments, **options):
        if attention.EAGER in str(arguments):
            raise MemoryError("killed")
        return run(function, *arguments, **options)

    monkeypatch.setattr(isolated, "run", short)
    *ours, peer = attention.measure(tmp_path / "graph.npz", 8, [1], 1, peers=[], warmup=1)["rows"]
    assert [row["network"] for row in ours if row["milliseconds"] > 0] == ["GAT", "FairGAT"]
    assert peer["failure"] == "not enough memory (killed)"


def test_no_memory_for_our_own_networks_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG)

    def short(*_, **__):
        raise MemoryError("killed")

    monkeypatch.setattr(isolated, "run", short)
    assert cli.main(["bench", "attention", "--dataset", "demo-social", "--hidden", "8"]) == 1
    assert "the memory does not suffice for --hidden 8 (killed)" in capsys.readouterr().err


def test_scale(capsys):
    arguments = ["--nodes", "500", "--edges", "0.002", "--features", "4", "--hidden", "4", "--threads", "1", "--json"]
    assert cli.main(["bench", "scale", *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert all(1500 < row["edges"] <= 2000 for row in result["rows"])


def test_scale_keeps_what_it_measured_before_a_network_failed(tmp_path, monkeypatch, capsys):
    (tmp_path / "torch_geometric.py").write_text("raise ModuleNotFoundError('not here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)  # what multiprocessing hands on
    arguments = ["--nodes", "500", "--edges", "0.002", "--features", "4", "--hidden", "4", "--threads", "1"]
    assert cli.main(["bench", "scale", *arguments, "--output", str(tmp_path / "b.json")]) == 0
    ours, peer = json.loads((tmp_path / "b.json").read_text())["rows"]
    assert ours["seconds"] > 0
    assert peer["failure"] == "ModuleNotFoundError: not here"
    assert "| PyG GAT, eager | 2,000 | ModuleNotFoundError: not here |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *((["--" + name, "0"], "count from 1") for name in ("nodes", "features", "hidden", "threads")),
        (["--edges", "1", "0"], "--edges are millions"),
        (["--edges", "nan"], "--edges are millions"),
        (["--limit-gib", "-1"], "--limit-gib must be above 0, got -1"),
        (["--output", "."], "--output . is a folder; give a file"),
    ],
)
def test_wrong_arguments_of_scale_are_explained(capsys, arguments, message):
    assert cli.main(["bench", "scale", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_graphs_without_edges_have_no_exponent():
    rows = [{"edges": 0, "seconds": 1}, {"edges": 0, "seconds": 1}]
    assert scale.exponent(rows) is None and scale.per_edge(rows) is None


def test_the_exponent_is_the_slope():
    rows = [{"edges": n, "seconds": 3 * n**1.5} for n in (10, 100, 1000)]
    assert scale.exponent(rows) == pytest.approx(1.5)
    assert scale.exponent(rows[:1]) is None


def test_a_line_tells_nodes_from_edges():
    rows = [{"edges": n, "seconds": 2 + 3e-6 * n} for n in (10, 1000, 5000)]
    assert scale.per_edge(rows) == pytest.approx((2, 3e-6))
    assert scale.per_edge(rows[:1]) is None


def test_the_page_is_filled_between_its_marks(tmp_path):
    timed = [("GAT", 1, 51.0), ("GAT", 2, 33.8), ("PyG GAT, eager", 1, 1966.7)]
    relative = {"speed-up": 37.9, "times GAT": 1.0, "memory_gib": 0.1}
    rows = [{"network": name, "threads": count, "milliseconds": ms} | relative for name, count, ms in timed]
    failed = {"network": "PyG GAT, torch.compile", "threads": 1, "failure": "no compiler"}
    machine = dict.fromkeys(["processor", "cores", "memory_gib", "system", "python", "torch"], "some")
    on_one = {"graph": {"nodes": 9, "edges": 9, "features": 2}, "hidden": 4, "pairs": 5, "rows": [*rows, failed]}
    grown = [{"network": "FairGAT", "edges": 10**k, "seconds": 1.0, "memory_gib": 2.0} for k in (6, 7)]
    growing = {"nodes": 9, "features": 2, "hidden": 4, "threads": 2, "rows": grown, "exponents": {"FairGAT": None}}
    path = tmp_path / "performance.md"
    path.write_text("Above.\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nBelow.\n")
    page.write(path, on_one | {"machine": machine}, growing)
    before, text, after = re.split("<!-- measured: (?:begin|end) -->", path.read_text())
    assert (before, after) == ("Above.\n", "\nBelow.\n")
    assert "| GAT | 2 | 33.8 | 37.9 | 1.00 | 0.10 |" in text and "not run: no compiler" in text and "old" not in text
    plot = path.with_suffix(".svg").read_text()
    assert all(f"<!-- {label} -->" in plot for label in ("GAT", "PyG GAT, eager", "1 thread", "2 threads", "FairGAT"))
    assert "<!-- PyG GAT, torch.compile -->" not in plot


def test_generated_graphs_are_graphs():
    graph = scale.random_graph(300, 2000, 3, 0)
    graph.check()
    assert isinstance(graph, Graph)
    assert 1800 <= graph.num_edges <= 2000


def hungry() -> int:
    return len(bytearray(4 * isolated.GIB))


def failing() -> None:
    raise ValueError("no good")


def test_running_out_of_memory_ends_only_the_child():
    with pytest.raises(MemoryError):
        isolated.run(hungry, limit_gib=1)
    with pytest.raises(RuntimeError, match="ValueError: no good"):
        isolated.run(failing)
    assert isolated.run(len, "abc") == 3
