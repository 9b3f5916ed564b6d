"""The texts of a whole audit, of a run that is finished."""

import re
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from fairgat import audit
from fairgat.config.shown import audit_settings
from fairgat.scores import selection


def files_of(plan):
    return {kind: plan.files(kind) for kind in ("winners", "runs", "runtime")}


@pytest.fixture(scope="module")
def texts(plan):
    """Each file's text, by its name."""
    return audit.make(audit_settings(plan.config), files_of(plan))


def test_the_headline_says_what_ran_what_agrees_and_which_claims_hold(texts):
    ran, numbers, judged = texts["headline.txt"].split("\n\n")

    assert re.match(r"\d+ runs, \d+ of which failed: \d methods .* 3 splits", ran)
    assert "the paper's 117 results" in numbers
    assert "by the rule fair" in numbers
    assert "the paper's 8 claims" in judged


def test_every_cell_stands_against_gat(texts):
    lines = texts["paired.md"].splitlines()

    (selected, *_) = [line for line in lines if "**α_χ^max 0.25, η 1.0**" in line]
    assert " -1.00 |" in selected
    assert "FairGAT" not in selected  # its name stands in the row above
    assert "±" not in selected  # all splits differ by just as much


def test_people_and_articles_are_apart(texts):
    people, articles, *_ = texts["paired.md"].split("## Link prediction")

    assert "Cora" not in people
    assert "Cora" in articles
    assert "Recidivism" not in articles


def test_every_rule_judges_every_claim_and_number(texts):
    statuses = pd.read_csv(StringIO(texts["claims.csv"]))
    counts = pd.read_csv(StringIO(texts["counts.csv"]))

    totals = counts.groupby(["about", "rule"])["count"].sum()
    assert statuses["rule"].value_counts().to_dict() == dict.fromkeys(
        selection.RULES, 8
    )
    for rule in selection.RULES:
        assert totals["numbers", rule] == 117
        assert totals["claims", rule] == 8


def test_texts_are_tables_pages_and_a_headline(texts):
    assert {Path(name).suffix for name in texts} == {".csv", ".txt", ".md", ".html"}


def test_a_run_of_own_data_is_not_judged_by_the_papers_claims(plan):
    own = plan.config.model_copy(update={"only_datasets": ["odd"]})

    texts = audit.make(audit_settings(own), files_of(plan))

    assert {Path(name).stem for name in texts} == {"paired"}
    assert "α_χ^max 0.25" in texts["paired.md"]
