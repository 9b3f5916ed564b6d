"""Every number's verdict: statistics against SciPy, and what a page says of them."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from small_audit import MARGINS, published, summary

from fairgat import audit, config
from fairgat.audit import agreement, pages
from fairgat.config.shown import audit_settings
from fairgat.report.render import render


def compared(rows, ddof=1):
    frame = agreement.compare(summary(rows), MARGINS, ["validation"], ddof)
    return frame[frame["rule"] == "fair"]


@pytest.fixture(scope="module")
def settings():
    datasets = {
        "recidivism": {"task": "node_classification", "title": "Recidivism"},
        "pokec-z": {
            "task": "node_classification",
            "enabled": False,
            "reason": "no files",
        },
        "cora": {"task": "link_prediction", "title": "Cora"},
    }
    methods = {"gat": {"title": "GAT", "tasks": ["node_classification"]}}
    return audit_settings(config.load({"datasets": datasets, "methods": methods}))


def test_welch_is_scipys_test_on_the_samples():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 5), rng.normal(1, 3, 7)
    p, half = agreement.welch(a.mean(), a.std(ddof=1), 5, b.mean(), b.std(ddof=1), 7)
    test = stats.ttest_ind(a, b, equal_var=False)
    interval = test.confidence_interval(0.95)
    assert p == pytest.approx(test.pvalue)
    assert 2 * half == pytest.approx(interval.high - interval.low)
    assert agreement.welch(100.0, 0, 5, 100.0, 0, 5) == (1, 0)  # no spread
    assert agreement.welch(99.0, 0, 5, 100.0, 0, 5) == (0, 0)


def test_holm():
    # Holm's step-down by hand: 0.01·4, 0.02·3, 0.03·2, 0.5·1, made monotone.
    adjusted = agreement.holm(pd.Series([0.03, 0.01, math.nan, 0.5, 0.02]))
    expected = [0.06, 0.04, math.nan, 0.5, 0.06]
    assert adjusted.tolist() == pytest.approx(expected, nan_ok=True)
    adjusted = agreement.holm(pd.Series([0.9, 0.8]))
    assert adjusted.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("metric", "interval", "p", "expected"),
    [
        ("accuracy", (0.5, 1.5), 0.01, "better"),
        ("accuracy", (-1.5, -0.5), 0.01, "worse"),
        ("statistical_parity", (1.5, 2.5), 0.01, "worse"),
        ("eo_mixed", (-2.5, -1.5), 0.01, "better"),
        ("accuracy", (-1.5, 0.5), 0.05, "undecided"),
        ("accuracy", (-0.5, 1.0), 0.6, "agrees"),
        (
            "eo_mixed",
            (-1.5, 0.5),
            0.3,
            "agrees",
        ),  # its margin is wider than that of accuracy
        (
            "accuracy",
            (0.1, 0.9),
            0.01,
            "agrees",
        ),  # significant, but too small to matter
        ("accuracy", (math.nan, math.nan), math.nan, "not run"),
    ],
)
def test_verdict(metric, interval, p, expected):
    low, high = interval
    margin = 100 * getattr(MARGINS, metric, MARGINS.fairness)
    mean = (low + high) / 2
    line = SimpleNamespace(
        metric=metric,
        mean=mean,
        difference=mean,
        ci_low=low,
        ci_high=high,
        margin=margin,
    )
    assert agreement.verdict(line, p) == expected


def test_every_published_number_is_audited_once():
    frame = agreement.published()
    tables = frame["table"].str.count(r"\+") + 1
    assert tables.sum() == 45 + 45 + 42
    # GAT and FairGAT agree in two tables, but for FairGAT on Pokec-n.
    assert len(frame) == 45 + 27 + 3 + 42
    twice = frame.query(
        "dataset == 'pokec-n' and method == 'fairgat' and metric == 'accuracy'"
    )
    assert twice["paper_mean"].tolist() == [67.81, 67.14]


def test_margins_are_half_the_papers_range_or_the_cap():
    frame = compared([]).set_index(["table", "dataset", "method", "metric"])
    margins = frame["margin"].sort_index()
    of_edits = margins["comparison", "recidivism", "edits"]
    assert of_edits["equal_opportunity"] == pytest.approx((2.09 - 1.02) / 2)
    assert of_edits["accuracy"] == 1
    # In two tables: the ablation's range of ΔSP is narrower, 8.12 - 7.06, than the
    # comparison's, 8.08 - 6.59.
    of_gat = margins["comparison+ablation", "recidivism", "gat"]
    assert of_gat["statistical_parity"] == pytest.approx(0.53)


def test_compare_corrects_within_a_rule_and_leaves_out_what_was_not_run():
    accuracy = ("recidivism", "gat", "accuracy", 97.0, 0.2)
    parity = ("recidivism", "gat", "statistical_parity", 8.5, 1.7)
    frame = compared([accuracy, parity])
    assert len(frame) == 117
    lines = frame.query("dataset == 'recidivism' and method == 'gat'")
    assert list(lines["verdict"]) == ["better", "undecided", "not run"]
    line = lines.set_index("metric").loc["accuracy"]
    test = stats.ttest_ind_from_stats(97.0, 0.2, 5, 95.63, 0.20, 5, equal_var=False)
    assert line["p"] == pytest.approx(test.pvalue)
    # Two tests, not six: a family per rule.
    assert line["p_holm"] == pytest.approx(2 * test.pvalue)
    assert line["difference"] == pytest.approx(1.37)
    assert line["ci_low"] < 1.37 < line["ci_high"]
    assert line["table"] == "comparison+ablation"


def test_deviations_that_divide_by_n_are_widened_and_one_split_is_no_test():
    paper_std = 1.34 * math.sqrt(5 / 4)
    test = stats.ttest_ind_from_stats(
        75.0, 1.0, 5, 74.73, paper_std, 5, equal_var=False
    )
    theirs = compared([("cora", "fairgat", "accuracy", 75.0, 1.0)])
    assert theirs["p"].dropna().item() == pytest.approx(test.pvalue)
    ours = compared([("cora", "fairgat", "accuracy", 75.0, math.sqrt(4 / 5))], ddof=0)
    assert ours["p"].dropna().item() == pytest.approx(test.pvalue)
    for count, tested in ((1, 0), (2, 3)):  # under three rules
        few = summary([("recidivism", "gat", "accuracy", 96.0, 0.2)])
        few = few.assign(n_splits=count)
        frame = agreement.compare(few, MARGINS, ["validation"])
        assert set(frame["verdict"]) == {"undecided", "not run"}
        assert frame["p"].notna().sum() == tested


def test_the_chance_to_agree_is_that_of_splits_from_the_papers_distribution():
    rows = [
        ("recidivism", "gat", "accuracy", 95.0, 0.2),
        ("cora", "fairgat", "eo_subgroup", 90.0, 5.0),
        ("pubmed", "fairgat", "eo_group", 5.0, 1.0),
    ]
    frame = compared(rows).dropna(subset="chance")
    assert len(frame) == 3
    spread, margin = 0.75 * math.sqrt(5 / 4), frame["margin"].iloc[-1]
    hits = []
    for drawn in np.random.default_rng(1).normal(0, spread, (2000, 5)):
        mean, std = drawn.mean(), drawn.std(ddof=1)
        _, half = agreement.welch(mean, std, 5, 0.0, spread, 5)
        hits.append(abs(mean) + half <= margin)
    certain, impossible, likely = frame["chance"]
    assert (certain, impossible) == (1.0, 0.0)
    assert likely == pytest.approx(np.mean(hits), abs=0.03)
    said = agreement.expected_in_words(frame)
    assert "About 2 would agree" in said
    assert "1 of the 3 that were run" in said


def verdicts(settings, winners):
    frame = agreement.compare(winners, MARGINS, ["validation"])
    protocols = agreement.compare_protocols(winners, MARGINS)
    page = pages.verdicts(frame, protocols, settings)
    return frame, render(page, "md")


def counts(text):
    """Of the rule fair: each verdict's, and how many would be better or worse alone."""
    (line,) = [line for line in text.splitlines() if line.startswith("| fair ")]
    return list(map(int, re.findall(r"\d+", line)))


