import json
import subprocess

import pytest

from fairgat import config
from fairgat.environment import revision
from fairgat.publish import provenance
from fairgat.report.render import render

HEADER = "s\th:m:s\tmax_rss\tcpu_time\n"


@pytest.fixture
def benchmarks(tmp_path):
    for name, text in {
        "train/a/split-0.tsv": "1.5\t0:00:01\t100.0\t1.25\n",
        "train/a/split-1.tsv": "2.5\t0:00:02\t300.0\t2.0\n",
        "audit.tsv": "0.2\t0:00:00\tNA\tNA\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + text)
    return tmp_path


def test_costs_are_summed_per_rule(benchmarks):
    assert provenance.costs(benchmarks) == {
        "audit": {"jobs": 1, "wall_seconds": 0.2, "cpu_seconds": 0.0, "peak_mb": 0.0},
        "train": {"jobs": 2, "wall_seconds": 4.0, "cpu_seconds": 3.2, "peak_mb": 300.0},
    }
    assert provenance.costs(benchmarks / "none") == {}


def test_revision(tmp_path, monkeypatch):
    assert revision(tmp_path) == {"commit": None, "modified": None}

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    clean = revision(tmp_path)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # Git's own switch: the checkout is another user's
    assert revision(tmp_path) == clean
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
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


def test_the_page_says_what_trained_and_what_it_cost(benchmarks, tmp_path):
    old, new = {"commit": "c0ffee", "modified": True, "runs": 2}, {"commit": "bee", "modified": False, "runs": 5}
    for name, codes in [("a", [old]), ("b", [new, old])]:
        (tmp_path / f"{name}.json").write_text(json.dumps({"trained_at": codes}))
    selections = sorted(tmp_path.glob("*.json"))
    content = provenance.collect(
        "snakemake --cores <2>",
        tmp_path,
        config.load({"seed": 7, "datasets": {}, "methods": {}}).model_dump(),
        benchmarks,
        selections,
        ["tables/comparison.md"],
    )
    assert content["files"] == ["tables/comparison.md"]
    assert content["trained_at"] == [new, old | {"runs": 4}]
    assert content["versions"]["numpy"]
    html = render(provenance.page(content), "html")
    for text in ("snakemake --cores &lt;2&gt;", "unknown", ">7<", ">train<", ">300<"):
        assert text in html
    assert "bee: 5 runs, c0ffee (with uncommitted changes): 4 runs" in html
