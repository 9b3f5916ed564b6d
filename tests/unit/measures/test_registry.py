"""The list of measures: what an entry must be, and what it may give."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fairgat.errors import ConfigError
from fairgat.measures import registry

NODE = "node_classification"


def mine(of=lambda decisions: 0.5, **changes):
    """A measure of one's own."""
    measure = registry.Measure("mine", "Mine", "Mine", of, "lower", ("shown",))
    return replace(measure, **changes)


def compute(monkeypatch, *measures):
    monkeypatch.setitem(registry.MEASURES, NODE, measures)
    return registry.compute(NODE, None)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (lambda decisions: np.ones(2), r"gave \(2,\) numbers: with `by`"),
        (lambda decisions: "high", "gave 'high' in place of a number"),
        # Not: the predictions are another run's.
        (lambda decisions: int("x"), "failed: ValueError: invalid literal"),
    ],
    ids=["an array", "a text", "an error"],
)
def test_a_measure_that_fails_is_named(monkeypatch, of, message):
    with pytest.raises(ConfigError, match=f"the measure mine {message}"):
        compute(monkeypatch, mine(of))


@pytest.mark.parametrize(
    ("by", "value"),
    [("group", 0.5), ("group", {"race": 0.5}), ("attribute", np.ones(2))],
    ids=["a number", "a mapping", "an array"],
)
def test_a_measure_by_something_that_gives_another_form_is_named(
    monkeypatch, by, value
):
    of_another_form = mine(lambda decisions: value, by=by)

    with pytest.raises(ConfigError, match=f"the measure mine gave .* for each {by}"):
        compute(monkeypatch, of_another_form)


def test_a_measure_by_group_has_a_value_for_each(monkeypatch):
    by_group = mine(lambda decisions: np.array([0.25, 0.5]), by="group")

    assert compute(monkeypatch, by_group) == {"mine_0": 0.25, "mine_1": 0.5}


def test_a_measure_by_attribute_has_a_value_for_each(monkeypatch):
    by_attribute = mine(lambda decisions: {"race": 0.25}, by="attribute")

    assert compute(monkeypatch, by_attribute) == {"mine_race": 0.25}


@pytest.mark.parametrize(
    ("roles", "value"), [(("shown",), math.nan), (("chosen",), math.inf)]
)
def test_an_infinite_value_is_missing_unless_cells_are_chosen_by_it(
    monkeypatch, roles, value
):
    found = compute(monkeypatch, mine(lambda decisions: np.inf, roles=roles))

    assert found["mine"] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "which", "better"),
    [
        ("statistical_parity", "", "lower"),
        ("statistical_parity_race", "race", "lower"),
        ("statistical_parity_home_town", "home_town", "lower"),
        ("positive_rate_11", "11", None),
        ("unheard_of", "", None),
    ],
)
def test_a_measure_is_found_by_its_name(name, which, better):
    found = registry.find(name)

    assert (found.name, found.which, found.better) == (name, which, better)


def test_tables_have_the_utilities_side_by_side_and_then_the_gaps():
    assert registry.columns(NODE) == (
        "accuracy",
        "auc",
        "statistical_parity",
        "equal_opportunity",
    )


def test_cells_are_chosen_by_the_first_utility():
    assert registry.utility(NODE) == "accuracy"


OWN = """
from fairgat.measures import Measure

MEASURES = {"node_classification": [Measure("always_one", "One", "One", lambda d: 1.0)]}
"""


@pytest.fixture
def adopt(monkeypatch, tmp_path):
    """Adopt the measures of a file with some text; the registry is restored."""
    monkeypatch.setattr(registry, "MEASURES", dict(registry.MEASURES))

    def adopt(text):
        path = tmp_path / "own.py"
        path.write_text(text)
        registry.adopt([str(path)])

    yield adopt
    registry.find.cache_clear()


def test_measures_of_a_file_of_ones_own_come_after_those_of_the_registry(adopt):
    adopt(OWN)

    assert registry.names(NODE)[-1] == "always_one"
    assert registry.find("always_one").label == "One"


def test_a_file_that_is_adopted_twice_has_its_measures_once(adopt):
    adopt(OWN)
    adopt(OWN)

    assert registry.names(NODE).count("always_one") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "MEASURES must map a task"),
        ("MEASURES = {'nodes': []}", "'nodes' is no task"),
        ("MEASURES = {'node_classification': ['accuracy']}", "must map a task"),
        (f"{OWN}\nMEASURES = dict.fromkeys(MEASURES, 1)", "must map a task"),
        (
            f"{OWN}\nMEASURES = {{task: iter(MEASURES[task]) for task in MEASURES}}",
            "must map a task",
        ),
    ],
    ids=["nothing", "no task", "no measure", "no list", "an iterator"],
)
def test_a_file_without_measures_is_refused(adopt, text, message):
    with pytest.raises(ConfigError, match=message):
        adopt(text)
