"""The registry, and what a configuration asks of it, are checked before a run."""

from dataclasses import replace

import pytest
import small_studies
from small_results import NODE

from fairgat import config
from fairgat.errors import ConfigError
from fairgat.measures import checks, registry


def test_the_registry_and_the_configuration_as_they_are_are_accepted():
    checks.check(config.load_files("config.yaml"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "f1"}, "two measures of node_classification are called 'f1'"),
        ({"better": "lowwer"}, "mine: better is "),
        ({"by": "groups"}, "mine: by is .* not 'groups'"),
        ({"roles": ("shwon",)}, "mine has an unknown role; did you mean 'shown'"),
    ],
    ids=["name", "better", "by", "role"],
)
def test_an_entry_that_would_mislead_is_refused_at_the_start(
    monkeypatch, changes, message
):
    mine = replace(registry.ACCURACY, name="mine")
    entries = (*registry.MEASURES[NODE], replace(mine, **changes))
    monkeypatch.setitem(registry.MEASURES, NODE, entries)

    with pytest.raises(ConfigError, match=message):
        checks.check(config.load_files("config.yaml"))


def with_study(**study):
    """A configuration with a study that has these keys, too."""
    content = small_studies.content({"cora": NODE}, {"fairgat": {}}, **study)
    return config.load(content)


@pytest.mark.parametrize(
    "study",
    [
        {},
        {"metrics": ["accuracy", "positive_rate_1"]},
        {"metrics": ["accuracy"], "epochs": [("qian", "accuracy")]},
    ],
    ids=["by default", "of a group", "with rules for the epoch"],
)
def test_a_study_may_ask_for_measures(study):
    checks.check(with_study(**study))


@pytest.mark.parametrize(
    ("name", "advice"),
    [("acuracy", "did you mean 'accuracy'"), ("dp_mixed", "")],
    ids=["misspelt", "of the other task"],
)
def test_an_unknown_measure_of_a_study_is_refused(name, advice):
    message = rf"study\.metrics: '{name}' is not a measure of {NODE}; .*{advice}"

    with pytest.raises(ConfigError, match=message):
        checks.check(with_study(metrics=[name]))


def test_a_measure_that_is_not_kept_under_other_rules_is_refused():
    message = r"with `epochs` there are only accuracy, .* not auc"

    with pytest.raises(ConfigError, match=message):
        checks.check(with_study(metrics=["auc"], epochs=[("qian", "accuracy")]))


def test_an_unknown_measure_of_a_table_is_refused():
    content = small_studies.content({"cora": NODE}, {"fairgat": {}})
    table = {"kind": "scores", "task": NODE, "measures": ["acuracy"]}

    with pytest.raises(ConfigError, match=r"tables\.mine\.measures: 'acuracy' is not"):
        checks.check(config.load(content | {"tables": {"mine": table}}))
