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

NODE, LINK = "node_classification", "link_prediction"
GAT_97 = ("recidivism", "gat", "accuracy", 97.0, 0.2)


def compared(*rows, ddof=1, n_splits=5):
    """The published results against these, under the rule `fair`."""
    winners = summary(rows, n_splits=n_splits)
    frame = agreement.compare(winners, MARGINS, ["validation"], ddof)
    return frame[frame["rule"] == "fair"]


def run_ones(frame):
    return frame.dropna(subset="mean")


@pytest.fixture(scope="module")
def settings():
    """A configuration in which one data set of the paper is off, and one is missing."""
    off = {"enabled": False, "reason": "no files"}
    datasets = {
        "recidivism": {"task": NODE, "title": "Recidivism"},
        "pokec-z": {"task": NODE, **off},
        "cora": {"task": LINK, "title": "Cora"},
    }
    methods = {"gat": {"title": "GAT", "tasks": [NODE]}}
    return audit_settings(config.load({"datasets": datasets, "methods": methods}))


def test_welchs_test_is_scipys_on_the_samples():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 5), rng.normal(1, 3, 7)
    of_a = a.mean(), a.std(ddof=1), 5
    of_b = b.mean(), b.std(ddof=1), 7

    p, half = agreement.welch(*of_a, *of_b)

    test = stats.ttest_ind(a, b, equal_var=False)
    interval = test.confidence_interval(0.95)
    assert p == pytest.approx(test.pvalue)
    assert 2 * half == pytest.approx(interval.high - interval.low)


@pytest.mark.parametrize(
    ("mean", "p"), [(100.0, 1), (100.004, 1), (99.0, 0)], ids=["equal", "printed", "no"]
)
def test_without_any_spread_means_are_equal_or_not(mean, p):
    assert agreement.welch(mean, 0, 5, 100.0, 0, 5) == (p, 0)


def test_holms_correction_by_hand():
    """0.01 · 4, 0.02 · 3, 0.03 · 2, 0.5 · 1, made monotone."""
    adjusted = agreement.holm(pd.Series([0.03, 0.01, math.nan, 0.5, 0.02]))

    expected = [0.06, 0.04, math.nan, 0.5, 0.06]
    assert adjusted.tolist() == pytest.approx(expected, nan_ok=True)


def test_a_corrected_p_is_at_most_1():
    assert agreement.holm(pd.Series([0.9, 0.8])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("metric", "low", "high", "p", "expected"),
    [
        ("accuracy", 0.5, 1.5, 0.01, "better"),
        ("accuracy", -1.5, -0.5, 0.01, "worse"),
        ("statistical_parity", 1.5, 2.5, 0.01, "worse"),
        ("eo_mixed", -2.5, -1.5, 0.01, "better"),
        ("accuracy", -1.5, 0.5, 0.05, "undecided"),
        ("accuracy", -0.5, 1.0, 0.6, "agrees"),
        ("accuracy", -1.0, 0.5, 0.6, "agrees"),
        # The margin of a gap is wider than that of accuracy.
        ("eo_mixed", -1.5, 0.5, 0.3, "agrees"),
        # Significant, but too small to matter.
        ("accuracy", 0.1, 0.9, 0.01, "agrees"),
        ("accuracy", math.nan, math.nan, math.nan, "not run"),
    ],
)
def test_a_verdict_goes_by_the_interval_and_then_by_p(metric, low, high, p, expected):
    margin = MARGINS.accuracy if metric == "accuracy" else MARGINS.fairness
    middle = (low + high) / 2
    line = SimpleNamespace(metric=metric, mean=middle, difference=middle)
    line.ci_low, line.ci_high, line.margin = low, high, 100 * margin

    assert agreement.verdict(line, p) == expected


def test_every_published_number_is_audited_once():
    frame = agreement.published()

    tables = frame["table"].str.count(r"\+") + 1
    assert tables.sum() == 45 + 45 + 42
    # GAT and FairGAT agree in two tables, but for FairGAT on Pokec-n.
    assert len(frame) == 45 + 27 + 3 + 42
    keys = frame.set_index(["dataset", "method", "metric"]).sort_index()
    twice = keys.loc["pokec-n", "fairgat", "accuracy"]
    assert twice["paper_mean"].tolist() == [67.81, 67.14]


