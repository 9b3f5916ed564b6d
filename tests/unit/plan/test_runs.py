"""The runs of a configuration and their files."""

from pathlib import Path

import pytest

from fairgat import config, paper
from fairgat.config import PUBLISHED
from fairgat.errors import ConfigError
from fairgat.plan import KINDS, Plan, Run

CONTENT = {
    "results_dir": "out",
    "datasets": {
        "social": {"task": "node_classification"},
        "other": {"task": "node_classification", "enabled": False, "reason": "lost"},
        "papers": {"task": "link_prediction"},
    },
    "splits": {"count": 2},
    "methods": {
        "gat": {"tasks": ["node_classification", "link_prediction"]},
        "fairgat": {"tasks": ["node_classification"], "grid": {"eta": [1, 0.5]}},
        "edits": {
            "tasks": ["node_classification"],
            "debiased": True,
            "grid": {"threshold": [0.1]},
        },
    },
    "tables": {
        "comparison": ["gat"],
        "runtime": ["fairgat"],
        "theory": ["gat"],
        "account": ["fairgat"],
        "dataset_statistics": [],
    },
    "figures": ["ablation", "theory"],
}


def plan(**changes) -> Plan:
    return Plan(config.load(CONTENT | changes))


def test_a_run_is_a_cell_on_one_split():
    runs = plan().runs("node_classification", "social", "fairgat")
    assert [(run.cell, run.split) for run in runs] == [
        ("eta~1", 0),
        ("eta~1", 1),
        ("eta~0.5", 0),
        ("eta~0.5", 1),
    ]
    assert runs[0] == Run("node_classification", "social", "fairgat", "eta~1", 0)
    assert runs[0].folder == "runs/node_classification/social/fairgat/eta~1/split-0"
    assert {run.dataset for run in plan().runs("node_classification")} == {"social"}
    assert plan().runs("node_classification", "other") == []


def test_splits_are_counted_from_the_first():
    """A split's file and folder are named by its number: the same in a run of more."""
    later = plan(splits={"count": 2, "first": 20})
    numbers = [run.split for run in later.runs("link_prediction", "papers", "gat")]
    assert numbers == [20, 21]
    assert later.splits("link_prediction", "papers") == [
        f"out/data/splits/link_prediction/papers/split-{number}.npz"
        for number in numbers
    ]
    all_of_them = plan(splits={"count": 22}).outputs("run.json", "link_prediction")
    assert set(later.outputs("run.json", "link_prediction")) < set(all_of_them)
    assert later.debiased("social", "edits")[0].endswith("/split-20.npz")


def test_files_are_those_of_what_is_run():
    made = plan()
    assert made.files("winners", "link_prediction") == [
        "out/summary/link_prediction/winners.csv"
    ]
    assert made.files("selection", "link_prediction") == [
        "out/runs/link_prediction/papers/gat/selection.json"
    ]
    assert len(made.files("histories")) == 2 * (4 + 1)
    assert made.files("debiasing") == [
        f"out/data/debiased/social/edits/split-{k}.timing.json" for k in range(2)
    ]
    assert made.files("runtime") == ["out/runtime/social.json"]
    assert made.files("theory") == ["out/theory/social/gat.csv"]
    assert made.files("theory", "link_prediction") == []
    assert made.files("account") == ["out/account/social/fairgat.csv"]
    assert made.files("stats") == [
        "out/data/graphs/social.stats.json",
        "out/data/graphs/papers.stats.json",
    ]
    assert all(made.files(kind) for kind in KINDS if kind != "audit")
    with pytest.raises(ConfigError, match="did you mean 'winners'"):
        made.files("winner")


def test_tables_and_figures_without_anything_to_show_are_left_out():
    assert plan().tables() == [
        "comparison",
        "runtime",
        "theory",
        "account",
        "dataset_statistics",
    ]
    assert plan().figures() == ["ablation", "theory"]
    assert plan(only_datasets=["papers"]).tables() == ["dataset_statistics"]
    assert plan(only_datasets=["papers"]).figures() == []
    assert plan(
        tables=CONTENT["tables"] | {"ablation": [], "comparison": []}
    ).figures() == ["theory"]
    assert plan(tables={"comparison": []}).tables() == []


