"""The list of measures: what an entry must be, and what it may give."""

from dataclasses import replace

import numpy as np
import pytest

from fairgat import config
from fairgat.errors import ConfigError
from fairgat.measures import checks, registry

NODE = "node_classification"
MINE = registry.Measure("mine", "Mine", "Mine", lambda decisions: 0.5, "lower", ("shown",))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (replace(MINE, name="f1"), "two measures of node_classification are called 'f1'"),
        (replace(MINE, better="lowwer"), "mine: better is "),
        (replace(MINE, roles=("shwon",)), "mine has an unknown role; did you mean 'shown'"),
    ],
)
def test_an_entry_that_would_mislead_is_refused_at_the_start(monkeypatch, entry, said):
    settings = config.load_files("config.yaml")
    checks.check(settings)
    monkeypatch.setitem(registry.MEASURES, NODE, (*registry.MEASURES[NODE], entry))
    with pytest.raises(ConfigError, match=said):
        checks.check(settings)


def test_a_measure_that_gives_more_than_a_number_is_named(monkeypatch):
    monkeypatch.setitem(registry.MEASURES, NODE, (replace(MINE, of=lambda decisions: np.ones(2)),))
    with pytest.raises(ConfigError, match=r"the measure mine gave .* numbers: with `by`"):
        registry.compute(NODE, None)
