"""A study that cannot be made, or would count something twice, is refused with what to do."""

import pytest

from fairgat import config, measures
from fairgat.config import study_rows
from fairgat.errors import ConfigError

NODE = "node_classification"
BOTH = {"tasks": [NODE], "grid": {"eta": [0.75, 1.0]}}
ROW = {"method": "fairgat-centred", "of": "fairgat", "title": "centred", "changes": "It centres."}
FORM = {"dataset": "raw", "of": "recidivism", "methods": ["fairgat"], "title": "raw", "changes": "It is raw."}
CONTENT = {
    "datasets": {"recidivism": {"task": NODE}, "raw": {"task": NODE, "source": "public"}},
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
        ({"epochs": [["qian", "qian"], ["qian", "qian"]]}, "`epochs` has something twice"),
        ({"measured_by": {"recidivism": "raw"}}, "`measured_by` is about test scores"),
        ({"attributes": True}, "`attributes` is no key any more: analyses/attributes.py draws it"),
        ({"rows": [ROW | {"as_good_as": "nobody"}]}, "study.rows.as_good_as: 'nobody' is not a method"),
        ({"rows": [FORM | {"as_good_as": "fairgat"}]}, "`as_good_as` chooses the cell of a `method`"),
        ({"rows": [ROW | {"of": "fairgat-centred"}]}, "fairgat-centred of fairgat-centred: a method is compared once"),
        ({"rows": [ROW | {"of": "fairdrop"}]}, "fairgat-centred of fairdrop: they have no task in common"),
        ({"rows": [ROW | {"method": "twin"}]}, r"twin of fairgat: one of them is fairgat \(`same_as`\)"),
        ({"rows": [ROW | {"method": "timed"}]}, r"timed of fairgat: it has `tasks: \[\]` and is only timed"),
        ({"rows": [FORM | {"of": "fairgat"}]}, "study.rows.of: 'fairgat' is not a data set"),
        ({"rows": [FORM, FORM]}, "study.rows.dataset: raw of recidivism: fairgat is there twice"),
        ({"rows": [FORM | {"of": "raw"}]}, "raw of raw: a data set is compared with another form"),
        ({"rows": [FORM | {"methods": ["twin"]}]}, r"raw: twin is fairgat \(`same_as`\)"),
        ({"rows": [FORM | {"methods": ["third"]}]}, "raw: third is run `without` it"),
    ],
)
def test_what_cannot_be_compared_is_refused(study, expected):
    with pytest.raises(ConfigError, match=expected):
        load(study)


def test_a_study_of_nothing_or_of_an_unknown_measure_is_refused():
    with pytest.raises(ConfigError, match="nothing of the study mine is run"):
        study_rows.study_settings(load(only_methods=["fairgat"]))
    with pytest.raises(ConfigError, match="there is no study"):
        study_rows.study_settings(load().model_copy(update={"study": None}))
    with pytest.raises(ConfigError, match=r"study\.metrics: 'acuracy' is not a measure of .*; did you mean 'accuracy'"):
        measures.check(load({"metrics": ["acuracy"]}))
