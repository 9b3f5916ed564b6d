"""Each attribute's own gap beside that over all groups."""

import numpy as np
import pandas as pd
import pytest

from fairgat.config.shown import StudyBlock, StudyRow, StudySettings
from fairgat.report import attributes

NAMES = ["race=0, sex=0", "race=0, sex=1", "race=1, sex=0", "race=1, sex=1"]
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
    frame = pd.DataFrame({"run_on": "people", "method": ["gat", "fair"], "of": "gat", "cell": "default"})
    rules = {"epochs": "accuracy", "of_epochs": "accuracy", "rules": ""}
    compared = [StudyRow(dataset="people", method=name, of="gat", title=name, changes=None, **rules) for name in RATES]
    block = StudyBlock(name="people", title="People", task="node_classification", rows=compared)
    settings = StudySettings(
        name="people", title="People", part="test", metrics=None, figure_metrics=None, along={}, dose=None,
        attributes=True, protocols=["validation"], ddof=1, ratios={"node_classification": 0.75}, blocks=[block],
    )  # fmt: skip
    stats = {"people": {"counts": {"by_group": dict.fromkeys(NAMES)}}}
    return settings, attributes.gaps(settings, pd.DataFrame(rows), frame, stats)


def test_gaps(study):
    _, rows = study
    found = rows.set_index(["method", "measure", "over"])
    assert len(found) == 2 * 2 * 3
    parity = found.xs("statistical_parity", level="measure")
    assert parity["mean"].unstack().round(6).loc["gat"].to_dict() == {"all groups": 0.35, "race": 0.0, "sex": 0.0}
    assert parity.loc[("fair", "all groups"), "difference"] == pytest.approx(-0.25)
    assert parity.loc[("fair", "race"), ["low", "high"]].notna().all() and np.isnan(parity.loc[("gat", "race"), "low"])
    assert tuple(parity.loc[("gat", "all groups"), ["lowest", "highest"]]) == (NAMES[0], NAMES[1])
    # nobody of the second group has label 1: it makes no gap of true positives
    assert found.loc[("gat", "equal_opportunity", "all groups"), "highest"] == NAMES[2]


def test_a_line_for_every_method_with_all_gaps(study):
    settings, rows = study
    (parity, opportunity) = attributes.figure(settings, rows).axes
    assert [label.get_text() for label in parity.get_yticklabels()] == ["gat", "fair"]
    assert [text.get_text() for text in opportunity.get_legend().get_texts()] == ["all groups", "race", "sex"]
    places = [container.lines[0].get_xdata().tolist() for container in parity.containers]
    np.testing.assert_allclose(places, [[35, 10], [0, 2.5], [0, 2.5]], atol=1e-9)
