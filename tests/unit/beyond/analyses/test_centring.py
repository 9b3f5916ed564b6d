"""The preregistered comparisons and sentences, on made-up scores for each outcome."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyond.analyses import centring, centring_cells
from beyond.analyses.centring import GRAPHS, SUBJECTS
from fairgat import cells, frames
from fairgat.config import read_file
from fairgat.errors import DataError
from fairgat.files import write_json

ROOT = Path(__file__).resolve().parents[4]

# A mean difference and its spread that give each verdict, whatever Holm does.
GAP = {
    "lower": (-0.1, 0.005),
    "higher": (0.1, 0.005),
    "alike": (0.002, 0.005),
    "undecided": (-0.03, 0.15),
}
AREA = {
    "lower": (-0.03, 0.001),
    "higher": (0.03, 0.001),
    "alike": (0.0, 0.003),
    "undecided": (0.0, 0.1),
}
CELLS = {"fairgat": "eta~1", "fairgat-centred": "eta~0.75", "fairgat-steps-1": "a~1"}


def scores(gap=("lower", "lower"), area=("alike", "alike"), of=GRAPHS, others=None):
    """Scores of all methods; `gap` and `area` are verdicts less GAT, less matched.

    On graphs outside `of`, and of subjects in `others`, everything is alike.
    """
    rng, rows = np.random.default_rng(0), []

    def noise(spread):
        drawn = rng.normal(size=40)
        return spread * (drawn - drawn.mean()) / drawn.std(ddof=1)

    def add(graph, method, cell, metric, values):
        given = {"dataset": graph, "method": method, "cell": cell, "part": "test"}
        for split, value in zip(centring.SPLITS, values, strict=True):
            numbers = {"metric": metric, "split": split, "value": value}
            rows.append(given | numbers | {"epochs": "accuracy"})

    for graph in GRAPHS:
        for metric, kinds, verdicts in (
            ("eo_mixed", GAP, gap),
            ("auc", AREA, area),
        ):
            base = 0.5 + noise(0.05)
            add(graph, "gat", "default", metric, base)
            for subject in SUBJECTS:
                plain = graph not in of or subject.method in (others or ())
                less_gat, less_matched = ("alike", "alike") if plain else verdicts
                mean, spread = kinds[less_gat]
                own = base + mean + noise(spread)
                mean, spread = kinds[less_matched]
                matched = own - mean - noise(spread)
                cell = CELLS[subject.method]
                add(graph, subject.method, cell, metric, own)
                add(graph, subject.matched, cell, metric, matched)
    return pd.DataFrame(rows)


def line(compared, graph, method, of, metric):
    keys = ["dataset", "method", "of", "metric"]
    return compared.set_index(keys).loc[(graph, method, of, metric)]


def test_the_comparisons_by_hand():
    """Nadeau and Bengio's t-test, Holm's correction for 36, and the paired t."""
    given = scores(("undecided", "undecided"), ("undecided", "undecided"))
    compared = centring.compare(given)
    assert len(compared) == 36 and set(compared["n_splits"]) == {40}
    wide = given.pivot_table("value", ["dataset", "metric", "split"], "method")
    p_values = []
    for row in compared.itertuples():
        table = wide.loc[(row.dataset, row.metric)]
        gaps = table[row.method] - table[row.of]
        error = gaps.std() * np.sqrt(1 / 40 + 0.2 / 0.7)
        expected = stats.t.interval(0.95, 39, gaps.mean(), error)
        assert (row.low, row.high) == pytest.approx(expected)
        test = stats.ttest_1samp(gaps, 0).confidence_interval()
        assert 2 * row.paired == pytest.approx(test.high - test.low)
        p_values.append(2 * stats.t.sf(abs(gaps.mean()) / error, 39))
        assert row.p == pytest.approx(p_values[-1])
    adjusted, most = {}, 0.0
    for place, k in enumerate(np.argsort(p_values, kind="stable")):
        most = max(most, min(1, (36 - place) * p_values[k]))
        adjusted[k] = most
    assert compared["p_holm"].tolist() == pytest.approx(
        [adjusted[k] for k in range(36)]
    )


EXPECTED = {
    ("lower", "lower"): "it needs the true topics for that",
    ("lower", "alike"): "does not need the true topics",
    ("lower", "higher"): "ΔEO_m of its matched placebo is narrower still",
    ("lower", "undecided"): "whether it needs the true topics for that is not decided",
    ("alike", "lower"): "narrower ΔEO_m than its matched placebo, and is not shown",
    ("undecided", "lower"): "narrower ΔEO_m than its matched placebo, and is not shown",
    ("alike", "alike"): "has the same ΔEO_m as GAT",
    ("alike", "higher"): "has the same ΔEO_m as GAT",
    ("alike", "undecided"): "has the same ΔEO_m as GAT",
    ("undecided", "alike"): "it is not decided whether",
    ("undecided", "higher"): "it is not decided whether",
    ("undecided", "undecided"): "it is not decided whether",
    ("higher", "lower"): "has a wider ΔEO_m than GAT",
    ("higher", "alike"): "has a wider ΔEO_m than GAT",
    ("higher", "higher"): "has a wider ΔEO_m than GAT",
    ("higher", "undecided"): "has a wider ΔEO_m than GAT",
}


@pytest.mark.parametrize("verdicts", EXPECTED, ids=" ".join)
def test_each_outcome_of_the_gap_chooses_its_sentence(verdicts):
    """For each subject, on every graph: one sentence, with the three numbers."""
    compared = centring.compare(scores(verdicts))
    for subject in SUBJECTS:
        for graph in GRAPHS:
            lines = (
                line(compared, graph, subject.method, of, "eo_mixed")
                for of in ("gat", subject.matched)
            )
            assert tuple(each["verdict"] for each in lines) == verdicts
        said = [
            each
            for each in centring.sentences(compared)
            if subject.words in each and "ΔEO_m" in each
        ]
        assert len(said) == 1 and EXPECTED[verdicts] in said[0]
        assert all(f"{title} (" in said[0] for title in GRAPHS.values())


@pytest.mark.parametrize(
    ("verdict", "numbers", "expected"),
    [
        ("lower", None, "costs AUC against GAT."),
        ("lower", (-0.005, 0.001), "costs AUC against GAT, and less than a point"),
        ("higher", None, "has a higher AUC than GAT"),
        ("alike", None, "costs no AUC against GAT, or less than a point"),
        ("undecided", (0.015, 0.02), "costs no AUC against GAT, or less than a point"),
        ("undecided", None, "not decided whether {} costs more than a point of AUC"),
    ],
)
def test_each_outcome_of_auc_chooses_its_sentence(
    monkeypatch, verdict, numbers, expected
):
    """A rise that Holm does not confirm is no loss all the same: that is outside Holm."""
    monkeypatch.setitem(AREA, verdict, numbers or AREA[verdict])
    compared = centring.compare(scores(area=(verdict, "alike")))
    for subject in SUBJECTS:
        said = [
            each
            for each in centring.sentences(compared)
            if expected.format(subject.words) in each
        ]
        own = [each for each in said if subject.words in each]
        assert len(own) == 1 and all(title in own[0] for title in GRAPHS.values())


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("lower", "the true topics cost"),
        ("higher", "the true topics save"),
        ("alike", "by less than a point against its matched placebo"),
        ("undecided", "not decided whether the true topics change the AUC"),
    ],
)
def test_what_the_topics_do_to_auc(verdict, expected):
    said = centring.sentences(centring.compare(scores(area=("alike", verdict))))
    assert sum(expected in each for each in said) == len(SUBJECTS)


def test_graphs_with_other_outcomes_stand_in_other_sentences():
    compared = centring.compare(scores(of=["cora", "pubmed"], others=["fairgat"]))
    said = centring.sentences(compared)
    scaled, centred = SUBJECTS[0].words, SUBJECTS[1].words
    narrowed = [each for each in said if centred in each and "it needs" in each]
    assert "On Cora (−10.0 ± 0.6) and Pubmed (−10.0 ± 0.6)" in narrowed[0]
    same = [each for each in said if centred in each and "the same ΔEO_m" in each]
    assert "On Citeseer (+0.2 ± 0.6)" in same[0]
    assert not any(scaled in each and "it needs" in each for each in said)
    assert "On Citeseer the sentence on ΔEO_m is the same" in " ".join(said)
    assert "On Cora and Pubmed the sentence on ΔEO_m depends" in " ".join(said)


def test_what_did_not_run_is_undecided_and_counted(tmp_path):
    """Holm's correction is for 36 all the same."""
    whole = centring.compare(scores())
    given = scores()
    lost = (given["method"] == "fairgat-matched") & (given["dataset"] == "cora")
    compared = centring.compare(given[~lost])
    mine = line(compared, "cora", "fairgat", "fairgat-matched", "eo_mixed")
    assert mine["verdict"] == "undecided" and mine["p"] == 1
    other = "pubmed", "fairgat", "gat", "eo_mixed"
    assert line(compared, *other)["p_holm"] == pytest.approx(
        line(whole, *other)["p_holm"], rel=0.2
    )
    frames.write(tmp_path / "scores.csv", given[~lost])
    paths = centring.main(tmp_path)
    assert [path.name for path in paths] == [
        "primary.csv",
        "primary.md",
        "sentences.md",
    ]
    page = paths[-1].read_text()
    assert "A comparison has scores on 0 of 40 splits only" in page
    assert "no interval" in paths[1].read_text()


