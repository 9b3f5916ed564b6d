"""A study that cannot be made, or would count something twice, is refused with what to do."""

from pathlib import Path

import pytest

from fairgat import config
from fairgat.config import shown
from fairgat.errors import ConfigError
from fairgat.tasks import measures

NODE = "node_classification"
SHIPPED = config.load_files(Path(__file__).parents[2] / "config.yaml")


def test_what_cannot_be_compared_is_refused():
    both = {"tasks": [NODE], "grid": {"eta": [0.75, 1.0]}}
    form = {"dataset": "raw", "of": "recidivism", "methods": ["fairgat"], "title": "raw", "changes": "It is raw."}
    row = {"method": "fairgat-centred", "of": "fairgat", "title": "centred", "changes": "It centres."}
    content = {
        "datasets": {"recidivism": {"task": NODE}},
        "methods": {"fairgat": both, "fairgat-centred": both | {"module": "fairgat"}},
        "study": {"name": "mine", "title": "Mine", "rows": [row]},
    }
    with pytest.raises(ConfigError, match="nothing of the study mine is run"):
        shown.study_settings(config.load(content | {"only_methods": ["fairgat"]}))
    drawn = content["study"] | {"metrics": ["accuracy"], "figure_metrics": ["auc"]}
    with pytest.raises(ConfigError, match="`figure_metrics` has auc, which `metrics` does not list"):
        config.load(content | {"study": drawn})
    wrong = content["study"] | {"metrics": ["acuracy"]}
    with pytest.raises(ConfigError, match=r"study\.metrics: 'acuracy' is not a measure; did you mean 'accuracy'"):
        measures.check(config.load(content | {"study": wrong}))
    fairdrop = {"tasks": ["link_prediction"]}
    for changed, expected in (
        ({"of": "fairgat-centred"}, "fairgat-centred of fairgat-centred: a method is compared once"),
        ({"of": "fairdrop"}, "fairgat-centred of fairdrop: they have no task in common"),
        ({"method": "twin"}, r"twin of fairgat: one of them is fairgat \(`same_as`\)"),
        (
            {"method": None, "dataset": "recidivism", "methods": ["fairgat"]},
            "study.rows.of: 'fairgat' is not a data set",
        ),
    ):
        more = {"methods": content["methods"] | {"fairdrop": fairdrop, "twin": both | {"same_as": "fairgat"}}}
        with pytest.raises(ConfigError, match=expected):
            config.load(content | more | {"study": content["study"] | {"rows": [row | changed]}})
    for changed, expected in (
        ({"metrics": ["accuracy", "auc", "accuracy"]}, "`metrics` has something twice"),
        ({"epochs": [["qian", "qian"], ["qian", "qian"]]}, "`epochs` has something twice"),
        ({"attributes": True}, "`attributes` is about test scores"),
        ({"rows": [row, row | {"of": "third"}], "dose": "eta"}, "fairgat-centred of third: with `dose`"),
        ({"rows": [form, form]}, "study.rows.dataset: raw of recidivism: fairgat is there twice"),
        ({"rows": [form | {"of": "raw"}]}, "raw of raw: a data set is compared with another form"),
        ({"rows": [form | {"methods": ["twin"]}]}, r"raw: twin is fairgat \(`same_as`\)"),
        ({"rows": [form | {"methods": ["third"]}]}, "raw: third is run `without` it"),
    ):
        more = {
            "twin": both | {"same_as": "fairgat"},
            "third": both | {"module": "gat", "grid": {}, "without": ["raw"]},
        }
        forms = {"datasets": {"recidivism": {"task": NODE}, "raw": {"task": NODE, "source": "public"}}}
        asked = {"methods": content["methods"] | more, "study": content["study"] | changed}
        with pytest.raises(ConfigError, match=expected):
            config.load(content | forms | asked)
    timed = content["methods"] | {"fairgat-centred": both | {"module": "fairgat", "tasks": []}}
    with pytest.raises(ConfigError, match=r"study\.rows\.method: fairgat-centred has `tasks: \[\]`: it is only timed"):
        config.load(content | {"methods": timed})
    with pytest.raises(ConfigError, match=r"study\.dose: the variants are compared with one cell, and fairgat has"):
        config.load(content | {"study": content["study"] | {"dose": "eta"}})
    with pytest.raises(ConfigError, match=r"study\.dose: no variant has 'etta' in its grid; did you mean 'eta'"):
        config.load(content | {"study": content["study"] | {"dose": "etta"}})
    with pytest.raises(ConfigError, match="there is no study"):
        shown.study_settings(SHIPPED)
