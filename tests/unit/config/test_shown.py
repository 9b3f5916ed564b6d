"""What pages are given of the configuration: what they show, and no more."""

import re
from pathlib import Path

import pytest
from small_results import LINK, NODE

from fairgat import config
from fairgat.config import shown
from fairgat.plan import Plan

ROOT = Path(__file__).resolve().parents[3]


def params(content):
    """The params of every table and figure, as their rules pass them."""
    plan, made = Plan(config.load(content)), {}
    for name in plan.config.tables:
        made[name] = shown.table_settings(plan.config, name, plan.table(name).task)
    for name in plan.config.figures:
        made[f"figure {name}"] = shown.figure_settings(
            plan.config, name, plan.figure(name).task
        )
    return {
        name: settings.model_dump(mode="json", exclude_unset=True)
        for name, settings in made.items()
    }


@pytest.fixture(scope="module")
def content(plan):
    return plan.config.model_dump(exclude_unset=True)


def test_params_are_a_configuration_again(content):
    for settings in params(content).values():
        again = shown.Shown.model_validate(settings)
        assert again.model_dump(mode="json", exclude_unset=True) == settings


@pytest.mark.parametrize(
    "overlay",
    sorted([*ROOT.glob("configs/*.yaml"), *ROOT.glob("beyond/studies/*.yaml")]),
    ids=lambda path: path.stem,
)
def test_the_command_of_every_overlay_can_be_run_on_one_data_set(overlay):
    command = re.search(
        r"^#[^\n]*?--config(?:file)? (.*?)(^#$|^[^#])",
        overlay.read_text(),
        re.MULTILINE | re.DOTALL,
    )
    named = re.findall(r"(?:configs|beyond/studies)/\S+\.yaml", command[1])
    names = dict.fromkeys([*named, overlay.relative_to(ROOT).as_posix()])
    laid = config.load_files(ROOT / "config.yaml", *(ROOT / name for name in names))
    for dataset in laid.datasets_run:
        assert params(
            laid.model_dump(exclude_unset=True) | {"only_datasets": [dataset]}
        )


def test_what_a_page_does_not_show_renders_nothing_again(content):
    grid = {
        "fairgat": content["methods"]["fairgat"]
        | {"grid": {"eta": [0.1]}, "settings": {"center": True}}
    }
    other = {
        "seed": 3,
        "splits": {"count": 9},
        "training": {NODE: {"epochs": 7}},
        "runtime": {"epochs": 2},
    }
    other |= {
        "audit": {"margins": {"accuracy": 0.5}},
        "methods": content["methods"] | grid,
        "results_dir": "x",
    }
    assert params(content | other) == params(content)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"selection": {"rule": "paper"}}, []),
        ({"aggregation": {"ddof": 0}}, []),
        ({"note": "Mine."}, []),
        ({"only_methods": ["gat", "fairgat"]}, ["link_prediction"]),
        (
            {"datasets": {"more": {"task": LINK}}},
            ["comparison", "ablation", "theory", "figure runtime"],
        ),
    ],
)
def test_what_it_shows_renders_it_again(content, change, same):
    changed = {
        key: content.get(key, {}) | value if isinstance(value, dict) else value
        for key, value in change.items()
    }
    before, after = params(content), params(content | changed)
    equal = {name for name in before if before[name] == after[name]}
    assert set(same) <= equal < set(before)
    assert bool(same) == bool(equal)


def test_a_table_shows_what_was_asked_for_and_a_figure_what_was_run(content):
    loaded = config.load(
        content | {"only_datasets": ["recidivism"], "only_methods": ["nifty", "gat"]}
    )
    table, figure = (
        shown.table_settings(loaded, "comparison", NODE),
        shown.figure_settings(loaded, "runtime", NODE),
    )
    assert [each.name for each in table.datasets] == ["recidivism"] and table.rows == [
        "gat",
        "nifty",
    ]
    assert [each.name for each in figure.datasets] == [
        "recidivism"
    ] and figure.rows == ["gat", "nifty"]
    assert shown.figure_settings(loaded, "curves_link_prediction", LINK).rows == ["gat"]
    mine = config.load(content | {"tables": {"mine": {"kind": "scores", "task": NODE}}})
    assert (
        shown.figure_settings(mine, "mine", NODE).rows
        == shown.table_settings(mine, "mine", NODE).rows
        != []
    )
    everything = shown.table_settings(config.load(content), "comparison", NODE)
    reasons = {each.name: each.reason for each in everything.datasets}
    assert (
        list(reasons)[:2] == ["pokec-z", "recidivism"]
        and reasons["pokec-z"]
        and not reasons["recidivism"]
    )
    assert everything.rows == ["gat", "edits", "nifty", "fairgat"]


def test_the_audit_says_what_the_paper_leaves_open_and_how_it_is_settled(content):
    centred = {
        "fairgat": content["methods"]["fairgat"] | {"settings": {"center": True}}
    }
    settings = shown.audit_settings(
        config.load(content | {"methods": content["methods"] | centred})
    )
    values = {each.setting: each.value for each in settings.decisions}
    assert (
        values["selection.rule"] == "fair"
        and values["methods.fairgat.settings.center"] == "True"
    )
    assert values[None] is None
    assert settings.ratios == pytest.approx({NODE: 0.3 / 0.4, LINK: 0.2 / 0.7})
