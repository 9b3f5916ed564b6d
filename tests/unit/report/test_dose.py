"""The study of the share: its curve, its prediction and its figure, and the shipped study."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairgat import config, methods
from fairgat.config import shown
from fairgat.report import dose
from fairgat.scores.shares import least_gap

ROOT = Path(__file__).resolve().parents[3]
NODE = "node_classification"
SHARES = (0.25, 0.5, 0.75)


@pytest.fixture
def asked():
    node = {"tasks": [NODE]}
    content = {
        "datasets": {"d": {"task": NODE, "title": "D"}},
        "methods": {
            "gat": node,
            "step": {**node, "module": "fairgat", "grid": {"alpha_chi_max": [*SHARES]}},
            "other": {**node, "module": "bemap"},
        },
        "study": {
            "name": "mine", "title": "Mine", "part": "test", "dose": "alpha_chi_max",
            "rows": [{"method": name, "of": "gat", "title": name, "changes": "x"} for name in ("step", "other")],
        },
    }  # fmt: skip
    return shown.study_settings(config.load(content))


CELLS = [("gat", "default", 0.5), ("other", "default", 0.3), *(("step", f"alpha_chi_max~{s}", s) for s in SHARES)]
EACH = [({"dataset": "d", "method": method, "cell": cell, "split": split}, share)
        for method, cell, share in CELLS for split in range(3)]  # fmt: skip


def runs():
    """GAT has accuracy 0.9 and gaps of 0.08; step 1 loses 0.1 of the share, and ΔSP falls with it."""
    lines = []
    for run, share in EACH:
        share *= run["method"] != "gat"
        values = {"accuracy": 0.9 - 0.1 * share, "statistical_parity": 0.08 - 0.04 * share,
                  "equal_opportunity": 0.08, "auc": 0.5}  # fmt: skip
        for metric, value in values.items():
            common = run | {"metric": metric, "part": "test", "reason": ""}
            lines.append(common | {"protocol": "", "value": value + 0.01 * run["split"]})
            lines.append(common | {"protocol": "last", "value": 0.0})
    return pd.DataFrame(lines)


def accounts():
    """Of logits that differ by 0.4 less mixing, which is (1 - 1.9 share) times 0.8; the others give 0.3 and 0.5."""
    lines = []
    for run, share in EACH:
        factor = 1 - 1.9 * share
        parts = {"mixing": factor * 0.8, "label_selection": 0.2, "rest": 0.1, "gate": 0.1}
        terms = parts | {"gap": sum(parts.values()), "factor": factor, "between": 0.8, "spread": 2.0, "reach": 1.9}
        lines += [run | {"layer": "logit", "over": over, "group": 1} | terms for over in ("all", "label 1", "label 0")]
    return pd.DataFrame(lines)


def test_the_curve_has_every_cell_at_its_share(asked):
    found = dose.curve(asked, runs(), accounts()).set_index(["method", "cell"])
    assert found["share"].to_dict() == pytest.approx(
        {("gat", "default"): 0.5, ("other", "default"): 0.3, **{("step", f"alpha_chi_max~{s}"): s for s in SHARES}}
    )
    step = found.loc["step"]
    np.testing.assert_allclose(step["accuracy_difference"], [-0.1 * share for share in SHARES])
    np.testing.assert_allclose(step["statistical_parity"], [0.09 - 0.04 * share for share in SHARES])
    assert found.loc[("gat", "default")][["accuracy_difference", "accuracy_low"]].isna().all()
    np.testing.assert_allclose(step["all_mixing"], [0.8 * (1 - 1.9 * share) for share in SHARES])
    np.testing.assert_allclose(found["label_1_optimum"], 1 / 1.9)


def test_the_prediction_knows_gat_and_equal_shares_alone(asked):
    curve = dose.curve(asked, runs(), accounts())
    found = dose.predicted(asked, curve, accounts()).set_index("over")
    assert list(found.index) == ["all", "label 1"]
    share, _ = least_gap(accounts()[lambda frame: frame["cell"].isin(["default", "alpha_chi_max~0.5"])])
    np.testing.assert_allclose(found["predicted"], share)  # (1 + 0.4 / 0.8) / 1.9
    assert share == pytest.approx(1.5 / 1.9)
    assert found["least_gap"].tolist() == [0.75, 0.75] and found.loc["all", "least_measure"] == 0.75
    far = accounts()
    far.loc[far["cell"].isin(["alpha_chi_max~0.25", "alpha_chi_max~0.75"]), ["between", "gap"]] = 1e3
    np.testing.assert_allclose(dose.predicted(asked, curve, far)["predicted"], share)  # other cells are not read


def test_the_figure_shows_the_curve(asked):
    curve = dose.curve(asked, runs(), accounts())
    axes = dose.figure(asked, curve, dose.predicted(asked, curve, accounts())).axes
    accuracy = [line for line in axes[0].lines if len(line.get_xdata()) == 3]
    np.testing.assert_allclose([accuracy[0].get_xdata(), accuracy[0].get_ydata()], [SHARES, [-2.5, -5, -7.5]])
    mixing = next(line for line in axes[3].lines if line.get_color() == dose.COLOURS["mixing"])
    np.testing.assert_allclose(mixing.get_ydata(), [0.4 * (1 - 1.9 * share) for share in SHARES])


def test_the_shipped_study():
    files = ("config.yaml", "configs/extended.yaml", "configs/more-methods.yaml", "configs/dose.yaml")
    shipped = config.load_files(*(ROOT / name for name in files))
    methods.check(shipped)
    asked = shown.study_settings(shipped)
    varied = {row.method for row in asked.rows if row.changes}
    assert varied | {"gat"} == set(shipped.tables["account"]) == set(shipped.only_methods)
    assert shipped.split_count("recidivism") == 20 and shipped.split_count("credit") == 10
