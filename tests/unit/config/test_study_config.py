"""A study that cannot be made, or would count something twice, is refused with what to do."""

import pytest

from fairgat import config
from fairgat.config import study_rows
from fairgat.errors import ConfigError
from fairgat.measures import checks

NODE = "node_classification"
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
        "fairdrop": {"tasks": ["link_prediction"]},
        "third": BOTH | {"module": "gat", "grid": {}, "without": ["raw"]},
        "timed": BOTH | {"module": "fairgat", "tasks": []},
        "twin": BOTH | {"same_as": "fairgat"},
    },
    "study": {"name": "mine", "title": "Mine", "rows": [ROW]},
}


def load(study=(), **changed) -> config.Config:
    return config.load(CONTENT | {"study": CONTENT["study"] | dict(study)} | changed)


@pytest.mark.parametrize(
    ("study", "expected"),
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
        (
            {"rows": [ROW | {"methods": ["fairgat"]}]},
            "a row has either a `method`, or a `dataset` and its `methods`",
        ),
        (
            {"rows": [FORM | {"methods": []}]},
            "a row has either a `method`, or a `dataset` and its `methods`",
        ),
        (
            {"rows": [ROW, ROW]},
            "study.rows: fairgat-centred of fairgat: fairgat-centred is there twice",
        ),
        (
            {"rows": [ROW | {"of": "fairgat-centred"}]},
            "fairgat-centred of fairgat-centred: it is compared with itself",
        ),
        (
            {"rows": [ROW | {"of": "fairdrop"}]},
            "fairgat-centred of fairdrop: the methods have no task in common",
        ),
        (
            {"rows": [ROW | {"method": "twin"}]},
            r"twin of fairgat: one of the methods is fairgat \(`same_as`\)",
        ),
        (
            {"rows": [ROW | {"of": "twin"}]},
            r"centred of twin: one of the methods is fairgat \(`same_as`\)",
        ),
        (
            {"rows": [ROW | {"method": "timed"}]},
            "timed of fairgat: the methods have no task in common",
        ),
        (
            {"rows": [ROW | {"method": "nobody"}]},
            "study.rows.method: 'nobody' is not a method",
        ),
        (
            {"rows": [FORM | {"of": "fairgat"}]},
            "study.rows.of: 'fairgat' is not a data set",
        ),
        (
            {"rows": [FORM, FORM]},
            "study.rows: raw of recidivism: fairgat is there twice",
        ),
        ({"rows": [FORM | {"of": "raw"}]}, "raw of raw: it is compared with itself"),
        (
            {"rows": [FORM | {"methods": ["twin"]}]},
            r"raw of recidivism: one of the methods is fairgat \(`same_as`\)",
        ),
        (
            {"rows": [FORM | {"methods": ["third"]}]},
            "raw of recidivism: third is run `without` one of them",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(study, expected):
    with pytest.raises(ConfigError, match=expected):
        load(study)


def test_a_study_of_nothing_or_of_an_unknown_measure_is_refused():
    with pytest.raises(ConfigError, match="nothing of the study mine is run"):
        study_rows.rows(load(only_methods=["fairgat"]))
    with pytest.raises(ConfigError, match="there is no study"):
        study_rows.rows(load().model_copy(update={"study": None}))
    checks.check(load({"metrics": ["accuracy", "positive_rate_1"]}))
    for name, advice in (
        ("acuracy", "did you mean 'accuracy'"),
        ("dp_mixed", ""),
    ):  # that of the other task
        with pytest.raises(
            ConfigError,
            match=rf"study\.metrics: '{name}' is not a measure of {NODE}; .*{advice}",
        ):
            checks.check(load({"metrics": [name]}))
    rules = [("qian", "accuracy")]  # of which AUC is not kept
    checks.check(load({"metrics": ["accuracy"], "epochs": rules}))
    with pytest.raises(
        ConfigError, match=r"with `epochs` there are only accuracy, .* not auc"
    ):
        checks.check(load({"metrics": ["auc"], "epochs": rules}))
