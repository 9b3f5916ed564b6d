"""A data set that cannot be had costs the others nothing."""

import json

import pytest

TINY = """
only_datasets: [demo-social, demo-citation, recidivism]
only_methods: [gat]
splits: { count: 1 }
training:
  node_classification: { epochs: 2, hidden: 8 }
  link_prediction: { epochs: 2, hidden: 8 }
runtime: { warmup: 0, epochs: 1 }
"""
CONFIG = ("--configfile", "configs/demo.yaml", "tiny.yaml")
TABLES = [f"results/demo/tables/{name}.md" for name in ("comparison", "dataset_statistics")]
AUDIT = "results/demo/audit/paper_vs_reproduced.md"


@pytest.fixture
def unreachable(fresh, monkeypatch):
    """A copy whose downloads fail at once: nothing listens at its proxy."""
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            monkeypatch.setenv(variable, "http://127.0.0.1:9")
    (fresh.folder / "tiny.yaml").write_text(TINY)
    return fresh


def test_a_failed_download_suggests_skip_and_skip_runs_the_rest(unreachable):
    folder = unreachable.folder
    failing = unreachable.snakemake(*CONFIG, "--", *TABLES, AUDIT)
    assert failing.returncode != 0
    assert "recidivism: 2 of 2 files cannot be had" in failing.stdout
    assert "--config skip=recidivism" in failing.stdout
    assert "download recidivism: see results/demo/logs/download/recidivism.log" in failing.stdout
    trained = [json.loads(path.read_text()) for path in folder.glob("results/demo/runs/**/metrics.json")]
    assert {metrics["dataset"] for metrics in trained} == {"demo-social", "demo-citation"}

    skipping = unreachable.snakemake(*CONFIG, "--config", "skip=recidivism", "--", *TABLES, AUDIT)
    assert skipping.returncode == 0, skipping.stdout[-5000:]
    assert "Train gat" in failing.stdout
    assert "Train gat" not in skipping.stdout  # what was finished stayed finished
    for path in (*TABLES, AUDIT):
        (block,) = {line for line in (folder / path).read_text().splitlines() if "left out with skip" in line}
        assert "not run" in block
    assert "Demo-social" in (folder / TABLES[0]).read_text()
