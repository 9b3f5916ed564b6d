"""What the placebos share with the true topics."""

from types import SimpleNamespace

import further
import pytest
from dense import LINK, make, small_graph

from beyond.analyses import common, matched_dose

VARIANTS = further.method("fairgat_variants")
CELL = {"steps": [1], "alpha_chi_max": 0.5}


def test_the_matched_placebo_has_the_same_dose():
    """And other kinds of edges; the true topics agree with themselves."""
    graph = small_graph(edges=60)
    true = matched_dose.of_run(make("fairgat", graph, LINK, **CELL))
    drawn = make(VARIANTS, graph, LINK, **CELL, groups="matched")
    matched = matched_dose.of_run(drawn)
    for share in ("with_inter_edge", "moved"):
        assert matched[share] == pytest.approx(true[share])
    assert true["edges_alike"] == true["inter_edges_alike"] == 1
    assert matched["edges_alike"] < 1 and matched["nodes"] == 40


@pytest.mark.parametrize(
    ("module", "found"),
    [("fairgat_variants", VARIANTS), (VARIANTS, VARIANTS), ("fairgat", "fairgat")],
)
def test_a_runs_module_is_found_where_it_is_now(module, found):
    """Runs of 0.4 name one in the package."""
    assert common.module_of(SimpleNamespace(module=module)) == found
