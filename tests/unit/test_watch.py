import json
import os
from types import SimpleNamespace

import pytest

from fairgat import watch


@pytest.fixture
def job(tmp_path):
    """Makes a job; with `seconds` it has ended at the time `at`."""

    def make(name, dataset="cora", method="gat", pending=True, seconds=None, at=0.0):
        path = tmp_path / f"{name}.tsv"
        if seconds is not None:
            path.write_text(f"s\tcpu_time\n{seconds}\t1\n")
            os.utime(path, (at, at))
        return watch.Job(dataset, method, path, pending)

    return make


def test_time_left_from_jobs_of_the_same_kind(job):
    # two at a time: 20 s of work in the 10 s since the first one began
    ended = [job(k, seconds=10, at=1010) for k in range(2)]
    slow = job("slow", method="fairgat", pending=False, seconds=60, at=5)  # of an earlier run
    left = [job("a"), job("b", method="fairgat")]
    done, text = watch.describe([*ended, slow, *left], started=1000, now=1010)
    assert (done, text) == (2, "Training: 2 of 4 runs done, about 40 s left.")


def test_a_data_set_of_which_nothing_is_known_is_a_guess(job):
    _, text = watch.describe([job("a", seconds=10, at=1010), job("b", dataset="pubmed")], started=1000, now=1010)
    assert text == "Training: 1 of 2 runs done, about 10 s left (a guess: none done yet on pubmed)."


def test_nothing_is_promised_before_something_is_done(job):
    stale = job("stale", seconds=10, at=5)  # to be made again: its old benchmark doesn't count
    assert watch.describe([stale], started=1000, now=1010) == (0, "Training: 0 of 1 runs done.")


@pytest.mark.parametrize(("seconds", "text"), [(3, "10 s"), (62, "60 s"), (600, "10 min"), (12_000, "3 h 20 min")])
def test_duration(seconds, text):
    assert watch.duration(seconds) == text


def test_summary_lists_tables_failures_and_what_to_skip(tmp_path):
    table, good, bad = tmp_path / "comparison.md", tmp_path / "good.json", tmp_path / "bad.json"
    table.touch()
    place = {"dataset": "cora", "method": "gat", "cell": "default", "split": 1}
    good.write_text(json.dumps(place))
    bad.write_text(json.dumps(place | {"failure": "not finite"}))
    text = watch.summary(
        [str(table), "missing.md"],
        [good, bad, tmp_path / "missing.json"],
        [("download", "citeseer", "citeseer.log"), ("table", "", "table.log")],
        skipped=["pubmed"],
    )
    assert str(table) in text
    assert "missing.md" not in text
    assert "gat (default) on cora, split 1 (not finite)" in text
    assert "download citeseer: see citeseer.log" in text
    assert "--config skip=pubmed,citeseer" in text


def test_every_job_of_a_failed_batch_has_failed():
    def job(rule, log, **wildcards):
        rule = SimpleNamespace(name=rule)
        return SimpleNamespace(rule=rule, wildcards=wildcards, log=[log], is_group=lambda: False)

    # On a cluster Snakemake counts a batch as one job, which has neither rule nor wildcards.
    cells = [job("train", f"split-{k}.log", dataset="cora") for k in (1, 0)]
    batch = SimpleNamespace(jobs=[*cells, job("select", "gat.log", dataset="cora")], is_group=lambda: True)
    assert watch.failures([batch, job("table", "table.log")]) == [
        ("select", "cora", "gat.log"),
        ("table", "", "table.log"),
        ("train", "cora", "split-0.log"),
        ("train", "cora", "split-1.log"),
    ]


def test_an_unremarkable_end_says_nothing_about_failures():
    assert watch.summary([], [], []) == ""
