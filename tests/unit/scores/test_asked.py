"""Runs that are not the ones that the configuration asks for, as after `--touch`."""

import json

import pytest
from dense import run_job, small_graph

from fairgat.config import NodeTraining
from fairgat.errors import DataError
from fairgat.plan import Run
from fairgat.scores.asked import Asked, check_settings
from fairgat.training.record import Record

TRAINING = {"epochs": 3, "hidden": 6}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The run.json of a run of GAT."""
    folder = tmp_path_factory.mktemp("run")
    protocol = NodeTraining(**TRAINING)
    run_job(folder, "gat", graph=small_graph(), protocol=protocol)
    return folder / "gat/run.json"


@pytest.fixture
def check(path):
    """Ask for the run, with something changed in what is asked for or recorded."""
    content = json.loads(path.read_text())

    def check(recorded=None, training=None, seed=0, module="gat", settings=None):
        record = Record.model_validate(content | (recorded or {}))
        asked = Asked(
            run=Run("node_classification", "test", "gat", "default", 0),
            module=module,
            settings=settings or {},
            training=TRAINING | (training or {}),
            seed=seed,
        )
        asked.check(path, record)

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
    ids=["width", "rate", "seed", "split", "data set", "cell", "no seed"],
)
def test_another_run_is_refused(check, path, change, words):
    with pytest.raises(DataError, match="Delete it and run again") as error:
        check(**change)

    message = str(error.value)
    assert message.startswith(f"{path} was trained with ")
    assert words in message


@pytest.mark.parametrize(
    "recorded",
    [
        {"module": "of_an_earlier_version"},
        {"experiment": {"seed": 0, "threads": 7, "device": "cuda"}},
    ],
    ids=["module", "threads and device"],
)
def test_names_of_modules_threads_and_devices_do_not_count(check, recorded):
    check(recorded=recorded)


DEFAULT = {"adversary_weight": 0.01}


def test_a_setting_that_was_not_given_has_its_default(check):
    check(recorded={"settings": {}}, module="fairgnn", settings=DEFAULT)


def test_another_setting_is_refused(check):
    recorded = {"settings": {"adversary_weight": 0.5}}

    with pytest.raises(DataError, match=r"settings\.adversary_weight: 0\.5, and 0\.01"):
        check(recorded, module="fairgnn", settings=DEFAULT)


def test_a_setting_that_this_version_lacks_is_refused(check):
    with pytest.raises(DataError, match="not of this version"):
        check(recorded={"settings": {"gone": 1}})


def test_settings_are_compared_with_their_defaults():
    """An earlier run need not have recorded a setting that there was not yet."""
    asked, trained = {"eta": 1.0, "center": "false"}, {"eta": 1.0}
    check_settings("runs.csv", "fairgat", asked, trained)

    message = r"settings\.center: False, and True is asked for\. Do this"
    with pytest.raises(DataError, match=message):
        check_settings("runs.csv", "fairgat", {"center": True}, {}, advice="Do this")