def test_one_missing_score_leaves_a_comparison_undecided():
    given = scores()
    lost = (given["method"] == "fairgat") & (given["dataset"] == "cora")
    compared = centring.compare(given[~(lost & (given["split"] == 30))])
    mine = line(compared, "cora", "fairgat", "gat", "eo_mixed")
    assert (mine["n_splits"], mine["p"], mine["verdict"]) == (39, 1, "undecided")
    other = line(compared, "cora", "fairgat-centred", "gat", "eo_mixed")
    assert other["verdict"] == "lower"


def test_scores_of_another_plan_are_refused():
    given = scores()
    early = given.assign(split=given["split"] - 1)
    with pytest.raises(DataError, match="the plan's splits are 22 to 61; there is 21"):
        centring.compare(early)
    two = pd.concat([given, given[given["method"] == "fairgat"].assign(cell="x~1")])
    with pytest.raises(DataError, match="fairgat on citeseer has several cells"):
        centring.compare(two)
    other = given["cell"].mask(given["method"] == "step-1-matched", "x~1")
    with pytest.raises(DataError, match="on cora step-1-matched has another cell"):
        centring.compare(given.assign(cell=other))


def selections(results, splits=10):
    chosen = {
        "fairgat": {"alpha_chi_max": 0.5, "eta": 0.75},
        "fairgat-centred": {"alpha_chi_max": 0.25, "eta": 1.0},
        "fairgat-steps-1": {"alpha_chi_max": 0.75},
        "fairdrop": {"delta": 0.16},
    }
    for graph in GRAPHS:
        for method, cell in chosen.items():
            content = {
                "winners": {"fair": {"cell": cells.to_path(cell)}},
                "cells": [{"n_splits": splits}],
            }
            folder = results / "runs/link_prediction" / graph / method
            write_json(folder / "selection.json", content)


