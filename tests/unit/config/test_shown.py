"""What pages are given of the configuration: what they show, and no more."""

import pytest
from small_results import LINK, NODE

from fairgat import config
from fairgat.config import shown
from fairgat.plan import Plan


def params(content):
    """The params of every table and figure, as their rules pass them."""
    plan, made = Plan(config.load(content)), {}
    for name in plan.config.tables:
        page = plan.table(name)
        made[name] = shown.table_settings(plan.config, name, page.task, trained="selection" in page.reads)
    for name in plan.config.figures:
        made[f"figure {name}"] = shown.figure_settings(plan.config, name, plan.figure(name).task)
    made |= {"explorer": shown.explorer_settings(plan.config)}
    return {name: settings.model_dump(mode="json", exclude_unset=True) for name, settings in made.items()}


@pytest.fixture(scope="module")
def content(plan):
    return plan.config.model_dump(exclude_unset=True)


def test_params_are_a_configuration_again(content):
    for settings in params(content).values():
        again = shown.Shown.model_validate(settings)
        assert again.model_dump(mode="json", exclude_unset=True) == settings


def test_what_a_page_does_not_show_renders_nothing_again(content):
    grid = {"fairgat": content["methods"]["fairgat"] | {"grid": {"eta": [0.1]}, "settings": {"center": True}}}
    other = {"seed": 3, "splits": {"count": 9}, "training": {NODE: {"epochs": 7}}, "runtime": {"epochs": 2}}
    other |= {"audit": {"margins": {"accuracy": 0.5}}, "methods": content["methods"] | grid, "results_dir": "x"}
    assert params(content | other) == params(content)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"selection": {"rule": "paper"}}, []),
        ({"aggregation": {"ddof": 0}}, []),
        ({"note": "Mine."}, []),
        ({"title": "Mine"}, ["comparison", "theory", "figure theory"]),
        ({"datasets": {"more": {"task": LINK}}}, ["comparison", "ablation", "theory", "figure runtime"]),
    ],
)
def test_what_it_shows_renders_it_again(content, change, same):
    changed = {key: content.get(key, {}) | value if isinstance(value, dict) else value for key, value in change.items()}
    before, after = params(content), params(content | changed)
    equal = {name for name in before if before[name] == after[name]}
    assert set(same) <= equal < set(before)
    assert bool(same) == bool(equal)
