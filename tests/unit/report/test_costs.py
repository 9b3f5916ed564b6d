import re

import pandas as pd
import pytest

from fairgat import paper
from fairgat.report import costs
from fairgat.report.render import render
from fairgat.scores.runs import COLUMNS


def job(number, dataset, method, seconds, epochs=500):
    # It stood still a while.
    values = {"epochs": epochs, "seconds": 10 * seconds, "seconds_per_epoch": seconds / epochs}
    return [(dataset, method, "default", number, "training", "", name, value, "") for name, value in values.items()]


@pytest.fixture
def frame():
    rows = [*job(0, "recidivism", "gat", 36), *job(1, "recidivism", "gat", 36), *job(0, "recidivism", "edits", 72)]
    rows += [("recidivism", "edits", "default", 1, "training", "", "failure", None, "too dense")]
    rows += [*job(0, "recidivism", "fairgat-steps-12", 36), *job(0, "cora", "gat", 3.6, 100)]
    bias = [{"dataset": "recidivism", "method": "edits", "debiasing": {"seconds": 180}}] * 2
    return costs.collect(pd.DataFrame(rows, columns=list(COLUMNS)), bias, paper.load()["runtime"])


def test_hours_are_summed_and_held_against_the_papers(frame):
    rows = frame.set_index(["dataset", "method"])
    gat = rows.loc[("recidivism", "gat")]
    assert (gat["jobs"], gat["epochs"]) == (2, 1000)
    assert gat["hours"] == pytest.approx(0.02)
    assert gat["paper_hours"] == pytest.approx(1000 * 3.07 / 3600)
    assert rows["debias_hours"]["recidivism", "edits"] == pytest.approx(0.1)
    assert rows["paper_hours"]["recidivism", "fairgat-steps-12"] == pytest.approx(500 * 3.11 / 3600)
    assert pd.isna(rows["paper_hours"]["cora", "gat"])


def test_where_every_run_failed_there_is_a_table_that_says_so():
    rows = [("recidivism", "edits", "default", k, "training", "", "failure", None, "too dense") for k in range(2)]
    empty = costs.collect(pd.DataFrame(rows, columns=list(COLUMNS)), [], {})
    assert empty.empty and list(empty) == list(costs.COLUMNS)
    assert "No run was trained to its end" in render(costs.page(empty, {}), "md")


def test_the_ratio_of_a_sum_leaves_out_what_the_paper_did_not_time(frame):
    text = render(costs.page(frame, {"recidivism": "Recidivism", "gat": "GAT"}), "md")
    total = [line for line in text.splitlines() if line.startswith("| all")][-1].strip("| ").split("|")
    paper_hours = (1000 * 3.07 + 500 * 9.31 + 500 * 3.11) / 3600
    assert float(total[1]) == 5
    assert float(total[5].split()[0]) == pytest.approx(paper_hours, abs=0.01)
    assert float(total[6]) == pytest.approx(paper_hours / 0.05, abs=0.06)  # Cora's hours are not in it
    assert "| Cora" not in text and "cora" in text  # untitled: its own name
    assert "| 4 s |" in re.sub(" +", " ", text)  # where hours would be 0.00
    own = render(costs.page(frame, {}, compared=False), "md")
    assert "paper" not in own and own.splitlines()[4].count("|") == 6


def test_a_run_that_the_paper_has_no_times_for_has_its_hours(frame):
    text = render(costs.page(frame.assign(paper_hours=None), {}, compared=False), "md")
    assert "| 4 s |" in re.sub(" +", " ", text)
