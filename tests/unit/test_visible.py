"""What `make own` says last: the smallest change of a gap that can be seen."""

import pandas as pd
import pytest

from fairgat.scores import paired
from tools import visible


def differences(splits):
    """Of two methods, whose gaps differ by ±1 or ±3 points from split to split."""
    rows = []
    for method, spread in (("mlp", 0.01), ("fairgat", 0.03)):
        for metric in ("statistical_parity", "equal_opportunity", "auc"):
            for split in range(splits):
                value = 0.1 + spread * (-1) ** split
                rows.append((method, metric, value, 0.1))
    pairs = pd.DataFrame(rows, columns=["method", "metric", "value", "base"])
    frame = paired.differences(pairs, ["method", "metric"])
    frame["corrected"] = paired.half_width(frame, 0.75)
    return frame


def of_mlp(**values):
    """The accuracy of an MLP less GAT's over five splits, with changes."""
    row = {"method": "mlp", "of": "gat", "metric": "accuracy", "n_splits": 5}
    return pd.DataFrame([row | values])


def test_the_sizes_are_those_of_the_intervals():
    said = visible.sentence(differences(10))
    # t = 2.262 times a spread of 1.05 and 3.16, over the root of 10, and in the middle
    assert "10 splits of these people a change of ΔSP below 1.5 points" in said
    assert "ΔEO below 1.5 points is not told from none" in said
    assert "for other people like them, one of ΔSP below 4.4 points" in said


def test_one_split_shows_nothing():
    assert visible.sentence(differences(1)).startswith("One split shows no difference")


@pytest.mark.parametrize(
    ("low", "said"),
    [
        pytest.param(0.001, "4.0 points more accurate than GAT's", id="more accurate"),
        pytest.param(-0.001, None, id="cannot be told from it"),
        pytest.param(float("nan"), None, id="one split"),
    ],
)
def test_links_that_do_not_help_are_said(low, said):
    found = visible.without_links(of_mlp(difference=0.04, low=low))
    assert said in found if said else not found


def test_of_fewer_than_five_splits_nothing_is_said_of_links():
    assert not visible.without_links(of_mlp(difference=0.04, low=0.01, n_splits=4))


def test_each_of_several_data_sets_has_its_own_sentences():
    here = of_mlp(difference=0.04, low=0.01, dataset_title="Here")
    there = of_mlp(difference=0.02, low=0.01, dataset_title="There")
    elsewhere = of_mlp(difference=0.02, low=-0.01, dataset_title="Elsewhere")

    alone = visible.sentences(here)
    several = visible.sentences(pd.concat([here, there, elsewhere]))

    assert [text.partition(" points")[0] for text in several] == [
        "Here: Without links (MLP) predictions are 4.0",
        "There: Without links (MLP) predictions are 2.0",
    ]
    assert several[0] == f"Here: {alone[0]}"


def test_what_is_said_of_gat_is_compared_with_gat():
    assert not visible.without_links(of_mlp(difference=0.04, low=0.01, of="fairgat"))


def test_of_links_the_gaps_of_pairs_are_told():
    of_pairs = {"statistical_parity": "dp_mixed", "equal_opportunity": "eo_mixed"}
    frame = differences(10).replace({"metric": of_pairs})
    assert "ΔDP_m below 1.5 points or ΔEO_m below" in visible.sentence(frame)


def test_where_no_gap_is_compared_nothing_is_said():
    frame = differences(10)
    assert not visible.sentence(frame[frame["metric"] == "auc"])
    assert not visible.sentence(frame.assign(difference=float("nan")))


def test_without_an_mlp_nothing_is_said_of_links():
    assert not visible.without_links(differences(3).assign(of="gat", method="fairgat"))