def test_a_figure_is_a_module_a_module_and_a_task_or_a_table_of_scores():
    mine = {"kind": "scores", "task": "link_prediction", "methods": ["gat"]}
    made = plan(
        tables={"mine": mine, "runtime": ["gat"]},
        figures=["runtime", "curves_link_prediction", "mine", "ablation"],
    )
    assert made.figures() == made.config.figures
    pages = {name: made.figure(name) for name in made.config.figures}
    assert [page.module for page in pages.values()] == [
        "runtime",
        "curves",
        "scores",
        "scores",
    ]
    assert [page.task[:4] for page in pages.values()] == [
        "node",
        "link",
        "link",
        "node",
    ]
    with pytest.raises(
        ConfigError, match=r"tables\.mine: a table of scores needs a `task`"
    ):
        plan(tables={"mine": {"kind": "scores"}})


def test_a_run_is_about_the_paper_where_its_data_sets_or_stand_ins_are_run():
    assert plan().files("audit") == [] and not plan().config.compares_with_paper
    task = {"task": "node_classification"}
    for name, entry in {"recidivism": {}, "demo": {"stands_for": "recidivism"}}.items():
        about = plan(datasets=CONTENT["datasets"] | {name: task | entry})
        assert about.files("audit") == ["out/audit/paper_vs_reproduced.csv"]
        assert about.config.heading == "FairGAT, reproduced"
        assert not plan(
            datasets=about.config.datasets, skip=[name]
        ).config.compares_with_paper
    assert (
        plan().config.heading == "social, papers"
        and plan(title="Mine").config.heading == "Mine"
    )


def test_the_papers_data_sets_are_those_that_it_has_results_on():
    assert set(PUBLISHED) == set(paper.results()["dataset"])


def test_a_method_without_tasks_is_only_timed():
    methods = CONTENT["methods"] | {"step": {"module": "fairgat", "tasks": []}}
    made = plan(methods=methods, tables={"runtime": ["fairgat", "step"]})
    assert made.timed("social") == ["fairgat", "step"]
    assert not any("step" in path for kind in KINDS for path in made.files(kind))
    assert plan(
        methods=methods, tables=made.config.tables, only_methods=["fairgat"]
    ).timed("social") == ["fairgat"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("runs/node_classification/other/gat/runs.csv", "other is not run: lost"),
        ("runs/node_classification/other/gat/selection.json", "other is not run: lost"),
        ("theory/other/gat.csv", "other is not run: lost"),
        ("account/social/edits.csv", "edits is not run on social"),
        ("runs/link_prediction/papers/edits/runs.csv", "edits is not run on papers"),
    ],
)
def test_what_is_made_of_runs_is_not_asked_for_where_there_are_none(target, said):
    made = plan(only_methods=["gat"])
    with pytest.raises(ConfigError, match=f"out/{target}: {said}"):
        made.check_targets(["--cores", "1", f"out/{target}"])
    plan().check_targets(["out/runs/node_classification/social/edits/runs.csv"])
    # Of another run, or of no data set that is known: none of our business.
    made.check_targets([target, "out/theory/nowhere/gat.csv"])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"only_datasets": ["social"], "skip": ["social"]},
            "no data set is left",
        ),
        (
            {"only_datasets": ["papers"], "only_methods": ["fairgat"]},
            "no method is run on papers",
        ),
    ],
)
def test_a_configuration_of_which_nothing_is_run_is_refused(changes, why):
    with pytest.raises(ConfigError, match=f"nothing is run, as {why}"):
        plan(**changes).check_not_empty()


def test_a_run_may_only_time():
    methods = CONTENT["methods"] | {"fairgat": {"tasks": []}}
    tables = {"runtime": ["fairgat"]}
    only = {"methods": methods, "tables": tables, "only_methods": ["fairgat"]}
    plan(**only).check_not_empty()
    plan().check_not_empty()


