"""The analyses of single studies, run on small made-up ones, and on what is published."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from beyond.analyses import __main__ as analyses
from beyond.analyses import attributes, dose, lengths, trade_off
from fairgat import frames
from fairgat.errors import DataError
from fairgat.theory.account import least_gap

PUBLISHED = Path(__file__).resolve().parents[4] / "results/reference/studies"
GAPS = ["statistical_parity", "equal_opportunity"]


def write(folder, scores=(), **files):
    """A study: `scores` are (data set, method, cell, metric, values by split), perhaps with the part."""
    rows = []
    for dataset, method, cell, metric, values, *part in scores:
        given = {
            "dataset": dataset,
            "method": method,
            "cell": cell,
            "part": (part or ["test"])[0],
            "metric": metric,
        }
        rows += [
            given | {"epochs": "accuracy", "split": split, "value": value}
            for split, value in enumerate(values)
        ]
        rows.append(
            given | {"epochs": "last", "split": 0, "value": 9.0}
        )  # another rule's: read by nothing
    scores = pd.DataFrame(rows)
    runs = (
        scores[["dataset", "method", "cell"]]
        .drop_duplicates(["dataset", "method"])
        .assign(of="gat")
    )
    runs = runs.assign(
        dataset_title=runs["dataset"].str.title(),
        title=runs["method"].str.upper(),
        run_on=runs["dataset"],
    )
    files = {"differences": runs.assign(metric="accuracy"), "scores": scores} | files
    for name, frame in files.items():
        frames.write(folder / f"{name}.csv", frame)
    return folder


SHARES = (0.25, 0.5, 0.75)
RUNS = [
    ("gat", "default", 0.5),
    ("bemap", "default", 0.3),
    *(("fairgat-steps-1", f"alpha_chi_max~{s}", s) for s in SHARES),
]


def accounts():
    """Logits that differ by 0.4 beside mixing, which is (1 - 1.9 share) times -0.8: GAT's gap is positive there."""
    rows = []
    for method, cell, share in RUNS:
        factor = 1 - 1.9 * share
        parts = {
            "mixing": -0.8 * factor,
            "label_selection": -0.2,
            "rest": -0.1,
            "nonlinearity": -0.1,
        }
        terms = {
            "gap": sum(parts.values()),
            "factor": factor,
            "between": -0.8,
            "spread": 2.0,
            "reach": 1.9,
        }
        run = (
            {
                "dataset": "d",
                "method": method,
                "cell": cell,
                "layer": "logit",
                "group": 1,
            }
            | parts
            | terms
        )
        rows += [
            run | {"split": split, "over": over}
            for split in range(3)
            for over in ("all", "label 1", "label 0")
        ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def study_of_shares(tmp_path_factory):
    """GAT has accuracy 0.9 and gaps of 0.08; with step 1 accuracy and ΔSP fall with the share."""
    scores = []
    for method, cell, share in RUNS:
        lost = share * (method != "gat")
        values = {
            "accuracy": 0.9 - 0.1 * lost,
            GAPS[0]: 0.08 - 0.04 * lost,
            GAPS[1]: 0.08,
            "auc": 0.5,
        }
        scores += [
            ("d", method, cell, name, value + 0.01 * np.arange(3))
            for name, value in values.items()
        ]
    folder = write(
        tmp_path_factory.mktemp("shares") / "dose", scores, accounts=accounts()
    )
    dose.main(folder)
    return folder


def test_every_cell_stands_at_its_share_with_its_account(study_of_shares):
    rows = frames.read(study_of_shares / "curve.csv").set_index(["method", "cell"])
    assert rows["share"].to_dict() == pytest.approx(
        {(method, cell): share for method, cell, share in RUNS}
    )
    step = rows.loc["fairgat-steps-1"]
    np.testing.assert_allclose(
        step["accuracy_difference"], [-0.1 * share for share in SHARES]
    )
    np.testing.assert_allclose(
        step["statistical_parity"], [0.09 - 0.04 * share for share in SHARES]
    )
    np.testing.assert_allclose(
        step["all_mixing"], [-0.8 * (1 - 1.9 * share) for share in SHARES]
    )
    assert (
        rows.loc[("gat", "default"), ["accuracy_difference", "accuracy_low"]]
        .isna()
        .all()
    )
    np.testing.assert_allclose(rows["label_1_optimum"], 1 / 1.9)
    three = pd.concat(
        [accounts().assign(group=group) for group in range(3)]
    )  # each against the rest: no mean of these
    assert dose.of_two_groups(three).empty


def test_the_forecast_knows_gat_and_equal_shares_alone(study_of_shares):
    rows = frames.read(study_of_shares / "predicted.csv").set_index("over")
    known = accounts()[
        lambda frame: frame["cell"].isin(["default", "alpha_chi_max~0.5"])
    ]
    share, _ = least_gap(known)
    assert share == pytest.approx(1.5 / 1.9) and rows[
        "predicted"
    ].tolist() == pytest.approx([share, share])
    assert (
        rows["least_gap"].tolist() == [0.75, 0.75]
        and rows.loc["all", "least_measure"] == 0.75
    )
    far = accounts()
    far.loc[
        far["cell"].isin(["alpha_chi_max~0.25", "alpha_chi_max~0.75"]),
        ["between", "gap"],
    ] = 1e3
    curve = frames.read(study_of_shares / "curve.csv")
    np.testing.assert_allclose(dose.predicted(curve, far)["predicted"], share)
    curve[[name for name in curve if name.startswith("label_1")]] = (
        np.nan
    )  # a group without anyone of label 1
    lacking = dose.predicted(
        curve.assign(equal_opportunity=np.nan), accounts()
    ).set_index("over")
    assert lacking.loc["label 1", ["least_gap", "least_measure"]].isna().all()


def test_the_figures_of_the_share(study_of_shares):
    """The account is signed as everywhere: GAT's gap is positive."""
    rows, forecast = (
        frames.read(study_of_shares / f"{name}.csv") for name in ("curve", "predicted")
    )
    drawn = dose.differences(
        rows, dict.fromkeys(rows["method"], "A method"), {"d": "D"}
    )
    line = next(each for each in drawn.axes[0].lines if len(each.get_xdata()) == 3)
    np.testing.assert_allclose(
        [line.get_xdata(), line.get_ydata()], [SHARES, [-2.5, -5, -7.5]]
    )
    ax = dose.parts(rows, forecast, {"d": "D"}).axes[0]
    mixing = next(
        each for each in ax.lines if each.get_color() == dose.COLOURS["mixing"]
    )
    np.testing.assert_allclose(
        mixing.get_ydata(), [0.4 * (1 - 1.9 * share) for share in SHARES]
    )


NAMES = ["race=a, b, sex=0", "race=a, b, sex=1", "race=c, sex=0", "race=c, sex=1"]
SIZES = (400, 200, 40, 100)
RATES = {  # of the four groups: race alone and sex alone hide what all of them show
    "gat": [[0.2, 0.6, 0.6, 0.2], [0.3, 0.6, 0.6, 0.3]],
    "fair": [[0.4, 0.5, 0.5, 0.4], [0.4, 0.4, 0.4, 0.5]],
}


@pytest.fixture(scope="module")
def study_of_groups(tmp_path_factory):
    scores = []
    for method, splits in RATES.items():
        rates = np.array(splits)
        own = rates.reshape(-1, 2, 2)
        values = {f"positive_rate_{group}": rates[:, group] for group in range(4)}
        values |= {
            f"true_positive_rate_{group}": rates[:, group] for group in (0, 2, 3)
        }  # nobody of group 1 has label 1
        for gap in GAPS:
            values |= {
                gap: np.ptp(rates, axis=1),
                f"{gap}_race": np.ptp(own.mean(2), axis=1),
            }
            values |= {f"{gap}_sex": np.ptp(own.mean(1), axis=1)}
        scores += [
            ("people", method, "default", name, value) for name, value in values.items()
        ]
        scores += [
            ("people", f"{method}@race", "default", name, value + 0.01)
            for name, value in values.items()
        ]
        scores.append(
            ("people", method, "other~1", GAPS[0], [0.9, 0.9])
        )  # a cell that is not compared
    counts = [
        ("people", name, quantity, nodes / (1 + (quantity == "label_1")))
        for name, nodes in zip(NAMES, SIZES, strict=True)
        for quantity in ("labelled", "label_1")
    ]
    graphs = pd.DataFrame(counts, columns=["dataset", "group", "quantity", "value"])
    folder = write(tmp_path_factory.mktemp("x") / "groups", scores, graphs=graphs)
    given = frames.read(folder / "differences.csv")
    given = given[~given["method"].str.contains("@")]
    frames.write(
        folder / "differences.csv",
        pd.concat([given, given.assign(dataset="race", dataset_title="Race")]),
    )
    attributes.main(folder)
    return folder, frames.read(folder / "attributes.csv")


def test_gaps_of_each_attribute(study_of_groups):
    _, rows = study_of_groups
    found = rows.set_index(["method", "measure", "over"])
    assert (
        len(found) == 4 * 2 * 3
        and set(rows["n_splits"]) == {2}
        and set(rows["cell"]) == {"default"}
    )
    parity = found.xs(GAPS[0], level="measure")
    assert parity["mean"].unstack().round(6).loc["gat"].to_dict() == {
        "all groups": 0.35,
        "race": 0.0,
        "sex": 0.0,
    }
    for name in (
        "fair",
        "fair@race",
    ):  # each less the GAT that was trained where it was
        assert parity.loc[(name, "all groups"), "difference"] == pytest.approx(-0.25)
    assert parity.loc[("fair", "race"), ["low", "high"]].notna().all() and np.isnan(
        parity.loc[("gat", "race"), "low"]
    )
    assert tuple(parity.loc[("gat", "all groups"), ["lowest", "highest"]]) == (
        NAMES[0],
        NAMES[1],
    )
    assert (
        found.loc[("gat", GAPS[1], "all groups"), "highest"] == NAMES[2]
    )  # without a rate there is no gap


def test_the_gap_of_equal_rates_grows_with_the_number_of_groups_and_with_small_ones(
    study_of_groups,
):
    _, rows = study_of_groups
    chance = (
        rows.set_index(["method", "measure", "over"])["chance"]
        .xs("gat")
        .unstack(level="over")
    )
    rate = np.average(np.mean(RATES["gat"], axis=0), weights=SIZES)
    for over, sizes in {
        "race": (180, 42),
        "sex": (132, 90),
    }.items():  # in the test set, of 0.3
        spread = np.sqrt(rate * (1 - rate) * sum(1 / size for size in sizes))
        assert chance.loc[GAPS[0], over] == pytest.approx(
            np.sqrt(2 / np.pi) * spread, rel=0.03
        )
    assert (chance["all groups"] > chance[["race", "sex"]].max(axis=1)).all()
    assert (chance.loc[GAPS[1]] > chance.loc[GAPS[0]]).all()  # half of the people


def test_a_line_for_every_method_with_all_gaps(study_of_groups):
    _, rows = study_of_groups
    titles = {"gat": "GAT", "fair": "Fair"}
    parity, opportunity = attributes.figure(
        rows, titles, {"people": "People", "race": "Race"}
    ).axes
    labels = [label.get_text() for label in parity.get_yticklabels()]
    assert labels == ["GAT", "GAT, trained on Race", "Fair", "Fair, trained on Race"]
    names = [text.get_text() for text in opportunity.get_legend().get_texts()]
    assert names == ["if rates were equal", "all groups", "race", "sex"]
    np.testing.assert_allclose(
        [each.lines[0].get_xdata()[0] for each in parity.containers],
        [35, 0, 0],
        atol=1e-9,
    )


LOST = {"small~1": 0.004, "large~1": 0.03, "beaten~1": 0.031}
NARROWED = {"small~1": 0.01, "large~1": 0.06, "beaten~1": 0.02}


@pytest.fixture(scope="module")
def study_of_costs(tmp_path_factory):
    """FairGAT has one cell, the penalty three: one is beaten by another, and another costs too much."""
    noise = np.array([0.0, 0.01, -0.01])
    cells = [("gat-penalty", cell, LOST[cell], NARROWED[cell]) for cell in LOST]
    scores = []
    for method, cell, lost, narrowed in [
        ("gat", "default", 0, 0),
        ("fairgat-uncapped", "default", 0.004, 0.03),
        *cells,
    ]:
        values = {
            "accuracy": 0.9 - lost,
            "auc": 0.8 - lost,
            GAPS[0]: 0.1 - narrowed,
            GAPS[1]: 0.1 - narrowed / 2,
        }
        for name, value in values.items():
            scores.append(("d", method, cell, name, value + noise * (1 + lost)))
            scores.append(("d", method, cell, name, [value] * 3, "validation"))
    folder = write(tmp_path_factory.mktemp("x") / "trade-off", scores)
    trade_off.main(folder)
    return folder


def test_fronts_of_accuracy_lost_and_gap_narrowed(study_of_costs):
    rows = frames.read(study_of_costs / "trade-off.csv")
    mine = rows[
        (rows["measure"] == GAPS[0]) & (rows["method"] == "gat-penalty")
    ].set_index("cell")
    assert mine["lost"].to_dict() == pytest.approx(LOST) and mine[
        "narrowed"
    ].to_dict() == pytest.approx(NARROWED)
    assert mine["front"].to_dict() == {
        "small~1": True,
        "large~1": True,
        "beaten~1": False,
    }
    low, high = mine.loc["large~1", ["lost_low", "lost_high"]]
    expected = stats.ttest_1samp(
        0.03 - 0.03 * np.array([0, 0.01, -0.01]), 0
    ).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_methods_at_the_accuracy_that_may_be_lost(study_of_costs):
    rows = frames.read(study_of_costs / "budgets.csv").set_index(
        ["measure", "budget", "method"]
    )
    assert set(rows["cell"].xs("gat-penalty", level="method")) == {
        "small~1"
    }  # the others lose 3 points
    parity = rows.loc[(GAPS[0], 0.01)]
    assert parity.loc["gat-penalty", "difference"] == pytest.approx(-0.01)
    assert parity.loc["gat-penalty", "auc"] == pytest.approx(-LOST["small~1"])
    assert parity.loc["gat-penalty", "less_fairgat"] == pytest.approx(0.02)
    half = -0.01 - parity.loc["gat-penalty", "difference_low"]
    wider = np.sqrt(
        (1 / 3 + 0.3 / 0.4) / (1 / 3)
    )  # Nadeau and Bengio, for three splits
    assert parity.loc["gat-penalty", "difference_corrected"] == pytest.approx(
        half * wider
    )
    assert np.isnan(parity.loc["fairgat-uncapped", "less_fairgat"])
    assert "| GAT-PENALTY" in (study_of_costs / "budgets.md").read_text()


@pytest.mark.parametrize("name", ["dose", "dose-others", "groups", "when"])
def test_published_studies_are_drawn_again_from_what_is_published(
    name, tmp_path, capsys
):
    shutil.copytree(PUBLISHED / name, tmp_path / name)
    before = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
    assert analyses.main(tmp_path) == 0
    written = [Path(path) for path in capsys.readouterr().out.split()]
    assert written and {path.name for path in written} <= before.keys()
    assert all(
        path.read_bytes() == before[path.name]
        for path in written
        if path.suffix in (".csv", ".md")
    )


def test_a_study_that_lacks_a_file_is_named_and_the_others_go_on(
    study_of_costs, capsys
):
    (study_of_costs.parent / "when").mkdir()
    assert analyses.main(study_of_costs.parent) == 1
    said = capsys.readouterr()
    assert (
        "when: " in said.err
        and "differences.csv" in said.err
        and "trade-off/budgets.md" in said.out
    )
    assert analyses.main(study_of_costs) == 1
    assert "give the folder `studies` of a run" in capsys.readouterr().err


def test_a_study_of_an_older_release_is_refused(tmp_path):
    folder = write(tmp_path, [("d", "gat", "default", "accuracy", [0.5])])
    frames.write(
        folder / "scores.csv", frames.read(folder / "scores.csv").drop(columns="part")
    )
    with pytest.raises(DataError, match=r"scores\.csv lacks the column part"):
        trade_off.main(folder)


def test_the_longest_hundredth_of_embeddings_is_counted_by_squared_length():
    embeddings = torch.ones(200, 3)
    assert lengths.share_of_longest(embeddings) == pytest.approx(0.01)
    embeddings[[5, 6]] = torch.tensor([[0.0, 0.0, 30.0]])
    assert lengths.share_of_longest(embeddings) == pytest.approx(
        1800 / (1800 + 3 * 198)
    )
    assert lengths.share_of_longest(
        torch.tensor([[3.0], [1.0], [0.0]])
    ) == pytest.approx(0.9)  # of few nodes one
