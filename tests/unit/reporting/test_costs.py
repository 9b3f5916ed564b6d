import pytest

from fairgat.reporting import costs, paper
from fairgat.reporting.render import render


def job(dataset, method, seconds, epochs=500):
    runtime = {"seconds": 10 * seconds, "seconds_per_epoch": seconds / epochs}  # the machine stood still for a while
    return {"dataset": dataset, "method": method, "training": {"epochs": epochs}, "runtime": runtime}


@pytest.fixture
def frame():
    jobs = [job("recidivism", "gat", 36), job("recidivism", "gat", 36), job("recidivism", "edits", 72)]
    jobs += [job("recidivism", "edits", 0) | {"failure": "too dense"}]
    jobs += [job("recidivism", "fairgat-steps-12", 36), job("cora", "gat", 3.6, 100)]
    return costs.collect(jobs, {("recidivism", "edits"): [180, 180]}, paper.load()["runtime"])


def test_hours_are_summed_and_held_against_the_papers(frame):
    rows = frame.set_index(["dataset", "method"])
    gat = rows.loc["recidivism", "gat"]
    assert (gat["jobs"], gat["epochs"]) == (2, 1000)
    assert gat["hours"] == pytest.approx(0.02)
    assert gat["paper_hours"] == pytest.approx(1000 * 3.07 / 3600)
    assert rows.loc[("recidivism", "edits"), "debias_hours"] == pytest.approx(0.1)
    assert rows.loc[("recidivism", "fairgat-steps-12"), "paper_hours"] == pytest.approx(500 * 3.11 / 3600)
    assert rows.loc[("cora", "gat"), "paper_hours"] is None or rows["paper_hours"].isna()[("cora", "gat")]


def test_the_ratio_of_a_sum_leaves_out_what_the_paper_did_not_time(frame):
    text = render(costs.page(frame, {"recidivism": "Recidivism", "gat": "GAT"}), "md")
    total = [line for line in text.splitlines() if line.startswith("| all")][-1].strip("| ").split("|")
    paper_hours = (1000 * 3.07 + 500 * 9.31 + 500 * 3.11) / 3600
    assert float(total[1]) == 5
    assert float(total[5]) == pytest.approx(paper_hours, abs=0.01)
    assert float(total[6]) == pytest.approx(paper_hours / 0.05, abs=0.06)  # Cora's hours are not in it
    assert "| Cora" not in text and "cora" in text  # untitled: its own name
