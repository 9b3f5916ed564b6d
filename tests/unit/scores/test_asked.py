"""Runs that are not the ones that the configuration asks for, as after `--touch`."""

import json

import pytest
from dense import run_job, small_graph

from fairgat.config import NodeTraining
from fairgat.errors import DataError
from fairgat.plan import Run
from fairgat.scores.asked import Asked
from fairgat.training.record import Record

TRAINING = {"epochs": 3, "hidden": 6}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A run of GAT."""
    folder = tmp_path_factory.mktemp("run")
    protocol = NodeTraining(**TRAINING)
    run_job(folder, "gat", graph=small_graph(), protocol=protocol)
    return folder / "gat/run.json"


@pytest.fixture
def check(path):
    """Ask for the run, with something changed in what is asked for or recorded."""
    content = json.loads(path.read_text())
    run = Run(*(content[key] for key in ("task", "dataset", "method", "cell", "split")))

    def check(recorded=None, training=None, seed=None, **change):
        record = Record.model_validate(content | (recorded or {}))
        asked = {
            "run": run,
            "module": "gat",
            "settings": content["settings"],
            "training": TRAINING | (training or {}),
            "seed": content["experiment"]["seed"] if seed is None else seed,
        }
        Asked(**asked | change).check(path, record)

    return check


def test_the_run_itself_is_accepted(check):
    check()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"training": {"hidden": 64}}, "training.hidden: 6, and 64 is asked for"),
        ({"training": {"learning_rate": 0.5}}, "training.learning_rate"),
        ({"seed": 7}, "seed: 0, and 7 is asked for"),
        ({"recorded": {"split": 1}}, "split: 1, and 0 is asked for"),
        ({"recorded": {"dataset": "another"}}, "dataset: another"),
        ({"recorded": {"cell": "eta~1.0"}}, "cell: eta~1.0"),
        ({"recorded": {"experiment": {}}}, "seed: None"),
    ],
)
def test_another_run_is_refused(check, path, change, words):
    with pytest.raises(DataError, match="Delete it and run again") as error:
        check(**change)
    assert str(error.value).startswith(f"{path} was trained with ")
    assert words in str(error.value)


def test_names_of_modules_threads_and_devices_do_not_count(check):
    check(recorded={"module": "of_an_earlier_version"})
    check(recorded={"experiment": {"seed": 0, "threads": 7, "device": "cuda"}})


def test_settings_are_compared_with_their_defaults(check):
    asked = {"module": "fairgnn", "settings": {"adversary_weight": 0.01}}
    check(recorded={"settings": {}}, **asked)  # 0.01 is the default
    weight = {"adversary_weight": 0.5}
    with pytest.raises(DataError, match=r"settings\.adversary_weight: 0\.5, and 0\.01"):
        check(recorded={"settings": weight}, **asked)


def test_a_setting_that_this_version_lacks_is_refused(check):
    with pytest.raises(DataError, match="not of this version"):
        check(recorded={"settings": {"gone": 1}})
