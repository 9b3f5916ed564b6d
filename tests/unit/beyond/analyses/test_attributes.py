"""Gaps over several attributes, on a made-up study of race and sex.

GAT's gap over race alone and over sex alone hides what all four groups show.
"""

import numpy as np
import pandas as pd
import pytest
from study_files import write

from beyond.analyses import attributes
from fairgat import frames

NAMES = ["race=a, b, sex=0", "race=a, b, sex=1", "race=c, sex=0", "race=c, sex=1"]
SIZES = (400, 200, 40, 100)
RATES = {  # of the four groups on two splits
    "gat": [[0.2, 0.6, 0.6, 0.2], [0.3, 0.6, 0.6, 0.3]],
    "fair": [[0.4, 0.5, 0.5, 0.4], [0.4, 0.4, 0.4, 0.5]],
}
GAPS = ("statistical_parity", "equal_opportunity")


def scores_of(rates):
    """By metric the values on each split."""
    rates = np.array(rates)
    by_race_and_sex = rates.reshape(-1, 2, 2)
    values = {}
    for group in range(4):
        values[f"positive_rate_{group}"] = rates[:, group]
        if group != 1:  # nobody of group 1 has label 1
            values[f"true_positive_rate_{group}"] = rates[:, group]
    for gap in GAPS:
        values[gap] = np.ptp(rates, axis=1)
        values[f"{gap}_race"] = np.ptp(by_race_and_sex.mean(axis=2), axis=1)
        values[f"{gap}_sex"] = np.ptp(by_race_and_sex.mean(axis=1), axis=1)
    return values


def counted():
    """How many labelled people are in each group; half of them have label 1."""
    rows = []
    for name, nodes in zip(NAMES, SIZES, strict=True):
        rows.append(("people", name, "labelled", nodes))
        rows.append(("people", name, "label_1", nodes / 2))
    return pd.DataFrame(rows, columns=["dataset", "group", "quantity", "value"])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The gaps of both methods, trained for these people's groups and for races."""
    scores = []
    for method, rates in RATES.items():
        for metric, value in scores_of(rates).items():
            elsewhere = f"{method}@race"
            scores.append(("people", method, "default", metric, value))
            scores.append(("people", elsewhere, "default", metric, value + 0.01))
        # A cell that is not compared.
        scores.append(("people", method, "other~1", GAPS[0], [0.9, 0.9]))
    folder = write(tmp_path_factory.mktemp("x") / "groups", scores, graphs=counted())

    # Comparisons are of what is trained on a data set: on people, and on race.
    differences = frames.read(folder / "differences.csv")
    on_people = differences[~differences["method"].str.contains("@")]
    on_race = on_people.assign(dataset="race", dataset_title="Race")
    frames.write(folder / "differences.csv", pd.concat([on_people, on_race]))

    attributes.main(folder)
    return frames.read(folder / "attributes.csv")


@pytest.fixture
def parity(rows):
    """Gaps of the positive rates, by the method and what they are over."""
    of_measure = rows[rows["measure"] == "statistical_parity"]
    return of_measure.set_index(["method", "over"])


def test_there_is_a_row_for_each_method_gap_and_attribute(rows):
    assert len(rows) == 4 * 2 * 3
    assert set(rows["n_splits"]) == {2}
    assert set(rows["cell"]) == {"default"}


def test_attributes_alone_may_hide_what_all_groups_show(parity):
    assert parity["mean"]["gat"].to_dict() == pytest.approx(
        {"all groups": 0.35, "race": 0.0, "sex": 0.0}, abs=1e-9
    )


@pytest.mark.parametrize("method", ["fair", "fair@race"])
def test_a_difference_is_to_gat_trained_where_the_method_was(parity, method):
    assert parity.loc[(method, "all groups"), "difference"] == pytest.approx(-0.25)
    assert np.isfinite(parity.loc[(method, "race"), "low"])
    assert np.isfinite(parity.loc[(method, "race"), "high"])


def test_gat_has_no_difference(parity):
    assert np.isnan(parity.loc[("gat", "race"), "low"])


def test_the_groups_with_the_lowest_and_the_highest_rate_are_named(rows, parity):
    of_gat = parity.loc[("gat", "all groups")]

    assert of_gat["lowest"] == NAMES[0]
    assert of_gat["highest"] == NAMES[1]
    # A group without a rate is not named.
    found = rows.set_index(["method", "measure", "over"])
    opportunity = found.loc[("gat", "equal_opportunity", "all groups")]
    assert opportunity["highest"] == NAMES[2]


@pytest.mark.parametrize(("over", "sizes"), [("race", (180, 42)), ("sex", (132, 90))])
def test_equal_rates_have_a_gap_by_chance(parity, over, sizes):
    """Between two groups that of a normal difference; 0.3 of the people are tested."""
    rate = np.average(np.mean(RATES["gat"], axis=0), weights=SIZES)
    variance = rate * (1 - rate) * (1 / sizes[0] + 1 / sizes[1])

    found = parity.loc[("gat", over), "chance"]

    assert found == pytest.approx(np.sqrt(2 / np.pi * variance), rel=0.03)


def test_the_gap_by_chance_grows_with_more_and_smaller_groups(rows):
    of_gat = rows[rows["method"] == "gat"]
    chance = of_gat.pivot(index="over", columns="measure", values="chance")

    for single in ("race", "sex"):
        assert (chance.loc["all groups"] > chance.loc[single]).all()
    # True positives are of half the people.
    assert (chance["equal_opportunity"] > chance["statistical_parity"]).all()


def test_the_figure_has_a_line_for_every_method_with_all_gaps(rows):
    titles = {"gat": "GAT", "fair": "Fair"}
    datasets = {"people": "People", "race": "Race"}

    parity, opportunity = attributes.figure(rows, titles, datasets).axes

    lines = [label.get_text() for label in parity.get_yticklabels()]
    legend = [text.get_text() for text in opportunity.get_legend().get_texts()]
    of_gat = [each.lines[0].get_xdata()[0] for each in parity.containers]
    assert lines == ["GAT", "GAT, trained on Race", "Fair", "Fair, trained on Race"]
    assert legend == ["if rates were equal", "all groups", "race", "sex"]
    np.testing.assert_allclose(of_gat, [35, 0, 0], atol=1e-9)
