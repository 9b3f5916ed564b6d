"""What pages are given of the configuration: what they show, and no more."""

import re
from pathlib import Path

import pytest
from small_results import LINK, NODE

from fairgat import config
from fairgat.config import shown
from fairgat.plan import Plan

ROOT = Path(__file__).resolve().parents[3]
OVERLAYS = [*ROOT.glob("configs/*.yaml"), *ROOT.glob("beyond/studies/*.yaml")]


def params(content):
    """The params of every table and figure, as their rules pass them."""
    plan = Plan(config.load(content))
    made = {}
    for name in plan.config.tables:
        task = plan.table(name).task
        made[name] = shown.table_settings(plan.config, name, task)
    for name in plan.config.figures:
        task = plan.figure(name).task
        made[f"figure {name}"] = shown.figure_settings(plan.config, name, task)
    return {name: dumped(settings) for name, settings in made.items()}


def dumped(settings):
    return settings.model_dump(mode="json", exclude_unset=True)


@pytest.fixture(scope="module")
def content(plan):
    """The configuration of the small finished run."""
    return plan.config.model_dump(exclude_unset=True)


def test_params_are_a_configuration_again(content):
    for settings in params(content).values():
        assert dumped(shown.Shown.model_validate(settings)) == settings


def files_of_command(overlay):
    """The files that the command in an overlay's first comment lays over each other."""
    command = re.search(
        r"^#[^\n]*?--config(?:file)? (.*?)(^#$|^[^#])",
        overlay.read_text(),
        re.MULTILINE | re.DOTALL,
    )
    named = re.findall(r"(?:configs|beyond/studies)/\S+\.yaml", command[1])
    own = overlay.relative_to(ROOT).as_posix()
    return [ROOT / name for name in dict.fromkeys([*named, own])]


@pytest.mark.parametrize("overlay", sorted(OVERLAYS), ids=lambda path: path.stem)
def test_the_command_of_every_overlay_can_be_run_on_one_data_set(overlay):
    laid = config.load_files(ROOT / "config.yaml", *files_of_command(overlay))
    whole = laid.model_dump(exclude_unset=True)

    for dataset in laid.datasets_run:
        assert params(whole | {"only_datasets": [dataset]})


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 3},
        {"splits": {"count": 9}},
        {"training": {NODE: {"epochs": 7}}},
        {"runtime": {"epochs": 2}},
        {"audit": {"margins": {"accuracy": 0.5}}},
        {"results_dir": "x"},
    ],
    ids=str,
)
def test_what_a_page_does_not_show_renders_nothing_again(content, change):
    assert params(content | change) == params(content)


def with_fairgat(content, **changes):
    """The methods, with another entry of FairGAT."""
    fairgat = content["methods"]["fairgat"] | changes
    return content | {"methods": content["methods"] | {"fairgat": fairgat}}


def test_a_methods_settings_and_grid_render_nothing_again(content):
    other = with_fairgat(content, grid={"eta": [0.1]}, settings={"center": True})

    assert params(other) == params(content)


@pytest.mark.parametrize(
    "change",
    [
        {"selection": {"rule": "paper"}},
        {"aggregation": {"ddof": 0}},
        {"note": "Mine."},
    ],
    ids=str,
)
def test_what_every_page_shows_renders_all_again(content, change):
    before, after = params(content), params(content | change)

    for name in before:
        assert after[name] != before[name]


def test_a_further_data_set_renders_the_pages_of_its_task_again(content):
    before = params(content)
    datasets = content["datasets"] | {"more": {"task": LINK}}

    after = params(content | {"datasets": datasets})

    assert after["link_prediction"] != before["link_prediction"]
    for name in ("comparison", "ablation", "theory", "figure runtime"):
        assert after[name] == before[name]


def test_fewer_methods_render_the_pages_that_had_them_again(content):
    before = params(content)

    after = params(content | {"only_methods": ["gat", "fairgat"]})

    assert after["comparison"] != before["comparison"]
    assert after["link_prediction"] == before["link_prediction"]


def names(entries):
    return [entry.name for entry in entries]


@pytest.fixture
def fewer(content):
    """The configuration of one data set and two methods."""
    fewer = {"only_datasets": ["recidivism"], "only_methods": ["nifty", "gat"]}
    return config.load(content | fewer)


def test_a_table_shows_what_was_asked_for(fewer):
    table = shown.table_settings(fewer, "comparison", NODE)

    assert names(table.datasets) == ["recidivism"]
    assert table.rows == ["gat", "nifty"]


