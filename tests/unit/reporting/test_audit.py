import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairgat.config import load as load_config
from fairgat.reporting import audit, audit_pages, claims, paper
from fairgat.reporting.render import render
from fairgat.reporting.settings import audit_settings
from fairgat.scores import selection

COLUMNS = ["rule", "dataset", "method", "metric", "mean", "std", "n_splits"]


def summary(rows, rules=selection.RULES):
    """(dataset, method, metric, mean, std) in percent, the same under every rule, as the by-rule summary gives it."""
    return pd.DataFrame(
        [(rule, d, m, k, mean / 100, std / 100, 5) for rule in rules for d, m, k, mean, std in rows], columns=COLUMNS
    )


def published(*tables):
    return [(d, m, k, v.mean, v.std) for t in tables for d, ms in paper.load()[t].items() for m, ks in ms.items()
            for k, v in ks.items()]  # fmt: skip


@pytest.fixture(scope="module")
def config():
    return load_config(
        {
            "datasets": {
                "recidivism": {"task": "node_classification", "title": "Recidivism"},
                "pokec-z": {"task": "node_classification", "enabled": False, "reason": "no files"},
            },
            "methods": {"gat": {"title": "GAT", "tasks": ["node_classification"]}},
        }
    )


# ------------------------------------------------------------------------------------------------------- statistics


def test_welch_is_scipys_test_on_the_samples():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 5), rng.normal(1, 3, 7)
    p, half = audit.welch(a.mean(), a.std(ddof=1), 5, b.mean(), b.std(ddof=1), 7)
    test = stats.ttest_ind(a, b, equal_var=False)
    interval = test.confidence_interval(0.95)
    assert p == pytest.approx(test.pvalue)
    assert 2 * half == pytest.approx(interval.high - interval.low)


def test_welch_without_spread():
    assert audit.welch(100.0, 0, 5, 100.0, 0, 5) == (1, 0)
    assert audit.welch(99.0, 0, 5, 100.0, 0, 5) == (0, 0)


def test_holm():
    # Holm's step-down by hand: 0.01·4, 0.02·3, 0.03·2, 0.5·1, made monotone.
    assert audit.holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert audit.holm([0.9, 0.8]) == [1.0, 1.0]
    assert audit.holm([]) == []


def test_verdict_depends_on_the_metrics_direction():
    assert audit.verdict("accuracy", +1, 0.01) == "better"
    assert audit.verdict("accuracy", -1, 0.01) == "worse"
    assert audit.verdict("statistical_parity", +1, 0.01) == "worse"
    assert audit.verdict("eo_mixed", -1, 0.01) == "better"
    assert audit.verdict("accuracy", -1, 0.05) == "reproduced"


def test_every_published_number_is_audited_once():
    entries = audit.published_entries(paper.load())
    assert sum(len(entry["tables"]) for entry in entries) == 45 + 45 + 42
    assert len(entries) == 45 + 27 + 3 + 42  # GAT and FairGAT agree in two tables, but for FairGAT on Pokec-n
    key = ("pokec-n", "fairgat", "accuracy")
    twice = [e["published"].mean for e in entries if (e["dataset"], e["method"], e["metric"]) == key]
    assert twice == [67.81, 67.14]


def test_the_papers_own_numbers_reproduce():
    frame = audit.compare(paper.load(), summary(published("comparison", "link_prediction")), ["fair"])
    same = frame[frame.difference.abs() < 1e-9]
    assert set(frame.verdict) == {"reproduced", "not run"}
    assert len(same) == 45 + 42
    assert same.p.tolist() == pytest.approx([1] * len(same))


def test_compare_corrects_within_a_rule_and_leaves_out_what_was_not_run():
    rows = [("recidivism", "gat", "accuracy", 97.0, 0.2), ("recidivism", "gat", "statistical_parity", 8.5, 1.7)]
    frame = audit.compare(paper.load(), summary(rows), ["fair", "accuracy"])
    assert len(frame) == 2 * 117
    line = frame[(frame.rule == "fair") & (frame.dataset == "recidivism") & (frame.method == "gat")].set_index("metric")
    expected = stats.ttest_ind_from_stats(97.0, 0.2, 5, 95.63, 0.20, 5, equal_var=False).pvalue
    assert line.p["accuracy"] == pytest.approx(expected)
    assert line.p_holm["accuracy"] == pytest.approx(2 * expected)  # two tests, not four: a family per rule
    assert line.difference["accuracy"] == pytest.approx(1.37)
    assert line.ci_low["accuracy"] < 1.37 < line.ci_high["accuracy"]
    assert list(line.verdict) == ["better", "reproduced", "not run"]
    assert line.table["accuracy"] == "comparison+ablation"


