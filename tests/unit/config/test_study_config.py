"""A study that cannot be made, or would count something twice, is refused."""

import pytest
from small_results import LINK, NODE

from fairgat import config
from fairgat.config import study_rows
from fairgat.errors import ConfigError

BOTH = {"tasks": [NODE], "grid": {"eta": [0.75, 1.0]}}
ROW = {
    "method": "fairgat-centred",
    "of": "fairgat",
    "title": "centred",
    "changes": "It centres.",
}
FORM = {
    "dataset": "raw",
    "of": "recidivism",
    "methods": ["fairgat"],
    "title": "raw",
    "changes": "It is raw.",
}
CONTENT = {
    "datasets": {
        "recidivism": {"task": NODE},
        "raw": {"task": NODE, "source": "public"},
    },
    "methods": {
        "fairgat": BOTH,
        "fairgat-centred": BOTH | {"module": "fairgat"},
        "fairdrop": {"tasks": [LINK]},
        "third": BOTH | {"module": "gat", "grid": {}, "without": ["raw"]},
        "timed": BOTH | {"module": "fairgat", "tasks": []},
        "twin": BOTH | {"same_as": "fairgat"},
    },
    "study": {"name": "mine", "title": "Mine", "rows": [ROW]},
}


def load(only_methods=(), **study) -> config.Config:
    """The configuration with something else in its study."""
    asked = {"only_methods": list(only_methods)} if only_methods else {}
    return config.load(CONTENT | asked | {"study": CONTENT["study"] | study})


def test_a_study_has_each_method_and_its_variants_on_each_data_set():
    rows = study_rows.rows(load())

    found = [(row.dataset, row.of, row.method) for row in rows]
    assert found == [
        ("recidivism", "fairgat", "fairgat"),
        ("recidivism", "fairgat", "fairgat-centred"),
        ("recidivism", "third", "third"),
        ("raw", "fairgat", "fairgat"),
        ("raw", "fairgat", "fairgat-centred"),
    ]


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (
            {"metrics": ["accuracy"], "figure_metrics": ["auc"]},
            "`figure_metrics` has auc, which `metrics` does not list",
        ),
        ({"metrics": ["accuracy", "auc", "accuracy"]}, "`metrics` has something twice"),
        (
            {"epochs": [["qian", "qian"], ["qian", "qian"]]},
            "`epochs` has something twice",
        ),
        ({"measured_by": {"recidivism": "raw"}}, "`measured_by` is about test scores"),
    ],
    ids=["figure_metrics", "metrics", "epochs", "measured_by"],
)
def test_what_a_study_cannot_show_is_refused(study, message):
    with pytest.raises(ConfigError, match=message):
        load(**study)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"methods": ["fairgat"]},
            "a row has either a `method`, or a `dataset` and its `methods`",
        ),
        ({"method": "nobody"}, "study.rows.method: 'nobody' is not a method"),
        (
            {"of": "fairgat-centred"},
            "fairgat-centred of fairgat-centred: it is compared with itself",
        ),
        (
            {"of": "fairdrop"},
            "fairgat-centred of fairdrop: the methods have no task in common",
        ),
        (
            {"method": "timed"},
            "timed of fairgat: the methods have no task in common",
        ),
        (
            {"method": "twin"},
            r"twin of fairgat: one of the methods is fairgat \(`same_as`\)",
        ),
        (
            {"of": "twin"},
            r"centred of twin: one of the methods is fairgat \(`same_as`\)",
        ),
    ],
    ids=["both", "nobody", "itself", "tasks", "no task", "twin", "of a twin"],
)
def test_methods_that_cannot_be_compared_are_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        load(rows=[ROW | change])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"methods": []},
            "a row has either a `method`, or a `dataset` and its `methods`",
        ),
        ({"of": "fairgat"}, "study.rows.of: 'fairgat' is not a data set"),
        ({"of": "raw"}, "raw of raw: it is compared with itself"),
        (
            {"methods": ["twin"]},
            r"raw of recidivism: one of the methods is fairgat \(`same_as`\)",
        ),
        (
            {"methods": ["third"]},
            "raw of recidivism: third is run `without` one of them",
        ),
    ],
    ids=["no method", "no data set", "itself", "twin", "without"],
)
def test_forms_of_a_data_set_that_cannot_be_compared_are_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        load(rows=[FORM | change])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW, "fairgat-centred of fairgat: fairgat-centred is there twice"),
        (FORM, "raw of recidivism: fairgat is there twice"),
    ],
    ids=["method", "data set"],
)
def test_a_row_that_stands_there_twice_is_refused(row, message):
    with pytest.raises(ConfigError, match=f"study.rows: {message}"):
        load(rows=[row, row])


def test_a_study_of_which_nothing_is_run_is_refused():
    with pytest.raises(ConfigError, match="nothing of the study mine is run"):
        study_rows.rows(load(only_methods=["fairgat"]))


def test_a_configuration_without_a_study_has_no_rows():
    without = load().model_copy(update={"study": None})

    with pytest.raises(ConfigError, match="there is no study"):
        study_rows.rows(without)
