"""A study's differences against what its graphs differ in: the shipped study, and the figure."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairgat import config, methods
from fairgat.config import shown
from fairgat.data import datasets
from fairgat.errors import ConfigError
from fairgat.report import along
from fairgat.tasks import measures

ROOT = Path(__file__).resolve().parents[3]
NODE = "node_classification"


def content(**varied):
    row = {"method": "fairgat", "of": "gat", "title": "FairGAT", "changes": "All steps."}
    return {
        "datasets": {**{name: {"task": NODE} for name in ("few", "some", "many")}, "cora": {"task": "link_prediction"}},
        "methods": {"gat": {"tasks": [NODE]}, "fairgat": {"tasks": [NODE]}},
        "study": {"name": "mine", "title": "Mine", "rows": [row], "along": varied},
    }


OVERLAYS = ("config.yaml", "configs/more-methods.yaml", "configs/when.yaml")


@pytest.mark.parametrize(
    ("quantity", "option"), [("group_homophily",) * 2, ("label_homophily",) * 2, ("label_gap", "dependence")]
)
def test_the_shipped_study_varies_one_quantity_at_a_time(quantity, option):
    shipped = config.load_files(*(ROOT / name for name in OVERLAYS))
    methods.check(shipped)
    names = shown.study_settings(shipped).along[quantity]
    options = [datasets.options_of(name, shipped.datasets[name]).model_dump() for name in names]
    values = [each.pop(option) for each in options]
    assert len(values) == 10 and values == sorted(set(values)) and all(each == options[0] for each in options)


@pytest.mark.parametrize(
    ("varied", "expected"),
    [
        ({"label_gap": ["few", "soem"]}, "study.along.label_gap: 'soem' is not a data set; did you mean 'some'?"),
        ({"label_gap": ["few", "cora"]}, "study.along.label_gap: cora is a data set of link prediction"),
        ({"label_gap": ["few"]}, "study.along.label_gap: expected at least 2 items"),
        ({"homophily": ["few", "some"]}, "study.along.homophily: expected 'group_homophily', 'label_homophily' or"),
    ],
)
def test_what_cannot_be_drawn_is_refused(varied, expected):
    with pytest.raises(ConfigError) as error:
        config.load(content(**varied))
    assert expected in str(error.value)


def test_the_figure_shows_what_was_measured():
    given = config.load(
        content(label_gap=["few", "some", "many"], group_homophily=["many", "few"]) | {"skip": ["some"]}
    )
    assert shown.study_settings(given).along["label_gap"] == ["few", "many"]
    stats = {
        "few": {"counts": {"label_gap": 0.2, "group_homophily": 0.9, "r_chi": {"0": 0.5, "1": 0.6}}},
        "many": {"counts": {"label_gap": 0.1, "group_homophily": 0.5, "r_chi": {"0": 0.9, "1": 1.0}}},
    }
    gains = pd.DataFrame({"dataset": ["few", "many"], "difference": [0.01, -0.02], "low": [0.0, -0.03], "high": 0.02})
    frame = gains.assign(of="gat", method="fairgat", task=NODE)
    frame = frame.merge(pd.DataFrame({"metric": measures.names(NODE, "shown")}), how="cross")
    terms = pd.DataFrame({"dataset": "few", "method": "fairgat", "layer": "conv1", "alpha_chi": 0.5, "tau": [0, 0.2]})
    axes = along.figure(shown.study_settings(given), frame, stats, terms).axes
    assert [ax.get_xlabel() for ax in axes[::4]] == ["label gap", "homophily by group"]
    accuracy, theory = axes[0].lines[-1], [line.get_ydata() for line in axes[3].lines]
    np.testing.assert_allclose([accuracy.get_xdata(), accuracy.get_ydata()], [[0.1, 0.2], [-2, 1]])
    np.testing.assert_allclose(theory, [[0.9, 0.5], [1, 0.6], [np.nan, 0.5], [np.nan, 0.1]])
