"""A data set that cannot be had costs the others nothing."""

import json

from tests.workflow.conftest import DEMO, RESULTS

TINY = """
only_datasets: [demo-social, recidivism]
only_methods: [gat]
splits: { count: 1 }
training: { node_classification: { epochs: 2, hidden: 8 } }
"""
OVERLAYS = (DEMO, "tiny.yaml")
TABLES = [f"{RESULTS}/tables/{name}.md" for name in ("comparison", "dataset_statistics")]


def test_a_failed_download_suggests_skip_and_skip_runs_the_rest(fresh, monkeypatch):
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            monkeypatch.setenv(variable, "http://127.0.0.1:9")  # where nothing listens: downloads fail at once
    (fresh.folder / "tiny.yaml").write_text(TINY)
    failing = fresh.snakemake("--", *TABLES, overlays=OVERLAYS)
    assert failing.returncode != 0
    assert "recidivism: 2 of 2 files cannot be had" in failing.stdout
    assert "--config skip=recidivism" in failing.stdout
    assert "see results/demo/logs/download/recidivism.log" in failing.stdout
    (trained,) = fresh.results.glob("runs/**/run.json")
    assert json.loads(trained.read_text())["dataset"] == "demo-social"
    before = trained.stat().st_mtime_ns

    skipping = fresh.snakemake("--config", "skip=recidivism", "--", *TABLES, overlays=OVERLAYS)
    assert skipping.returncode == 0, skipping.stdout[-5000:]
    assert trained.stat().st_mtime_ns == before  # what was finished stayed finished
    for path in TABLES:
        lines = (fresh.folder / path).read_text().splitlines()
        assert any("left out with skip" in line for line in lines)
    assert "Demo-social" in (fresh.folder / TABLES[0]).read_text()
