"""How much attention to other groups: every cell at its share, on a made-up study.

GAT has accuracy 0.9 and gaps of 0.08; with step 1 accuracy and ΔSP fall with the share.
Logits differ by 0.4 beside mixing, which is (1 - 1.9 share) times -0.8, so that GAT's
gap is positive there.
"""

import numpy as np
import pandas as pd
import pytest
from study_files import write

from beyond.analyses import dose
from fairgat import frames

SHARES = (0.25, 0.5, 0.75)
RUNS = [
    ("gat", "default", 0.5),
    ("bemap", "default", 0.3),
    ("fairgat-steps-1", "alpha_chi_max~0.25", 0.25),
    ("fairgat-steps-1", "alpha_chi_max~0.5", 0.5),
    ("fairgat-steps-1", "alpha_chi_max~0.75", 0.75),
]
PREDICTED = 1.5 / 1.9  # where 1 - 1.9 share is -0.5: mixing cancels -0.4


def accounts():
    """The accounts of the logits."""
    rows = []
    for method, cell, share in RUNS:
        factor = 1 - 1.9 * share
        run = {"dataset": "d", "method": method, "cell": cell, "layer": "logit"}
        terms = {
            "group": 1,
            "gap": -0.8 * factor - 0.4,
            "mixing": -0.8 * factor,
            "label_selection": -0.2,
            "rest": -0.1,
            "nonlinearity": -0.1,
            "factor": factor,
            "between": -0.8,
            "spread": 2.0,
            "reach": 1.9,
        }
        for split in range(3):
            for over in ("all", "label 1", "label 0"):
                rows.append(run | terms | {"split": split, "over": over})
    return pd.DataFrame(rows)


def scores():
    """The test scores of three splits."""
    listed, noise = [], 0.01 * np.arange(3)
    for method, cell, share in RUNS:
        lost = 0 if method == "gat" else share
        values = {
            "accuracy": 0.9 - 0.1 * lost,
            "statistical_parity": 0.08 - 0.04 * lost,
            "equal_opportunity": 0.08,
            "auc": 0.5,
        }
        for metric, value in values.items():
            listed.append(("d", method, cell, metric, value + noise))
    return listed


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder of the analysed study."""
    folder = tmp_path_factory.mktemp("shares") / "dose"
    write(folder, scores(), accounts=accounts())
    dose.main(folder)
    return folder


@pytest.fixture
def curve(study):
    return frames.read(study / "curve.csv")


@pytest.fixture
def forecast(study):
    return frames.read(study / "predicted.csv")


def test_every_cell_stands_at_its_share(curve):
    """Given, or what the method turns out to give."""
    found = curve.set_index(["method", "cell"])["share"]

    expected = {(method, cell): share for method, cell, share in RUNS}
    assert found.to_dict() == pytest.approx(expected)


def test_cells_have_their_scores_their_differences_and_their_account(curve):
    steps = curve[curve["method"] == "fairgat-steps-1"]

    shares = np.array(SHARES)
    np.testing.assert_allclose(steps["accuracy_difference"], -0.1 * shares)
    np.testing.assert_allclose(steps["statistical_parity"], 0.09 - 0.04 * shares)
    np.testing.assert_allclose(steps["all_mixing"], -0.8 * (1 - 1.9 * shares))
    np.testing.assert_allclose(steps["label_1_optimum"], 1 / 1.9)


def test_gat_has_no_difference_to_itself(curve):
    (gat,) = curve[curve["method"] == "gat"].itertuples()

    assert np.isnan(gat.accuracy_difference)
    assert np.isnan(gat.accuracy_low)


def test_accounts_of_three_groups_are_left_out():
    """There is one for each against the rest, and no mean of these."""
    parts = [accounts().assign(group=group) for group in range(3)]

    assert dose.of_two_groups(pd.concat(parts)).empty


@pytest.mark.parametrize("lacking", ["step 1", "two groups"])
def test_a_study_without_a_forecast_is_drawn_all_the_same(tmp_path, lacking):
    found, known = scores(), accounts()
    if lacking == "step 1":
        found = [row for row in found if row[1] != dose.STEP_1]
        known = known[known["method"] != dose.STEP_1]
    else:
        known = pd.concat([known.assign(group=group) for group in range(3)])
    folder = write(tmp_path, found, accounts=known)

    paths = dose.main(folder)

    assert folder / "dose.svg" in paths
    assert frames.read(folder / "predicted.csv").empty


def test_the_forecast_says_where_mixing_cancels_the_rest(forecast):
    rows = forecast.set_index("over")

    assert rows["predicted"].to_dict() == pytest.approx(
        {"all": PREDICTED, "label 1": PREDICTED}
    )
    assert rows["least_gap"].to_dict() == {"all": 0.75, "label 1": 0.75}
    assert rows.loc["all", "least_measure"] == 0.75


def test_the_forecast_knows_gat_and_equal_shares_alone(curve):
    others = accounts()
    is_other = others["cell"].isin(["alpha_chi_max~0.25", "alpha_chi_max~0.75"])
    others.loc[is_other, ["between", "gap"]] = 1e3

    forecast = dose.predicted(curve, others)

    np.testing.assert_allclose(forecast["predicted"], PREDICTED)


def test_without_anyone_of_label_1_there_is_no_least_gap(curve):
    lacking = curve.assign(equal_opportunity=np.nan)
    of_label_1 = [name for name in curve if name.startswith("label_1")]
    lacking[of_label_1] = np.nan

    forecast = dose.predicted(lacking, accounts()).set_index("over")

    assert np.isnan(forecast.loc["label 1", "least_gap"])
    assert np.isnan(forecast.loc["label 1", "least_measure"])


def test_the_figure_of_differences_has_a_line_over_the_shares(curve):
    titles = dict.fromkeys(curve["method"], "A method")

    drawn = dose.differences(curve, titles, {"d": "D"})

    lines = [line for line in drawn.axes[0].lines if len(line.get_xdata()) == 3]
    np.testing.assert_allclose(lines[0].get_xdata(), SHARES)
    np.testing.assert_allclose(lines[0].get_ydata(), [-2.5, -5, -7.5])


def test_the_figure_of_the_account_is_signed_so_that_gats_gap_is_positive(
    curve, forecast
):
    ax = dose.parts(curve, forecast, {"d": "D"}).axes[0]

    (mixing,) = [
        line for line in ax.lines if line.get_color() == dose.COLOURS["mixing"]
    ]
    expected = 0.4 * (1 - 1.9 * np.array(SHARES))  # in standard deviations
    np.testing.assert_allclose(mixing.get_ydata(), expected)
