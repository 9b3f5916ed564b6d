"""`judge_from`: an earlier run's training is taken, what comes after is made anew."""

import pytest

from fairgat import config
from fairgat.errors import ConfigError
from fairgat.files import write_json, write_text
from fairgat.plan import Plan

CONTENT = {
    "datasets": {"social": {"task": "node_classification"}},
    "methods": {"gat": {"tasks": ["node_classification"]}},
    "splits": {"count": 2},
    "tables": {"comparison": ["gat"], "dataset_statistics": [], "theory": ["gat"]},
    "figures": ["curves_node_classification"],
}


@pytest.fixture
def earlier(tmp_path):
    """A published run, with scores and one file of counts."""
    folder = tmp_path / "earlier"
    write_text(folder / "summary/node_classification/runs.csv", "")
    write_text(folder / "data/graphs/social.stats.json", "{}")
    return folder


def plan(folder, **changed):
    return Plan(config.load(CONTENT | {"judge_from": str(folder)} | changed))


def test_what_is_shown_is_what_the_earlier_run_has_kept_enough_for(earlier):
    made = plan(earlier)
    assert made.tables() == ["comparison", "dataset_statistics"]
    assert made.figures() == []
    assert made.files("stats") == ["results/data/graphs/social.stats.json"]
    write_text(earlier / "theory/social/gat.csv", "")
    assert made.tables() == ["comparison", "dataset_statistics", "theory"]


def test_scores_are_judged_until_every_runs_predictions_are_there(earlier):
    made = plan(earlier)
    first, second = made.outputs("predictions.npz", "node_classification")
    assert made.judges_scores
    write_text(first, "")
    assert made.judges_scores
    write_text(second, "")
    assert not made.judges_scores
    assert first.startswith(str(earlier))
    assert not plan(earlier, judge_from=None).judges_scores


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ({"seed": 1}, "seed: 1 .*and the configuration has 0"),
        ({"splits": {"count": 5}}, "splits.count: 5 .*has 2"),
        (
            {"training": {"node_classification": {"hidden": 8}}},
            "training.node_classification.hidden: 8 .*has 128",
        ),
        (
            {"datasets": {"social": {"options": {"exclude": ["age"]}}}},
            r"datasets\.social\.options: \{'exclude': \['age'\]\} .*has \{\}",
        ),
        ({"methods": {"gat": {"seed": 7}}}, r"methods\.gat\.seed: 7 .*has 0"),
    ],
    ids=["seed", "splits", "training", "data set", "method's seed"],
)
def test_a_run_by_other_settings_is_refused(earlier, recorded, words):
    write_json(earlier / "provenance.json", {"config": {"splits": {"count": 2}}})
    plan(earlier)
    write_json(earlier / "provenance.json", {"config": recorded})
    with pytest.raises(ConfigError, match=words):
        plan(earlier)


def test_a_run_is_not_judged_into_the_results_of_another_training(earlier, tmp_path):
    own = tmp_path / "own"
    write_text(own / "runs/node_classification/social/gat/runs.csv", "")
    plan(earlier, results_dir=str(own))
    write_text(own / "runs/node_classification/social/gat/default/split-0/run.json", "")
    with pytest.raises(ConfigError, match="trainings of its own"):
        plan(earlier, results_dir=str(own))


def test_what_is_no_earlier_run_is_refused(earlier, tmp_path):
    with pytest.raises(ConfigError, match="neither runs nor summary"):
        plan(tmp_path)
    with pytest.raises(ConfigError, match="is results_dir, too"):
        plan(earlier, results_dir=str(earlier))
    write_text(earlier / "provenance.json", "{")
    with pytest.raises(ConfigError, match=r"provenance\.json is not JSON"):
        plan(earlier)


def test_settings_of_what_is_not_run_do_not_count(earlier):
    others = {"datasets": {"other": {"options": {"x": 1}}}}
    others |= {"methods": {"nifty": {"seed": 7, "settings": {}}}}
    write_json(earlier / "provenance.json", {"config": others})
    plan(earlier)


def test_a_methods_settings_are_those_that_the_earlier_run_recorded(earlier):
    assert plan(earlier).trained_settings("gat", "social") is None
    settings = {"rate": 1, "rate_of": {"social": 2}}
    recorded = {"methods": {"gat": {"settings": settings}}}
    write_json(earlier / "provenance.json", {"config": recorded})
    assert plan(earlier).trained_settings("gat", "social") == {"rate": 2}
    assert plan(earlier).trained_settings("mlp", "social") is None


@pytest.mark.parametrize("within", ["again", "../earlier/again"])
def test_results_may_lie_within_the_earlier_run(earlier, within):
    made = plan(earlier, results_dir=str(earlier / within))
    assert made.tables() == ["comparison", "dataset_statistics"]


def test_the_earlier_run_may_lie_within_the_results(earlier):
    made = plan(earlier, results_dir=str(earlier.parent))
    assert made.tables() == ["comparison", "dataset_statistics"]
    assert made.figures() == []


def test_times_that_the_earlier_run_lacks_are_not_asked_for(earlier):
    tables = {"comparison": ["gat"], "runtime": ["gat"]}
    made = plan(earlier, tables=tables)
    assert made.files("runtime") == [] and made.tables() == ["comparison"]
    write_text(earlier / "runtime/social.json", "{}")
    made = plan(earlier, tables=tables)
    assert made.files("runtime") == ["results/runtime/social.json"]
    assert made.tables() == ["comparison", "runtime"]