@pytest.mark.parametrize(
    ("table", "method", "metric", "margin"),
    [
        pytest.param(
            "comparison",
            "edits",
            "equal_opportunity",
            (2.09 - 1.02) / 2,
            id="half the range",
        ),
        pytest.param("comparison", "edits", "accuracy", 1, id="the cap"),
        # The comparison's range is wider, 8.08 - 6.59.
        pytest.param(
            "comparison+ablation",
            "gat",
            "statistical_parity",
            (8.12 - 7.06) / 2,
            id="of two tables the narrower",
        ),
    ],
)
def test_margins_are_half_the_papers_range_or_the_cap(table, method, metric, margin):
    frame = compared().set_index(["table", "dataset", "method", "metric"])

    found = frame.sort_index().loc[table, "recidivism", method, metric]

    assert found["margin"] == pytest.approx(margin)


def test_a_result_is_compared_with_the_papers_by_welchs_test():
    (line,) = run_ones(compared(GAT_97)).itertuples()

    p, half = agreement.welch(97.0, 0.2, 5, 95.63, 0.20, 5)
    assert line.table == "comparison+ablation"
    assert line.p == pytest.approx(p)
    assert line.difference == pytest.approx(1.37)
    assert (line.ci_low, line.ci_high) == pytest.approx((1.37 - half, 1.37 + half))


def test_the_correction_is_for_the_tests_of_one_rule():
    parity = ("recidivism", "gat", "statistical_parity", 8.5, 1.7)

    frame = compared(GAT_97, parity)

    accuracy = frame[frame["metric"] == "accuracy"].dropna(subset="p")
    assert frame["p"].notna().sum() == 2
    assert accuracy["p_holm"].item() == pytest.approx(2 * accuracy["p"].item())


def test_what_was_not_run_has_a_verdict_of_its_own():
    parity = ("recidivism", "gat", "statistical_parity", 8.5, 1.7)

    frame = compared(GAT_97, parity)

    keys = frame.set_index(["dataset", "method"]).sort_index()
    verdicts = keys.loc[("recidivism", "gat"), "verdict"]
    assert len(frame) == 117
    assert verdicts.tolist() == ["better", "undecided", "not run"]


@pytest.mark.parametrize(
    ("std", "ddof"), [(1.0, 1), (math.sqrt(4 / 5), 0)], ids=["ours by n-1", "ours by n"]
)
def test_deviations_that_divide_by_n_are_widened(std, ddof):
    """The paper's deviations of link prediction do."""
    row = ("cora", "fairgat", "accuracy", 75.0, std)

    (line,) = run_ones(compared(row, ddof=ddof)).itertuples()

    paper_std = 1.34 * math.sqrt(5 / 4)
    ours, papers = (75.0, 1.0, 5), (74.73, paper_std, 5)
    test = stats.ttest_ind_from_stats(*ours, *papers, equal_var=False)
    assert line.p == pytest.approx(test.pvalue)


@pytest.mark.parametrize(("n_splits", "is_tested"), [(1, False), (2, True)])
def test_one_split_is_no_test(n_splits, is_tested):
    row = ("recidivism", "gat", "accuracy", 96.0, 0.2)

    (line,) = run_ones(compared(row, n_splits=n_splits)).itertuples()

    assert line.verdict == "undecided"
    assert pd.notna(line.p) == is_tested


CHANCES = [
    ("recidivism", "gat", "accuracy", 95.0, 0.2),
    ("cora", "fairgat", "eo_subgroup", 90.0, 5.0),
    ("pubmed", "fairgat", "eo_group", 5.0, 1.0),
]


def test_the_chance_to_agree_is_that_of_splits_from_the_papers_distribution():
    frame = run_ones(compared(*CHANCES))

    spread, margin = 0.75 * math.sqrt(5 / 4), frame["margin"].iloc[-1]
    agreed = 0
    for drawn in np.random.default_rng(1).normal(0, spread, (2000, 5)):
        mean, std = drawn.mean(), drawn.std(ddof=1)
        _, half = agreement.welch(mean, std, 5, 0.0, spread, 5)
        agreed += abs(mean) + half <= margin
    certain, impossible, likely = frame["chance"]
    assert (certain, impossible) == (1.0, 0.0)
    assert likely == pytest.approx(agreed / 2000, abs=0.03)


