"""The further figures of studies: along what graphs differ in, over the share, and of each attribute."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_studies
from small_results import LINK, NODE

from fairgat import config, measures, methods
from fairgat.config import shown
from fairgat.data import datasets
from fairgat.errors import ConfigError
from fairgat.report import along, attributes, dose
from fairgat.theory.account import least_gap

ROOT = Path(__file__).resolve().parents[3]
SHARES = (0.25, 0.5, 0.75)


@pytest.fixture
def asked():
    varied = {"step": {"module": "fairgat", "grid": {"alpha_chi_max": [*SHARES]}}, "other": {"module": "bemap"}}
    return small_studies.settings({"d": NODE}, varied, part="test", dose="alpha_chi_max")


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
        terms = parts | {"gap": sum(parts.values()), "factor": factor, "between": 0.8, "spread": 2.0, "reach": 1.9,
                         "decided": 0.1, "by_means": 0.02}  # fmt: skip
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


def test_accounts_of_one_group_against_the_rest_are_not_averaged(asked):
    three = pd.concat([accounts().assign(group=group) for group in range(3)])
    assert dose.curve(asked, runs(), three)["all_gap"].isna().all()


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


def test_where_a_group_has_nobody_of_label_1_nothing_is_said_of_it(asked):
    lacking = accounts()
    lacking.loc[lacking["over"] == "label 1", dose._TERMS] = np.nan
    curve = dose.curve(asked, runs(), lacking).assign(equal_opportunity=np.nan)
    found = dose.predicted(asked, curve, lacking).set_index("over")
    assert found.loc["label 1", ["predicted", "least_gap", "least_measure"]].isna().all()
    assert found.loc["all", "least_gap"] == 0.75
    assert dose.figure(asked, curve, found.reset_index()).axes


def test_the_figure_of_the_share_shows_the_curve(asked):
    curve = dose.curve(asked, runs(), accounts())
    axes = dose.figure(asked, curve, dose.predicted(asked, curve, accounts())).axes
    accuracy = [line for line in axes[0].lines if len(line.get_xdata()) == 3]
    np.testing.assert_allclose([accuracy[0].get_xdata(), accuracy[0].get_ydata()], [SHARES, [-2.5, -5, -7.5]])
    mixing = next(line for line in axes[3].lines if line.get_color() == dose.COLOURS["mixing"])
    np.testing.assert_allclose(mixing.get_ydata(), [0.4 * (1 - 1.9 * share) for share in SHARES])


def test_the_shipped_study_of_the_share():
    files = ("config.yaml", "configs/extended.yaml", "configs/more-methods.yaml", "configs/dose.yaml")
    shipped = config.load_files(*(ROOT / name for name in files))
    methods.check(shipped)
    asked = shown.study_settings(shipped)
    varied = {row.method for row in asked.rows if row.changes}
    assert varied | {"gat"} == set(shipped.table("account").methods) == set(shipped.only_methods)
    assert shipped.split_count("recidivism") == 20 and shipped.split_count("credit") == 10


def study_along(**varied):
    datasets = dict.fromkeys(("few", "some", "many"), NODE) | {"cora": LINK}
    return small_studies.content(datasets, {"fairgat": {}}, along=varied)


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
def test_what_cannot_be_drawn_along_a_quantity_is_refused(varied, expected):
    with pytest.raises(ConfigError) as error:
        config.load(study_along(**varied))
    assert expected in str(error.value)


def test_the_figure_along_a_quantity_shows_what_was_measured():
    given = config.load(
        study_along(label_gap=["few", "some", "many"], group_homophily=["many", "few"]) | {"skip": ["some"]}
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
    settings = shown.study_settings(given)
    axes = along.figure(settings.model_copy(update={"metrics": ["accuracy"]}), frame, stats, terms).axes
    assert len(axes) == 2 * 2
    axes = along.figure(settings, frame, stats, terms).axes
    assert [ax.get_xlabel() for ax in axes[::4]] == ["label gap", "homophily by group"]
    accuracy, theory = axes[0].lines[-1], [line.get_ydata() for line in axes[3].lines]
    np.testing.assert_allclose([accuracy.get_xdata(), accuracy.get_ydata()], [[0.1, 0.2], [-2, 1]])
    np.testing.assert_allclose(theory, [[0.9, 0.5], [1, 0.6], [np.nan, 0.5], [np.nan, 0.1]])


NAMES = ["race=a, b, sex=0", "race=a, b, sex=1", "race=c, sex=0", "race=c, sex=1"]
SIZES = (400, 200, 40, 100)
RATES = {  # of the four groups: race alone and sex alone hide what all of them show
    "gat": [[0.2, 0.6, 0.6, 0.2], [0.3, 0.6, 0.6, 0.3]],
    "fair": [[0.4, 0.5, 0.5, 0.4], [0.4, 0.4, 0.4, 0.5]],
}


@pytest.fixture
def study():
    rows = []
    for method, splits in RATES.items():
        for split, rates in enumerate(splits):
            own = np.array(rates).reshape(2, 2)
            values = {f"positive_rate_{group}": rate for group, rate in enumerate(rates)}
            values |= {f"true_positive_rate_{group}": None if group == 1 else rate for group, rate in enumerate(rates)}
            for gap in attributes.GAPS:
                values |= {
                    gap: np.ptp(rates),
                    f"{gap}_race": np.ptp(own.mean(1)),
                    f"{gap}_sex": np.ptp(own.mean(0)),
                }
            base = {"dataset": "people", "method": method, "cell": "default", "split": split, "part": "test"}
            rows += [base | {"protocol": "", "metric": name, "value": value} for name, value in values.items()]
            rows.append(base | {"protocol": "last", "metric": "statistical_parity", "value": 0.9})
            rows.append(base | {"protocol": "", "metric": "statistical_parity", "value": 0.9, "cell": "other~1"})
    pairs = {"method": ["gat", "fair", "fair"], "of": ["gat", "gat", "fair"]}  # "fair" may have variants
    frame = pd.DataFrame({"run_on": "people", **pairs, "cell": "default"})
    settings = small_studies.settings({"people": NODE}, {"fair": {"module": "bemap"}}, part="test", attributes=True)
    counts = {name: {"labelled": nodes, "label_1": nodes // 2} for name, nodes in zip(NAMES, SIZES, strict=True)}
    stats = {"people": {"counts": {"by_group": counts}}}
    return settings, attributes.gaps(settings, pd.DataFrame(rows), frame, stats)


def test_gaps_of_each_attribute(study):
    _, rows = study
    found = rows.set_index(["method", "measure", "over"])
    assert len(found) == 2 * 2 * 3 and set(rows["n_splits"]) == {2}
    parity = found.xs("statistical_parity", level="measure")
    assert parity["mean"].unstack().round(6).loc["gat"].to_dict() == {"all groups": 0.35, "race": 0.0, "sex": 0.0}
    assert parity.loc[("fair", "all groups"), "difference"] == pytest.approx(-0.25)
    assert parity.loc[("fair", "race"), ["low", "high"]].notna().all() and np.isnan(parity.loc[("gat", "race"), "low"])
    assert tuple(parity.loc[("gat", "all groups"), ["lowest", "highest"]]) == (NAMES[0], NAMES[1])
    # nobody of the second group has label 1: it makes no gap of true positives
    assert found.loc[("gat", "equal_opportunity", "all groups"), "highest"] == NAMES[2]


def test_methods_trained_for_one_attribute_stand_below_those_trained_for_all(study):
    settings, _ = study
    frame = pd.DataFrame({"run_on": ["people", "race"], "method": "gat", "of": "gat", "cell": "default"})
    other = settings.blocks[0].model_copy(update={"name": "race"})
    settings = settings.model_copy(update={"blocks": [*settings.blocks, other], "measured_by": {"race": "people"}})
    more = pd.DataFrame({"dataset": ["people"], "method": "gat@race", "metric": "accuracy", "value": 0.5})
    stats = {"race": {"counts": {"by_group": {"race=0": {}, "race=1": {}}}}}
    joined, scores, frame = attributes.with_others(settings, more.iloc[:0], frame, more, "race", stats)
    assert [row.title for row in joined.blocks[0].rows] == ["gat", "fair", "gat, for race", "fair, for race"]
    assert [row.title for row in joined.blocks[1].rows] == ["gat", "fair"]
    assert frame[["run_on", "method", "of"]].iloc[-1].tolist() == ["people", "gat@race", "gat@race"]
    assert scores["method"].tolist() == ["gat@race"]


def test_the_gap_of_equal_rates_grows_with_the_number_of_groups_and_with_small_ones(study):
    _, rows = study
    chance = rows.set_index(["method", "measure", "over"])["chance"].xs("gat").unstack(level="over")
    rate = np.average(np.mean(RATES["gat"], axis=0), weights=SIZES)
    for over, sizes in {"race": (180, 42), "sex": (132, 90)}.items():  # in the test set, of 0.3
        spread = np.sqrt(rate * (1 - rate) * sum(1 / size for size in sizes))
        assert chance.loc["statistical_parity", over] == pytest.approx(np.sqrt(2 / np.pi) * spread, rel=0.03)
    assert (chance["all groups"] > chance[["race", "sex"]].max(axis=1)).all()
    assert (chance.loc["equal_opportunity"] > chance.loc["statistical_parity"]).all()  # half of the people


def test_a_line_for_every_method_with_all_gaps(study):
    settings, rows = study
    (parity, opportunity) = attributes.figure(settings, rows).axes
    assert [label.get_text() for label in parity.get_yticklabels()] == ["gat", "fair"]
    names = [text.get_text() for text in opportunity.get_legend().get_texts()]
    assert names == ["if rates were equal", "all groups", "race", "sex"]
    places = [container.lines[0].get_xdata().tolist() for container in parity.containers]
    np.testing.assert_allclose(places, [[35, 10], [0, 2.5], [0, 2.5]], atol=1e-9)


def test_a_gap_that_no_method_has_is_left_empty(study):
    settings, rows = study
    parity, opportunity = attributes.figure(settings, rows[rows["measure"] == "statistical_parity"]).axes
    assert pd.isna([line.get_xdata() for line in opportunity.lines]).all() and len(parity.containers) == 3
