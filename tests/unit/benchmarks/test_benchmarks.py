"""The layers' benchmark on a tiny graph says what it measured and what could not run; the page shows what is kept."""

import json
import subprocess

import epoch
import page
import pytest
import turns


@pytest.mark.slow
def test_a_measurement_and_one_that_cannot_run(tmp_path):
    tiny = "60,200,5", "--hidden", "16", "--seconds", "0", "--fewest", "1"
    (tmp_path / "dgl.py").write_text(
        "raise ModuleNotFoundError('No module named dgl')\n"
    )
    *_, rows = turns.take_turns(
        ["GAT", "PyG", "DGL"],
        2,
        lambda row: turns.measure(
            row, *tiny, code=str(tmp_path) if row == "DGL" else None
        ),
    )
    assert len(rows["GAT"]["seconds"]["1"]) == 2 and rows["GAT"]["peak_gib"] > 0
    assert (
        rows["GAT"]["graph"]["nodes"] == 60
        and 150 < rows["GAT"]["graph"]["edges"] <= 200
    )
    assert rows["PyG"]["version"].startswith("PyTorch Geometric")
    assert rows["DGL"] == {"failure": "ModuleNotFoundError: No module named dgl"}


def test_only_rows_that_say_so_keep_memory(monkeypatch):
    given = []

    def run(command, env, **_):
        given.append(env)
        return subprocess.CompletedProcess(command, 0, json.dumps({}), "")

    monkeypatch.setattr(subprocess, "run", run)
    for row in ("PyG", "PyG" + turns.KEPT):
        turns.measure(row, "60,200,5")
    assert [turns.KEEPING.items() <= env.items() for env in given] == [False, True]


def test_too_little_memory_is_said():
    result = turns.measure("GAT", "1000000,1000,2000", limit_gib=1)
    assert result == {"failure": "needs more than 1 GiB"}


def test_a_generated_graph_has_both_directions_and_no_loops():
    source, target = epoch.load("300,2000,3")["edge_index"]
    edges = set(zip(source.tolist(), target.tolist(), strict=True))
    assert 1800 <= len(edges) == len(source) <= 2000
    assert edges == {(b, a) for a, b in edges} and (source != target).all()


def test_a_peer_counts_with_its_fastest_setting_within_turns():
    rows = {
        "GAT": {"seconds": {"1": [1.0, 2.0, 3.0]}},
        page.REFERENCE: {"seconds": {"1": [2.0, 4.0, 6.0]}},
        "PyG": {"seconds": {"1": [8.0, 12.0, 24.0]}},
        "PyG, compiled": {"seconds": {"1": [5.0, 14.0, 12.0]}},
        "DGL": {"failure": "not here"},
    }
    assert page.fastest(rows, "1", ["PyG", "PyG, compiled"]) == "5.0 (compiled)"
    assert page.cell(rows, "PyG", "1") == "12000.0 (4.00)"
    assert (
        page.fastest(rows, "1", ["DGL"]) == "not run"
        and page.cell(rows, "DGL", "1") == "not run: not here"
    )


def test_the_page_shows_what_was_measured(tmp_path):
    copy = tmp_path / "performance.md"
    text = page.PAGE.read_text(encoding="utf-8")
    before, after = text.partition(page.MARKS[0])[0], text.partition(page.MARKS[1])[2]
    copy.write_text(
        "\n".join([before + page.MARKS[0], "old", page.MARKS[1] + after]),
        encoding="utf-8",
    )
    page.write(copy)
    assert copy.read_text(encoding="utf-8") == page.PAGE.read_text(encoding="utf-8")
