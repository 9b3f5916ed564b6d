"""What the workflow says when it ends."""

import os
import time

import pytest

from fairgat import config
from fairgat.plan import Plan
from fairgat.publish import outcome

NODE = {"task": "node_classification"}
CONTENT = {
    "datasets": {"social": NODE, "pokec-z": NODE, "other": NODE},
    "methods": {
        "edits": {"tasks": ["node_classification"], "grid": {"threshold": [0.1]}}
    },
    "tables": {"runtime": ["edits"], "comparison": ["edits"]},
    "skip": ["pokec-z"],
}


@pytest.fixture
def say(tmp_path, monkeypatch):
    """Write files, and say what the run that wrote them did.

    Those called old are a minute older than it; those called late a second younger.
    """
    monkeypatch.chdir(tmp_path)
    started = time.time()
    plan = Plan(config.load(CONTENT))
    delays = {"old": -60, "late": 1}

    def said(report: str | None = None, **files: str) -> str:
        for name, text in files.items():
            when, _, place = name.rpartition(":")
            path = tmp_path / "results" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            changed = started + delays.get(when, 0)
            os.utime(path, (changed, changed))
        return outcome.describe(plan, since=started, report=report)

    return said


def test_where_the_tables_are(say):
    names = [
        "old:tables/ablation.md",
        "tables/comparison.md",
        "tables/runtime.md",
        "studies/sensitivity/table.md",
    ]

    _, *lines = say(**dict.fromkeys(names, "")).splitlines()

    assert [line.strip() for line in lines] == [
        "results/tables/runtime.md",
        "results/tables/comparison.md",
        "results/studies/sensitivity/table.md",
    ]


AUDIT = "audit/paper_vs_reproduced.csv"


def test_where_the_audit_and_the_report_are(say):
    said = say("results/report.html", **{AUDIT: "mean\n0.5\n"})

    assert "--results-dir results" in said
    assert "results/report.html" in said


def test_an_audit_of_nothing_in_the_paper_is_not_mentioned(say):
    assert "--results-dir" not in say(**{AUDIT: 'mean\n""\n'})


def test_a_report_that_failed_is_not_mentioned(say):
    said = say("results/report.html", **{"logs/train/x.log": ""})
    assert "report.html" not in said


SHARD_FILE = "runs/node_classification/social/edits/runs.csv"
HEADER = "dataset,method,cell,split,part,protocol,metric,value,reason"
SHARD = f"""{HEADER}
social,edits,threshold~0.1,0,,,failure,,too dense
social,edits,threshold~0.1,1,,,failure,,too dense
social,edits,threshold~0.1,2,test,,accuracy,0.5,
"""


def test_which_runs_have_no_result(say):
    said = say(**{SHARD_FILE: SHARD})
    assert "edits (threshold~0.1) on social, splits 0 and 1: too dense" in said


def test_scores_that_were_cut_off_are_named(say):
    said = say(**{SHARD_FILE: SHARD[:-3]})
    assert f"results/{SHARD_FILE} was cut off" in said


def test_of_many_failures_twenty_are_said_and_the_others_counted(say):
    lines = [HEADER]
    for split in range(23):
        lines.append(f"social,edits,threshold~0.1,{split},,,failure,,reason {split}")

    said = say(**{SHARD_FILE: "\n".join(lines) + "\n"})

    assert "reason 19" in said
    assert "reason 20" not in said
    assert "and 3 more" in said


def test_failures_of_an_earlier_run_are_said_unless_this_one_trained(say):
    """They may be of older code."""
    older = {f"old:{SHARD_FILE}": SHARD}
    assert "too dense" in say(**older)
    assert "too dense" not in say(**older, **{"logs/train/x.log": ""})


def test_what_failed_in_which_log_and_how_to_go_on_without_it(say):
    train = "train/node_classification/social/edits/threshold~0.1/split"
    said = say(
        **{
            f"benchmarks/{train}-0.tsv": "",  # of an earlier run
            f"late:logs/{train}-0.log": "killed",
            f"logs/{train}-1.log": "well",
            f"benchmarks/{train}-1.tsv": "",
            "logs/download/social.log": "no network",
            "old:logs/download/pokec-z.log": "no network",
        }
    )

    first, second, skip, again, *_ = said.partition("Failed:\n")[2].splitlines()
    assert first.strip() == "see results/logs/download/social.log"
    assert second.endswith(f"see results/logs/{train}-0.log")
    assert skip == "To have the tables without social: --config skip=pokec-z,social"
    assert "the same command goes on from here" in again


def test_that_there_is_no_network_is_said_once(say):
    lost = "cannot be had: no connection to example.org (ConnectionError)\n"
    logs = {f"logs/download/{name}.log": lost for name in ("social", "other")}

    said = say(**logs)

    assert said.count("No connection to example.org: nothing could be") == 1
    assert "The demo needs no network" in said
    assert "`fairgat data add FOLDER`" in said
    assert "`data_mirror`" in said


def test_another_fault_of_a_download_is_not_taken_for_the_network(say):
    assert "network" not in say(**{"logs/download/social.log": "it gave 3 bytes"})


@pytest.mark.parametrize(
    "job",
    [
        "preprocess/social",
        "statistics/social",
        "split/node_classification/social/split-0",
    ],
)
def test_a_data_set_that_cannot_be_made_can_be_skipped(say, job):
    assert "--config skip=pokec-z,social" in say(**{f"logs/{job}.log": ""})


def test_the_last_data_set_cannot_be_skipped(say):
    logs = ["logs/preprocess/social.log", "logs/preprocess/other.log"]
    assert "skip=" not in say(**dict.fromkeys(logs, ""))


def test_a_table_that_cannot_be_made_skips_nothing(say):
    assert "skip=" not in say(**{"logs/tables/social.log": ""})


def test_a_run_that_did_nothing_says_nothing(say):
    assert say() == ""


def test_pages_that_the_earlier_run_keeps_too_little_for_are_named(say, tmp_path):
    """Not those that the run's own data sets and methods have none of."""
    scores = tmp_path / "earlier/summary/node_classification/runs.csv"
    scores.parent.mkdir(parents=True)
    scores.write_text("")
    methods = {"gat": {"tasks": ["node_classification", "link_prediction"]}}
    tables = {"comparison": ["gat"], "link_prediction": ["gat"], "theory": ["gat"]}
    figures = ["tradeoff_link_prediction", "curves_node_classification"]
    changed = {"methods": methods, "tables": tables, "figures": figures}
    changed["judge_from"] = "earlier"
    plan = Plan(config.load(CONTENT | changed))

    said = outcome.describe(plan, since=time.time())

    assert said.splitlines() == [
        "Not made, as earlier lacks what they need: tables theory",
        "Not made, as earlier lacks what they need: figures curves_node_classification",
    ]


def test_pages_of_ones_own_are_named_that_nothing_is_made_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kind in (("terms", "theory"), ("scores_of_links", "runs")):
        task = "link_prediction" if kind == "runs" else "node_classification"
        (tmp_path / f"{name}.py").write_text(f"READS = ({kind!r},)\nTASK = {task!r}\n")
    tables = {"terms": {"module": "terms.py"}, "theory": []}
    changed = {"tables": tables, "figures": ["scores_of_links.py"]}
    plan = Plan(config.load(CONTENT | changed))

    said = outcome.describe(plan, since=time.time()).splitlines()

    assert [line.partition(" (")[0] for line in said] == [
        "Not made, as this run has none of what they read: tables terms",
        "Not made, as this run has none of what they read: figures scores_of_links",
    ]