def test_verdict_page(settings):
    winners = summary([("recidivism", "gat", "accuracy", 97.0, 0.2)])
    _, text = verdicts(settings, winners)
    assert "**pokec-z**: not run (no files)" in text
    assert "**pokec-n**: not run (not in this configuration)" in text
    line = next(line for line in text.splitlines() if line.startswith("| GAT "))
    _, _, *cells = map(str.strip, line.split("|"))
    assert cells[:4] == ["Accuracy", "95.63 ± 0.20", "97.00 ± 0.20", "+1.37"]
    assert line.rstrip(" |").endswith("**better**")
    assert text.index("| GAT ") < text.index("| edits ")  # as printed
    assert "selection.rule = fair: " in text
    assert counts(text) == [0, 1, 0, 0, 116, 0]


def test_a_verdict_says_where_it_rests_on_the_correction(settings):
    changed = ("recidivism", "nifty", "accuracy")
    rows = [row for row in published("comparison") if row[:3] != changed]
    _, text = verdicts(settings, summary([*rows, (*changed, 83.0, 0.9)]))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    (said,) = [line for line in lines if "alone worse" in line]
    assert "83.00 ± 0.90" in said
    assert "undecided (alone worse)" in said
    assert counts(text)[-1] == 1


def test_link_prediction_is_audited_under_both_protocols(settings):
    node = summary([("recidivism", "gat", "accuracy", 97.0, 0.2)])
    validation = summary(
        [("cora", "fairgat", "accuracy", 74.7, 1.0)], protocol="validation"
    )
    fairdrop = summary([("cora", "fairgat", "accuracy", 90, 1)], protocol="fairdrop")
    winners = pd.concat([node, validation, fairdrop])
    frame, text = verdicts(settings, winners)
    protocols = agreement.compare_protocols(winners, MARGINS)
    found = protocols[protocols["rule"] == "fair"].dropna(subset="mean")
    found = found.set_index("protocol")
    assert found["verdict"]["fairdrop"] == "better"
    assert found["verdict"]["validation"] == "undecided"
    # The configured protocol is judged as in the main audit, with the same correction.
    main = frame.query("rule == 'fair' and dataset == 'cora' and mean == mean")
    assert main["p_holm"].item() == found.loc["validation", "p_holm"]
    before, after = text.split("## Link prediction, protocol fairdrop")
    assert "90.00 ± 1.00" in after
    assert "90.00 ± 1.00" not in before
    assert "74.70 ± 1.00" in before


def test_a_run_without_any_of_the_papers_results_says_so(settings):
    frame, _ = verdicts(settings, summary([("income", "gat", "accuracy", 83.0, 0.9)]))
    runs = pd.DataFrame(
        [("income", "gat", "c", 0, "auc")],
        columns=["dataset", "method", "cell", "split", "metric"],
    )
    said = audit.headline(runs, pd.DataFrame(), frame, settings)
    assert said.split("\n\n")[1] == "None of the paper's 117 results is among them.\n"