def test_population_deviations_are_converted():
    rows = [("recidivism", "gat", "accuracy", 96.0, 0.2 * math.sqrt(4 / 5))]
    sample = audit.compare(paper.load(), summary([("recidivism", "gat", "accuracy", 96.0, 0.2)]), ["fair"], ddof=1)
    population = audit.compare(paper.load(), summary(rows), ["fair"], ddof=0)
    assert population.p.dropna().tolist() == pytest.approx(sample.p.dropna().tolist())


def test_one_split_is_no_test():
    frame = summary([("recidivism", "gat", "accuracy", 96.0, math.nan)], ["fair"]).assign(n_splits=1)
    line = audit.compare(paper.load(), frame, ["fair"]).query("difference == difference")
    assert line.verdict.tolist() == ["not run"]


# ----------------------------------------------------------------------------------------------------------- claims


def claim(number):
    return next(claim for claim in claims.load() if claim["id"] == number)


def test_every_claim_names_a_predicate():
    assert [entry["id"] for entry in claims.load()] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(entry["predicate"] in claims.PREDICATES for entry in claims.load())


@pytest.mark.parametrize(
    ("number", "status", "failing"),
    [
        (1, claims.SUPPORTED, []),
        (2, claims.SUPPORTED, []),
        (3, claims.NOT_SUPPORTED, ["std of statistical_parity on pokec-n", "std of statistical_parity on recidivism"]),
        (4, claims.SUPPORTED, []),
        (5, claims.SUPPORTED, []),
        (6, claims.NOT_SUPPORTED, ["edits on pokec-n"]),
        (7, claims.SUPPORTED, []),
        (8, claims.SUPPORTED, []),
    ],
)
def test_claims_on_the_papers_own_numbers(number, status, failing):
    checks = claims.judge(claim(number), claims.papers_results(paper.load(), claim(number)["table"]))
    assert claims.status(checks) == status
    assert [check.subject for check in checks if check.holds is False] == failing


def altered(number, **changes):
    """Checks of a claim on the paper's numbers with some replaced: {(dataset, method, metric): (mean, std) or None}."""
    results = dict(claims.papers_results(paper.load(), claim(number)["table"]))
    for key, value in changes["changes"].items():
        if value is None:
            del results[key]
        else:
            results[key] = value
    return claims.status(claims.judge(claim(number), results))


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (1, {("pokec-z", "fairgat", "equal_opportunity"): (3.2, 1)}),  # 26 % better only
        (2, {("pokec-z", "fairgat", "equal_opportunity"): (2.31, 1)}),  # a tie is not the lowest
        (4, {("recidivism", "fairgat", "accuracy"): (94.62, 1)}),
        (5, {("pokec-n", "fairgat-steps-23", metric): v for metric, v in
             {"accuracy": (67.2, 1), "statistical_parity": (0.9, 1), "equal_opportunity": (1.68, 1)}.items()}),
        (7, {("cora", "fairgat", "accuracy"): (73.9, 1)}),
        (7, {("pubmed", "fairgat", "dp_mixed"): (35, 1)}),  # three of six is not most
        (8, {("recidivism", "fairgnn", "seconds"): (3.1, 0)}),  # 0.01 s faster
    ],
)  # fmt: skip
def test_a_claim_can_fail(number, change):
    assert altered(number, changes=change) == claims.NOT_SUPPORTED


def test_missing_results_leave_a_claim_open():
    assert altered(2, changes={("pokec-z", "nifty", "equal_opportunity"): None}) == claims.PARTLY
    assert claims.status(claims.judge(claim(2), {})) == claims.NOT_RUN
    # A rival that is already better decides, even where another is missing.
    change = {("pokec-z", "nifty", "equal_opportunity"): None, ("pokec-z", "edits", "equal_opportunity"): (0.5, 1)}
    assert altered(2, changes=change) == claims.NOT_SUPPORTED


def test_one_split_has_no_deviation_to_be_the_lowest():
    keys = claims.papers_results(paper.load(), claim(3)["table"])
    rows = [
        {"rule": "fair", "dataset": d, "method": m, "metric": metric, "mean": 0.5, "std": 0.0, "n_splits": 1}
        for d, m, metric in keys
    ]
    ours = claims.our_results(pd.DataFrame(rows), "fair", {})
    assert claims.status(claims.judge(claim(3), ours)) == claims.NOT_RUN


def test_runtime_claim_takes_our_seconds():
    seconds = {"recidivism": {"gat": 0.1, "fairgat": 0.105}}
    empty = summary([])
    checks = claims.judge(claim(6), claims.our_results(empty, "fair", seconds))
    assert [check.numbers for check in checks if check.holds is not None] == ["1.05 times"]


