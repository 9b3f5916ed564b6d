"""Every cell against GAT."""

import pandas as pd
import pytest

from fairgat.audit import paired
from fairgat.config.shown import audit_settings
from fairgat.report.render import render
from fairgat.scores import runs


@pytest.fixture
def compared(plan):
    """The differences of the small finished run."""
    scores = runs.read(*plan.files("runs"))
    winners = runs.read(*plan.files("winners"))
    return paired.compared(scores, winners, audit_settings(plan.config))


def test_every_cell_that_ran_is_compared_with_gat(compared):
    assert set(compared["method"]) == {"edits", "fairgat", "fairgat-steps-12"}
    cells = compared[compared["method"] == "fairgat"]["cell"]
    assert cells.nunique() == 4


def test_differences_are_counted_on_the_splits_that_both_have(compared):
    """A cell of FairGAT failed on one split of Cora."""
    of_fairgat = compared[compared["method"] == "fairgat"]

    pairs = of_fairgat.groupby("dataset")["n_splits"].agg(["min", "max"])
    assert pairs.loc["cora"].tolist() == [2, 3]
    assert pairs.loc["recidivism"].tolist() == [3, 3]


def test_without_gat_the_page_says_that_nothing_is_compared(compared):
    page = render(paired.page(compared.iloc[:0]), "md")

    assert "No cell is compared" in page
    assert "splits ±" not in page


def test_methods_stand_in_the_order_of_the_rows(compared):
    is_fairgat = compared["method"] == "fairgat"
    fairgat_first = pd.concat([compared[is_fairgat], compared[~is_fairgat]])

    page = render(paired.page(fairgat_first), "md")

    assert page.index("| FairGAT") < page.index("| EDITS")
