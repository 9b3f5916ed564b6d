"""What the placebos share with the true topics."""

from types import SimpleNamespace

import further
import pytest
from dense import LINK, make, small_graph

from beyond.analyses import common, matched_dose

VARIANTS = further.method("fairgat_variants")
CELL = {"steps": [1], "alpha_chi_max": 0.5}


@pytest.fixture
def true():
    """The measures of step 1 with the true topics."""
    return matched_dose.of_run(make("fairgat", small_graph(edges=60), LINK, **CELL))


def test_the_true_topics_agree_with_themselves(true):
    assert true["edges_alike"] == 1
    assert true["inter_edges_alike"] == 1


def test_the_matched_placebo_has_the_same_dose_and_other_kinds_of_edges(true):
    placebo = make(VARIANTS, small_graph(edges=60), LINK, **CELL, groups="matched")

    matched = matched_dose.of_run(placebo)

    for share in ("with_inter_edge", "moved"):
        assert matched[share] == pytest.approx(true[share])
    assert matched["edges_alike"] < 1
    assert matched["nodes"] == 40


@pytest.mark.parametrize(
    ("module", "found"),
    [("fairgat_variants", VARIANTS), (VARIANTS, VARIANTS), ("fairgat", "fairgat")],
    ids=["of 0.4", "by its path", "of the package"],
)
def test_a_runs_module_is_found_where_it_is_now(module, found):
    """Runs of 0.4 name one in the package."""
    assert common.module_of(SimpleNamespace(module=module)) == found
