import json
import subprocess

import pytest

from fairgat.environment import revision
from fairgat.reporting import provenance
from fairgat.reporting.render import render

JOBS = ["train/a/split-0.tsv", "train/a/split-1.tsv", "audit.tsv", "select/not/yet.tsv"]
HEADER = "s\th:m:s\tmax_rss\tcpu_time\n"


@pytest.fixture
def benchmarks(tmp_path):
    for name, text in {
        "train/a/split-0.tsv": "1.5\t0:00:01\t100.0\t1.25\n",
        "train/a/split-1.tsv": "2.5\t0:00:02\t300.0\t2.0\n",
        "train/of-other-settings/split-0.tsv": "9.5\t0:00:09\t900.0\t9.0\n",
        "audit.tsv": "0.2\t0:00:00\tNA\tNA\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + text)
    return tmp_path


def test_costs_of_this_run_are_summed_per_rule(benchmarks):
    assert provenance.costs(benchmarks, JOBS) == {
        "audit": {"jobs": 1, "wall_seconds": 0.2, "cpu_seconds": 0.0, "peak_mb": 0.0},
        "train": {"jobs": 2, "wall_seconds": 4.0, "cpu_seconds": 3.2, "peak_mb": 300.0},
    }


def test_revision(tmp_path):
    assert revision(tmp_path) == {"commit": None, "modified": None}

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    clean = revision(tmp_path)
    assert len(clean["commit"]) == 40
    assert clean["modified"] is False
    (tmp_path / "file").write_text("2")
    assert revision(tmp_path)["modified"] is True
    assert revision(tmp_path, ["f*", "nothing"])["modified"] is True
    assert revision(tmp_path, ["other"])["modified"] is False
    untracked = tmp_path / ".venv/fairgat"  # a package that is installed inside somebody's checkout is not of it
    untracked.mkdir(parents=True)
    (untracked / "__init__.py").write_text("")
    assert revision(untracked) == {"commit": None, "modified": None}


def test_the_commits_that_trained(tmp_path):
    for k, code in enumerate([{"commit": "a", "modified": False}] * 2 + [{"commit": "b", "modified": True}, None]):
        (tmp_path / f"{k}.json").write_text(json.dumps({"split": k} | ({"code": code} if code else {})))
    assert provenance.trained_at(sorted(tmp_path.glob("*.json"))) == [
        {"commit": "a", "modified": False, "runs": 2},
        {"commit": "b", "modified": True, "runs": 1},
        {"commit": None, "modified": None, "runs": 1},
    ]


def test_page(benchmarks, tmp_path):
    metrics = tmp_path / "metrics.json"
    metrics.write_text(json.dumps({"code": {"commit": "c0ffee", "modified": True}}))
    content = provenance.collect(
        "snakemake --cores 2", tmp_path, {"processor": "P <1>"}, {"seed": 7}, benchmarks, JOBS, [metrics]
    )
    html = render(provenance.page(content), "html")
    for text in ("snakemake --cores 2", "P &lt;1&gt;", "unknown", ">7<", ">train<", ">300<"):
        assert text in html
    assert "c0ffee (with uncommitted changes): 1 runs" in html
    assert content["versions"]["numpy"]
