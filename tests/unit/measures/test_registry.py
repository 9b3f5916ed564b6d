"""The list of measures: what an entry must be, and what it may give."""

from dataclasses import replace

import numpy as np
import pytest

from fairgat import config
from fairgat.errors import ConfigError
from fairgat.measures import checks, registry

NODE = "node_classification"
MINE = registry.Measure(
    "mine", "Mine", "Mine", lambda decisions: 0.5, "lower", ("shown",)
)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            replace(MINE, name="f1"),
            "two measures of node_classification are called 'f1'",
        ),
        (replace(MINE, better="lowwer"), "mine: better is "),
        (
            replace(MINE, roles=("shwon",)),
            "mine has an unknown role; did you mean 'shown'",
        ),
    ],
)
def test_an_entry_that_would_mislead_is_refused_at_the_start(monkeypatch, entry, said):
    settings = config.load_files("config.yaml")
    checks.check(settings)
    monkeypatch.setitem(registry.MEASURES, NODE, (*registry.MEASURES[NODE], entry))
    with pytest.raises(ConfigError, match=said):
        checks.check(settings)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda decisions: np.ones(2), r"gave \(2,\) numbers: with `by`"),
        (lambda decisions: "high", "gave 'high' in place of a number"),
        (
            lambda decisions: int("x"),
            "failed: ValueError: invalid literal",
        ),  # not: the predictions are another run's
    ],
)
def test_a_measure_that_fails_is_named(monkeypatch, of, said):
    monkeypatch.setitem(registry.MEASURES, NODE, (replace(MINE, of=of),))
    with pytest.raises(ConfigError, match=f"the measure mine {said}"):
        registry.compute(NODE, None)


def test_an_infinite_value_is_missing_unless_cells_are_chosen_by_it(monkeypatch):
    ratio = replace(MINE, of=lambda decisions: np.inf)
    monkeypatch.setitem(
        registry.MEASURES, NODE, (ratio, replace(ratio, name="gap", roles=("chosen",)))
    )
    assert str(registry.compute(NODE, None)) == "{'mine': nan, 'gap': inf}"