def test_unknown_names_are_explained():
    with pytest.raises(
        ConfigError,
        match=r"tables: 'comparsion' is not a module in .* did you mean 'comparison'",
    ):
        plan(tables={"comparsion": []})
    with pytest.raises(
        ConfigError, match=r", theory\. A table of rows and measures has `kind: scores`"
    ):
        plan(tables={"mine": []})
    with pytest.raises(
        ConfigError, match=r"figures: 'mine' is not a module in .*[a-z]$"
    ):
        plan(figures=["mine"], tables={})
    with pytest.raises(
        ConfigError,
        match=r"methods\.mine: there is no method module fairgat/methods/gatt\.py; "
        "did you mean 'gat'",
    ):
        plan(
            methods={"gat": {"tasks": []}, "mine": {"module": "gatt", "tasks": []}},
            tables={},
        )
    drop = {"tasks": ["link_prediction"]}
    with pytest.raises(
        ConfigError,
        match=r"tables\.theory: fairdrop is no method of node classification",
    ):
        plan(
            methods=CONTENT["methods"] | {"fairdrop": drop},
            tables={"theory": ["fairdrop"]},
        )


NODE, LINK = "node_classification", "link_prediction"
WITH_MINE = CONTENT["methods"] | {"mine": {"tasks": [NODE], "module": "gat"}}


def rows(table, **changes):
    return config.load(CONTENT | changes).rows_of(table)


def test_a_method_that_no_table_names_is_a_row_where_others_are_asked_for():
    listed = {"methods": ["fairgat"], "others": True}
    tables = {"comparison": listed, "ablation": ["gat"], "link_prediction": []}
    found = rows("comparison", methods=WITH_MINE, tables=tables)
    assert found == ["fairgat", "edits", "mine"]
    only = ["mine", "fairgat"]
    found = rows("comparison", methods=WITH_MINE, tables=tables, only_methods=only)
    assert found == ["fairgat", "mine"]


def test_a_table_of_scores_without_a_list_has_what_is_run_in_the_order_asked_for():
    tables = {"comparison": {"measures": ["auc"]}, "dataset_statistics": []}
    every = ["gat", "fairgat", "edits", "mine"]
    assert rows("comparison", methods=WITH_MINE, tables=tables) == every
    only = ["mine", "gat"]
    asked = rows("comparison", methods=WITH_MINE, tables=tables, only_methods=only)
    assert asked == only
    assert rows("dataset_statistics", tables=tables) == []


def test_another_method_is_timed_beside_those_that_are_listed():
    times = {"methods": ["gat"], "others": True, "task": NODE}
    tables = {"comparison": ["gat", "fairgat", "edits"], "runtime": times}
    loaded = Plan(config.load(CONTENT | {"methods": WITH_MINE, "tables": tables}))
    assert loaded.timed("social") == ["gat", "mine"]


def test_what_is_measured_is_what_the_tables_show_whatever_their_names():
    tables = {
        "theory": ["gat"],
        "more-theory": {"kind": "theory", "methods": ["fairgat", "gat"]},
        "times": {"kind": "runtime", "methods": ["fairgat"]},
    }
    loaded = Plan(config.load(CONTENT | {"tables": tables}))
    names = [Path(path).stem for path in loaded.files("theory")]
    assert names == ["gat", "fairgat"]
    assert loaded.timed("social") == ["fairgat"]
    assert loaded.tables() == [*tables]


def test_what_no_table_of_scores_has_is_known():
    tables = {"comparison": ["gat", "fairgat"], "ablation": ["gat", "edits"]}
    loaded = config.load(CONTENT | {"methods": WITH_MINE, "tables": tables})
    assert loaded.left_out(NODE) == ["mine"]
    assert loaded.left_out(LINK) == ["gat"]


def test_the_paper_s_tables_have_every_method():
    """As config.yaml has them: what is published names no method that is left out."""
    loaded = config.load_files(config.DEFAULTS)
    for task in (NODE, LINK):
        assert loaded.unlisted(task) == loaded.left_out(task) == []