# ------------------------------------------------------------------------------------------------------------ pages


def test_claims_page_shows_every_rule_and_the_oddities(config):
    by_rule = summary(published("comparison"), ["fair"])
    text = render(audit_pages.claim_page(paper.load(), by_rule, {}, "fair"), "md")
    first = next(line for line in text.splitlines() if line.startswith("| 1 "))
    assert [cell.strip() for cell in first.split("|")[3:7]] == ["supported", "supported", "not run", "not run"]
    assert "(67.81 ± 1.09 / 0.71 ± 0.74 / 1.23 ± 0.58)" in text
    assert "(67.14 ± 1.06 / 0.90 ± 0.61 / 1.68 ± 1.30)" in text
    assert "Claim 3 doesn't hold everywhere in the paper's own table" in text
    assert "Claim 6 doesn't hold" not in text  # its bounds are ours
    for number in range(1, 9):
        assert f"## Claim {number}: " in text


def test_verdict_page(config):
    rows = [("recidivism", "gat", "accuracy", 97.0, 0.2)]
    frame = audit.compare(paper.load(), summary(rows), selection.RULES)
    settings = audit_settings(config)
    protocols = audit.compare_protocols(paper.load(), summary(rows), by_protocol([]), selection.RULES)
    text = render(audit_pages.verdicts(frame, protocols, settings), "md")
    assert "**pokec-z**: not run (no files)" in text
    assert "**Pokec-n**: not run (not in this configuration)" in text
    line = next(line for line in text.splitlines() if line.startswith("| GAT "))
    assert [cell.strip() for cell in line.split("|")[2:6]] == ["Accuracy", "95.63 ± 0.20", "97.00 ± 0.20", "+1.37"]
    assert line.rstrip(" |").endswith("**better**")
    assert "selection.rule = fair: " in text
    assert "| fair            |          0 |      1 |     0 |     116 |" in text


def test_a_verdict_says_where_it_rests_on_the_correction(config):
    rows = [row for row in published("comparison") if row[:3] != ("recidivism", "nifty", "accuracy")]
    frame = audit.compare(paper.load(), summary([*rows, ("recidivism", "nifty", "accuracy", 83.0, 0.9)]), ["fair"])
    line = frame[(frame.dataset == "recidivism") & (frame.method == "nifty") & (frame.metric == "accuracy")].iloc[0]
    assert line.p < 0.05 < line.p_holm and audit.doubtful(frame) == 1
    text = render(audit_pages.verdicts(frame, by_protocol([]).assign(rule="fair"), audit_settings(config)), "md")
    (said,) = [line for line in text.splitlines() if line.startswith("|") and "alone worse" in line]
    assert "83.00 ± 0.90" in said and "reproduced (alone worse)" in said


def by_protocol(rows):
    frames = [summary([row]).assign(protocol=name) for name, row in rows]
    return pd.concat(frames) if frames else summary([]).assign(protocol=None)


def test_link_prediction_is_audited_under_both_protocols(config):
    node = ("recidivism", "gat", "accuracy", 97.0, 0.2)
    cora = {
        "validation": ("cora", "fairgat", "accuracy", 74.7, 1.0),
        "fairdrop": ("cora", "fairgat", "accuracy", 90, 1),
    }
    by_rule = summary([node, cora["validation"]])
    protocols = audit.compare_protocols(paper.load(), by_rule, by_protocol(list(cora.items())), selection.RULES)
    assert set(protocols["dataset"]) == {"cora", "citeseer", "pubmed"}
    found = protocols[(protocols["rule"] == "fair") & (protocols["mean"].notna())].set_index("protocol")
    assert found["verdict"].to_dict() == {"fairdrop": "better", "validation": "reproduced"}
    # The configured protocol is judged as in the main audit, with the same correction.
    main = audit.compare(paper.load(), by_rule, ["fair"])
    main = main[(main["dataset"] == "cora") & main["mean"].notna()].iloc[0]
    assert main["p_holm"] == found.loc["validation", "p_holm"]

    settings = audit_settings(config)
    settings["datasets"]["cora"] = {"name": "cora", "title": "Cora", "task": "link_prediction", "reason": None}
    text = render(audit_pages.verdicts(audit.compare(paper.load(), by_rule, ["fair"]), protocols, settings), "md")
    panel = text[text.index("Link prediction under both protocols") :]
    assert "90.00 ± 1.00" in next(line for line in panel.splitlines() if "74.70 ± 1.00" in line)


def test_misplaced_bold_is_found():
    found = claims.misplaced_bold(paper.load())
    assert any(text.startswith("link_prediction, cora, dp_mixed: bold is fairdrop, fairgat") for text in found)
    assert not any(text.startswith("comparison") for text in found)
