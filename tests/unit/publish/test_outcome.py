"""What the workflow says when it ends."""

import os
import time

import pytest

from fairgat import config
from fairgat.plan import Plan
from fairgat.publish import outcome

CONTENT = {
    "datasets": {
        name: {"task": "node_classification"} for name in ("social", "pokec-z", "other")
    },
    "methods": {
        "edits": {"tasks": ["node_classification"], "grid": {"threshold": [0.1]}}
    },
    "tables": {"runtime": ["edits"], "comparison": ["edits"]},
    "skip": ["pokec-z"],
}
SHARD = """dataset,method,cell,split,part,protocol,metric,value,reason
social,edits,threshold~0.1,0,,,failure,,too dense
social,edits,threshold~0.1,1,,,failure,,too dense
social,edits,threshold~0.1,2,test,,accuracy,0.5,
"""


@pytest.fixture
def say(tmp_path, monkeypatch):
    """Write files and describe the run that wrote them, but for those called old; those called late a second later."""
    monkeypatch.chdir(tmp_path)
    started = time.time()
    plan = Plan(config.load(CONTENT))

    def said(report: str | None = None, **files: str) -> str:
        for name, text in files.items():
            path = (
                tmp_path / "results" / name.removeprefix("old:").removeprefix("late:")
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            when = started + {"old": -60, "late": 1}.get(name.partition(":")[0], 0)
            os.utime(path, (when, when))
        return outcome.describe(plan, since=started, report=report)

    return said


def test_where_the_tables_are(say):
    names = [
        "old:tables/ablation.md",
        "tables/comparison.md",
        "tables/runtime.md",
        "studies/sensitivity/table.md",
    ]
    assert [
        line.strip() for line in say(**dict.fromkeys(names, "")).splitlines()[1:]
    ] == [
        "results/tables/runtime.md",
        "results/tables/comparison.md",
        "results/studies/sensitivity/table.md",
    ]


def test_where_the_audit_and_the_report_are(say):
    said = say(
        "results/report.html", **{"audit/paper_vs_reproduced.csv": "mean\n0.5\n"}
    )
    assert "--results-dir results" in said and "results/report.html" in said
    assert "--results-dir" not in say(
        **{"audit/paper_vs_reproduced.csv": 'mean\n""\n'}
    )  # nothing of the paper's
    assert "report.html" not in say(
        "results/report.html", **{"logs/train/x.log": ""}
    )  # it failed, and there is none


SHARD_FILE = "runs/node_classification/social/edits/runs.csv"


def test_which_runs_have_no_result(say):
    assert "edits (threshold~0.1) on social, splits 0 and 1: too dense" in say(
        **{SHARD_FILE: SHARD}
    )
    assert f"results/{SHARD_FILE} was cut off" in say(**{SHARD_FILE: SHARD[:-3]})
    rows = [f"social,edits,threshold~0.1,{k},,,failure,,reason {k}" for k in range(23)]
    said = say(**{SHARD_FILE: "\n".join([SHARD.splitlines()[0], *rows, ""])})
    assert "reason 19" in said and "reason 20" not in said and "and 3 more" in said
    older = {f"old:{SHARD_FILE}": SHARD}
    assert "too dense" in say(**older) and "too dense" not in say(
        **older, **{"logs/train/x.log": ""}
    )  # of older code


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
    failed = said.partition("Failed:\n")[2].splitlines()
    assert failed[0].strip() == "see results/logs/download/social.log"
    assert failed[1].strip().endswith(f"see results/logs/{train}-0.log")
    assert (
        failed[2] == "To have the tables without social: --config skip=pokec-z,social"
    )
    assert "the same command goes on from here" in failed[3]


def test_that_there_is_no_network_is_said_once(say):
    lost = "cannot be had: no connection to example.org (ConnectionError)\n"
    logs = {f"logs/download/{name}.log": lost for name in ("social", "other")}
    said = say(**logs)
    assert said.count("No connection to example.org: nothing could be") == 1
    assert "The demo needs no network" in said
    logs = dict.fromkeys(logs, "it gave 3 bytes")
    assert "network" not in say(**logs)


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
    assert "skip=" not in say(
        **{f"logs/{job}.log": "", "logs/preprocess/other.log": ""}
    )  # none would be left


def test_nothing_to_say(say):
    assert say() == ""
    assert "skip=" not in say(**{"logs/tables/social.log": ""})
