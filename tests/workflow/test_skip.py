"""Data that cannot be had costs the others nothing; own files count by content."""

import json
import os

import pytest

from tests.workflow.conftest import DEMO, RESULTS

TINY = """
only_datasets: [demo-social, recidivism, mine]
only_methods: [gat]
splits: { count: 1 }
training: { node_classification: { epochs: 2, hidden: 8 } }
datasets:
  mine:
    task: node_classification
    source: tables
    options:
      nodes: my/nodes.csv
      edges: my/edges.csv
      id: id
      label: label
      sensitive: group
"""
OVERLAYS = (DEMO, "tiny.yaml")
TABLES = [
    f"{RESULTS}/tables/{name}.md" for name in ("comparison", "dataset_statistics")
]


@pytest.mark.slow
def test_what_cannot_be_had_costs_the_others_nothing(fresh, monkeypatch):
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            monkeypatch.setenv(
                variable, "http://127.0.0.1:9"
            )  # where nothing listens: downloads fail at once
    (fresh.folder / "tiny.yaml").write_text(TINY)
    nodes, edges = (fresh.folder / "my" / name for name in ("nodes.csv", "edges.csv"))
    nodes.parent.mkdir()
    edges.write_text("from,to\n" + "".join(f"p{i},p{i + 1}\n" for i in range(39)))
    failing = fresh.snakemake("--", *TABLES, overlays=OVERLAYS)
    assert failing.returncode != 0
    assert "recidivism: 2 of 2 files cannot be had" in failing.stdout
    assert "--config skip=mine,recidivism" in failing.stdout
    assert failing.stdout.count("2 of 2 files cannot be had") == 1
    assert "see results/demo/logs/download/recidivism.log" in failing.stdout
    assert "my/nodes.csv" in failing.stdout and "Traceback" not in failing.stdout
    (trained,) = fresh.results.glob("runs/**/run.json")
    assert json.loads(trained.read_text())["dataset"] == "demo-social"
    before = trained.stat().st_mtime_ns

    nodes.write_text(
        "id,age,label,group\n"
        + "".join(f"p{i},{20 + i % 7},{i % 2},{i // 2 % 2}\n" for i in range(40))
    )
    skipping = fresh.snakemake(
        "--config", "skip=recidivism", "--", *TABLES, overlays=OVERLAYS
    )
    assert skipping.returncode == 0, skipping.stdout[-5000:]
    assert trained.stat().st_mtime_ns == before  # what was finished stayed finished
    for path in TABLES:
        lines = (fresh.folder / path).read_text().splitlines()
        assert any("left out with skip" in line for line in lines)
    assert "Demo-social" in (fresh.folder / TABLES[0]).read_text()

    def planned():
        return fresh.planned(
            "--config", "skip=recidivism", "--", *TABLES, overlays=OVERLAYS
        )

    nodes.touch()
    assert not planned()
    nodes.write_text(nodes.read_text().replace("p3,23,", "p3,30,"))
    os.utime(nodes, (0, 0))  # an older file, copied into place with its time
    assert "Obtain the raw files of mine and verify them" in planned()
    assert not any(
        "demo-social" in line
        for line in planned()
        if line.startswith(("Obtain", "Train"))
    )