def test_stage_2_takes_the_cells_of_stage_1(tmp_path):
    """Every method of the second overlay but GAT has one cell, placebos their own's."""
    selections(tmp_path)
    found = read_file(centring_cells.main(tmp_path))["methods"]
    asked = set(read_file(ROOT / "beyond/studies/centring.yaml")["only_methods"]) - {
        "gat"
    }
    assert set(found) == asked
    cell = {"alpha_chi_max": [0.5], "eta": [0.75]}
    for name in ("fairgat", "fairgat-placebo", "fairgat-matched"):
        assert found[name]["grids"] == dict.fromkeys(GRAPHS, cell)
    assert found["fairgat-steps-23"]["grids"]["cora"] == {"eta": [0.75]}
    assert found["step-3-centred"]["grids"]["cora"] == {"eta": [1.0]}
    assert found["step-1-matched"]["grids"]["pubmed"] == {"alpha_chi_max": [0.75]}
    selections(tmp_path, splits=9)
    with pytest.raises(DataError, match="cells are chosen over 10 splits"):
        centring_cells.main(tmp_path)


def test_the_sentences_are_those_of_the_plan():
    """The plan was published before the runs; the program says nothing else."""
    plan = (ROOT / "docs/plans/centring.md").read_text("utf-8")
    texts = [centring.OF_GAP, centring.OF_AREA, centring.OF_TOPICS]
    said = [text for each in texts for text in each.values()]
    said += [centring.SAME_READINGS, centring.OTHER_READINGS]
    said += [subject.words for subject in SUBJECTS]
    flat = " ".join(plan.split())
    assert [text for text in said if text not in flat] == []