def test_how_many_would_agree_is_said():
    said = agreement.expected_in_words(compared(*CHANCES))

    assert "About 2 would agree" in said
    assert "1 of the 3" in said


def test_how_many_would_agree_takes_two_splits():
    said = agreement.expected_in_words(compared(*CHANCES, n_splits=1))

    assert "needs two splits" in said


def page_of(settings, winners):
    """The page of verdicts, as Markdown."""
    frame = agreement.compare(winners, MARGINS, ["validation"])
    protocols = agreement.compare_protocols(winners, MARGINS)
    return render(pages.verdicts(frame, protocols, settings), "md")


def rows_of(text, start):
    """The cells of each row of the page's tables that starts so."""
    rows = []
    for line in text.splitlines():
        if line.startswith(f"| {start} "):
            rows.append([cell.strip() for cell in line.split("|")[1:-1]])
    return rows


def counts(text):
    """Of the rule fair: each verdict's, and how many would be better or worse alone."""
    (row,) = rows_of(text, "fair")
    return [int(number) for number in re.findall(r"\d+", " ".join(row))]


def test_the_page_shows_paper_and_ours_side_by_side(settings):
    text = page_of(settings, summary([GAT_97]))

    gat = rows_of(text, "GAT")[0]
    assert gat[1:5] == ["Accuracy", "95.63 ± 0.20", "97.00 ± 0.20", "+1.37"]
    assert gat[-1] == "**better**"
    assert text.index("| GAT ") < text.index("| edits ")  # as printed
    assert counts(text) == [0, 1, 0, 0, 116, 0]


def test_the_page_says_why_a_data_set_was_not_run(settings):
    text = page_of(settings, summary([GAT_97]))

    assert "**pokec-z**: not run (no files)" in text
    assert "**pokec-n**: not run (not in this configuration)" in text


def test_the_page_lists_the_decisions_with_their_values(settings):
    text = page_of(settings, summary([GAT_97]))

    assert "selection.rule = fair: " in text


def test_a_verdict_says_where_it_rests_on_the_correction(settings):
    changed = ("recidivism", "nifty", "accuracy")
    rows = [row for row in published("comparison") if row[:3] != changed]

    text = page_of(settings, summary([*rows, (*changed, 83.0, 0.9)]))

    (line,) = [line for line in text.splitlines() if "(alone worse)" in line]
    assert "83.00 ± 0.90" in line
    assert "undecided (alone worse)" in line
    assert counts(text)[-1] == 1


@pytest.fixture
def two_protocols():
    """Winners of both tasks, the links' under two protocols."""
    ours = ("cora", "fairgat", "accuracy", 74.7, 1.0)
    by_fairdrop = ("cora", "fairgat", "accuracy", 90, 1)
    return pd.concat(
        [
            summary([GAT_97]),
            summary([ours], protocol="validation"),
            summary([by_fairdrop], protocol="fairdrop"),
        ]
    )


def test_link_prediction_is_judged_under_each_protocol(two_protocols):
    protocols = agreement.compare_protocols(two_protocols, MARGINS)

    found = run_ones(protocols[protocols["rule"] == "fair"]).set_index("protocol")
    assert found["verdict"].to_dict() == {
        "fairdrop": "better",
        "validation": "undecided",
    }
    # The configured protocol is judged as in the main audit, with the same correction.
    main = agreement.compare(two_protocols, MARGINS, ["validation"])
    of_cora = main[(main["rule"] == "fair") & (main["dataset"] == "cora")]
    assert found["p_holm"]["validation"] == run_ones(of_cora)["p_holm"].item()


def test_the_page_shows_the_other_protocol_apart(settings, two_protocols):
    text = page_of(settings, two_protocols)

    before, after = text.split("## Link prediction, protocol fairdrop")
    assert "90.00 ± 1.00" in after
    assert "90.00 ± 1.00" not in before
    assert "74.70 ± 1.00" in before


def test_a_run_without_any_of_the_papers_results_says_so(settings):
    numbers = compared(("income", "gat", "accuracy", 83.0, 0.9))
    run = {"dataset": "income", "method": "gat", "cell": "c", "split": 0}
    runs = pd.DataFrame([run | {"metric": "auc"}])

    said = audit.headline(runs, pd.DataFrame(), numbers, settings)

    assert "None of the paper's 117 results" in said