def test_a_figure_shows_what_is_run_of_its_task(fewer):
    runtime = shown.figure_settings(fewer, "runtime", NODE)
    curves = shown.figure_settings(fewer, "curves_link_prediction", LINK)

    assert names(runtime.datasets) == ["recidivism"]
    assert runtime.rows == ["gat", "nifty"]
    assert curves.rows == ["gat"]


def test_the_figure_of_times_shows_what_is_timed_and_not_trained(content):
    timed = {"title": "Timed", "module": "gat", "tasks": []}
    methods = content["methods"] | {"timed": timed}
    tables = {"runtime": {"methods": ["gat", "timed"], "task": NODE}}
    loaded = config.load(content | {"methods": methods, "tables": tables})

    figure = shown.figure_settings(loaded, "runtime", NODE)

    assert figure.rows == shown.table_settings(loaded, "runtime", NODE).rows
    assert "timed" in figure.rows


def test_a_figure_has_the_methods_of_the_table_of_its_name(content):
    rows = ["fairgat", "gat"]
    tables = {"mine": {"kind": "scores", "task": NODE, "methods": rows}}
    loaded = config.load(content | {"tables": tables})

    assert shown.table_settings(loaded, "mine", NODE).rows == rows
    assert shown.figure_settings(loaded, "mine", NODE).rows == rows


@pytest.mark.parametrize(
    ("others", "rows"),
    [
        ({}, ["gat", "fairgat"]),
        ({"others": True}, ["gat", "fairgat", "edits", "nifty", "fairgat-steps-12"]),
    ],
    ids=["by default", "others"],
)
def test_a_table_has_its_own_methods_and_others_if_it_says_so(content, others, rows):
    table = {"methods": ["gat", "fairgat"], **others}
    loaded = config.load(content | {"tables": {"comparison": table}})

    settings = shown.table_settings(loaded, "comparison", NODE)

    assert settings.rows == rows


def test_a_table_names_the_methods_that_no_table_has(content):
    tables = {"comparison": {"methods": ["gat", "fairgat", "edits"]}}
    loaded = config.load(content | {"tables": tables})

    settings = shown.table_settings(loaded, "comparison", NODE)

    assert settings.left_out == ["NIFTY", "Steps 1&2"]


def test_a_table_that_has_the_others_leaves_none_out(content):
    tables = {"comparison": {"methods": ["gat"], "others": True}}
    loaded = config.load(content | {"tables": tables})

    assert shown.table_settings(loaded, "comparison", NODE).left_out == []


def test_a_figure_without_a_table_of_its_name_has_every_method(content):
    tables = {"comparison": ["gat"]}
    loaded = config.load(content | {"tables": tables})

    settings = shown.figure_settings(loaded, "curves_node_classification", NODE)

    assert settings.rows == ["gat", "edits", "nifty", "fairgat", "fairgat-steps-12"]


@pytest.mark.parametrize(
    ("name", "more", "compared"),
    [
        pytest.param("recidivism", {}, True, id="a data set of the paper"),
        pytest.param("mine", {"stands_for": "recidivism"}, True, id="one in its place"),
        pytest.param("mine", {}, False, id="another"),
    ],
)
def test_pages_show_the_paper_where_the_run_is_about_it(content, name, more, compared):
    loaded = config.load(
        {
            "datasets": {name: {"task": NODE, "source": "synthetic", **more}},
            "methods": {"gat": {"tasks": [NODE]}},
            "tables": {"comparison": ["gat"]},
        }
    )

    settings = shown.table_settings(loaded, "comparison", NODE)

    assert settings.compares_with_paper is compared


def test_a_table_says_why_a_data_set_is_not_run(content):
    table = shown.table_settings(config.load(content), "comparison", NODE)

    reasons = {each.name: each.reason for each in table.datasets}
    assert list(reasons)[:2] == ["pokec-z", "recidivism"]
    assert reasons["pokec-z"]
    assert reasons["recidivism"] is None
    assert table.rows == ["gat", "edits", "nifty", "fairgat"]


def test_the_audit_says_what_the_paper_leaves_open_and_how_it_is_settled(content):
    centred = config.load(with_fairgat(content, settings={"center": True}))

    settings = shown.audit_settings(centred)

    values = {each.setting: each.value for each in settings.decisions}
    assert values["selection.rule"] == "fair"
    assert values["methods.fairgat.settings.center"] == "True"
    assert values[None] is None


def test_intervals_for_other_people_go_by_test_and_training_examples(content):
    settings = shown.audit_settings(config.load(content))

    assert settings.ratios == pytest.approx({NODE: 0.3 / 0.4, LINK: 0.2 / 0.7})
