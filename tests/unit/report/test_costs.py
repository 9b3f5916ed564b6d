"""What the training cost: added up, and shown."""

import re

import pandas as pd
import pytest

from fairgat.report import costs
from fairgat.report.render import render
from fairgat.scores.runs import COLUMNS


def job(number, dataset, method, seconds, epochs=500):
    # It stood still a while.
    values = {
        "epochs": epochs,
        "seconds": 10 * seconds,
        "seconds_per_epoch": seconds / epochs,
    }
    return [
        (dataset, method, "default", number, "training", "", name, value, "")
        for name, value in values.items()
    ]


def test_times_are_added_up():
    rows = [
        *job(0, "recidivism", "gat", 36),
        *job(1, "recidivism", "gat", 36),
        *job(0, "recidivism", "edits", 72),
    ]
    rows += [
        (
            "recidivism",
            "edits",
            "default",
            1,
            "training",
            "",
            "failure",
            None,
            "too dense",
        )
    ]
    rows += job(0, "cora", "gat", 3.6, 100)
    debiasing = [{"dataset": "recidivism", "method": "edits", "seconds": 180}] * 2
    frame = costs.collect(pd.DataFrame(rows, columns=list(COLUMNS)), debiasing)
    pairs = [
        ("recidivism", "gat"),
        ("recidivism", "edits"),
        ("cora", "gat"),
    ]  # as they came
    assert [*zip(frame["dataset"], frame["method"], strict=True)] == pairs
    lines = frame.set_index(["dataset", "method"])
    gat = lines.loc[("recidivism", "gat")]
    assert (gat["jobs"], gat["epochs"]) == (2, 1000)
    assert gat["hours"] == pytest.approx(0.02)
    assert lines["debias_hours"]["recidivism", "edits"] == pytest.approx(0.1)
    text = re.sub(
        " +",
        " ",
        render(costs.page(frame, {"recidivism": "Recidivism", "gat": "GAT"}), "md"),
    )
    assert "| GAT | 2 | 1000 | 0.02 h | – |" in text
    assert "| GAT | 1 | 100 | 4 s | – |" in text  # where hours would be 0.00
    assert "| all | 4 | 1600 | 0.04 h | 0.10 h |" in text
    assert "| cora |" in text  # untitled: its own name


def test_where_every_run_failed_there_is_a_table_that_says_so():
    rows = [
        (
            "recidivism",
            "edits",
            "default",
            k,
            "training",
            "",
            "failure",
            None,
            "too dense",
        )
        for k in range(2)
    ]
    empty = costs.collect(pd.DataFrame(rows, columns=list(COLUMNS)), [])
    assert empty.empty and list(empty) == list(costs.COLUMNS)
    assert "No run was trained to its end" in render(costs.page(empty, {}), "md")
