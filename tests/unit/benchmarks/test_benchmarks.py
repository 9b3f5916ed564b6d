"""The layers' benchmark on a tiny graph, and the page that shows what is kept."""

import json
import subprocess

import epoch
import page
import pytest
import turns

TINY = ["60,200,5", "--hidden", "16", "--seconds", "0", "--fewest", "1"]


@pytest.mark.slow
def test_a_row_that_is_measured_has_its_seconds_memory_and_graph():
    *_, rows = turns.take_turns(["GAT"], 2, lambda row: turns.measure(row, *TINY))

    measured = rows["GAT"]
    assert len(measured["seconds"]["1"]) == 2
    assert measured["peak_gib"] > 0
    assert measured["graph"]["nodes"] == 60
    assert 150 < measured["graph"]["edges"] <= 200


@pytest.mark.slow
def test_a_peer_names_its_version():
    measured = turns.measure("PyG", *TINY)

    assert measured["version"].startswith("PyTorch Geometric")


@pytest.mark.slow
def test_a_row_that_cannot_run_says_why(tmp_path):
    broken = "raise ModuleNotFoundError('No module named dgl')\n"
    (tmp_path / "dgl.py").write_text(broken)

    measured = turns.measure("DGL", *TINY, code=str(tmp_path))

    assert measured == {"failure": "ModuleNotFoundError: No module named dgl"}


def test_a_row_that_failed_is_out_and_the_others_go_on():
    def measure(row):
        return {"failure": "no"} if row == "DGL" else {"seconds": {"1": 2.0}}

    every = list(turns.take_turns(["DGL", "GAT"], 2, measure))

    assert len(every) == 3  # in the second turn GAT alone
    assert every[-1]["DGL"] == {"failure": "no"}
    assert every[-1]["GAT"] == {"seconds": {"1": [2.0, 2.0]}}


@pytest.mark.parametrize(("row", "keeps"), [("PyG", False), ("PyG" + turns.KEPT, True)])
def test_only_rows_that_say_so_keep_memory(monkeypatch, row, keeps):
    given = {}

    def run(command, env, **_):
        given.update(env)
        return subprocess.CompletedProcess(command, 0, json.dumps({}), "")

    monkeypatch.setattr(subprocess, "run", run)

    turns.measure(row, "60,200,5")

    assert (turns.KEEPING.items() <= given.items()) is keeps


def test_too_little_memory_is_said():
    result = turns.measure("GAT", "1000000,1000,2000", limit_gib=1)

    assert result == {"failure": "needs more than 1 GiB"}


def test_a_generated_graph_has_both_directions_and_no_loops():
    source, target = epoch.load("300,2000,3")["edge_index"].tolist()

    edges = set(zip(source, target, strict=True))
    assert len(edges) == len(source)
    assert 1800 <= len(edges) <= 2000
    for one, other in edges:
        assert one != other
        assert (other, one) in edges


ROWS = {
    "GAT": {"seconds": {"1": [1.0, 2.0, 3.0]}},
    page.REFERENCE: {"seconds": {"1": [2.0, 4.0, 6.0]}},
    "PyG": {"seconds": {"1": [8.0, 12.0, 24.0]}},
    "PyG, compiled": {"seconds": {"1": [5.0, 14.0, 12.0]}},
    "DGL": {"failure": "not here"},
}


def test_a_cell_has_the_median_and_its_ratio_to_ours_within_turns():
    assert page.cell(ROWS, "PyG", "1") == "12000.0 (4.00)"


def test_a_peer_counts_with_its_fastest_setting():
    assert page.fastest(ROWS, "1", ["PyG", "PyG, compiled"]) == "5.0 (compiled)"


def test_a_peer_that_was_not_run_says_so():
    assert page.fastest(ROWS, "1", ["DGL"]) == "not run"
    assert page.cell(ROWS, "DGL", "1") == "not run: not here"


def test_the_page_shows_what_was_measured(tmp_path):
    text = page.PAGE.read_text(encoding="utf-8")
    begin, end = page.MARKS
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    copy = tmp_path / "performance.md"
    copy.write_text(f"{before}{begin}\nold\n{end}{after}", encoding="utf-8")

    page.write(copy)

    assert copy.read_text(encoding="utf-8") == text
