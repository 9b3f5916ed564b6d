"""From predictions to scores: decisions, and measures by group and kind of pair."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from dense import small_graph
from sklearn.metrics import roc_auc_score

from fairgat import measures
from fairgat.config import LinkTraining, NodeTraining
from fairgat.data.graph import Graph
from fairgat.measures.metrics import calibration_error

RANDOM = np.random.default_rng(0)
GRAPH = small_graph(nodes=200, edges=600)
NODES = {
    "train": np.arange(50),
    "validation": np.arange(50, 120),
    "test": np.arange(120, 200),
}
LOGITS = (RANDOM.normal(size=200) * 2 + GRAPH.labels).astype(np.float32)


def test_scores_of_nodes_are_those_of_each_part_and_group():
    scores = measures.judge(NodeTraining(), GRAPH, NODES, {"logits": LOGITS}, "")
    for part in ("validation", "test"):
        nodes, found = NODES[part], scores[part]
        labels, logits = GRAPH.labels[nodes], LOGITS[nodes]
        right = (logits > 0) == labels
        assert found["accuracy"] == right.mean()
        assert found["auc"] == pytest.approx(roc_auc_score(labels, logits))
        aucs, errors, accuracies = [], [], []
        for group in (0, 1):
            own = GRAPH.sensitive[nodes] == group
            accuracies.append(right[own].mean())
            aucs.append(roc_auc_score(labels[own], logits[own]))
            errors.append(calibration_error(logits[own], labels[own]))
            assert found[f"auc_{group}"] == pytest.approx(aucs[group])
            assert found[f"calibration_error_{group}"] == pytest.approx(errors[group])
        assert found["auc_gap"] == pytest.approx(np.ptp(aucs))
        assert found["calibration_gap"] == pytest.approx(np.ptp(errors))
        assert found["worst_group_accuracy"] == pytest.approx(min(accuracies))


def test_each_attributes_gap_and_the_worst_group():
    """Race and sex each favour nobody.

    Of their combinations two are always right and two never.
    """
    race, sex = np.repeat([0, 0, 1, 1], 5), np.repeat([0, 1, 0, 1], 5)
    names = tuple({"race": r, "sex": s} for r, s in product("01", "01"))
    features, labels = np.zeros((20, 1)), np.ones(20, int)
    both = Graph(features, labels, 2 * race + sex, np.zeros((2, 0), int), names)
    parts = {part: np.arange(20) for part in ("validation", "test")}
    logits = {"logits": 2.0 * (race != sex) - 1}
    found = measures.judge(NodeTraining(), both, parts, logits, "")["test"]
    assert found["statistical_parity"] == found["equal_opportunity"] == 1
    assert found["statistical_parity_race"] == found["equal_opportunity_sex"] == 0
    assert found["worst_group_accuracy"] == 0 < found["accuracy"]

    # The gap of a single attribute is that of the groups.
    alone = replace(both, sensitive=race, groups=({"race": "0"}, {"race": "1"}))
    found = measures.judge(NodeTraining(), alone, parts, logits, "")["test"]
    assert "statistical_parity_race" not in found

    assert measures.find("statistical_parity_home_town").which == "home_town"
    assert measures.find("statistical_parity_race").better == "lower"
    assert measures.find("positive_rate_11").better is None


def test_predictions_of_another_graph_are_refused():
    with pytest.raises(ValueError, match="199 logits for 200 nodes"):
        measures.judge(NodeTraining(), GRAPH, NODES, {"logits": LOGITS[:-1]}, "")


def test_the_calibration_error_by_its_definition():
    logits = np.array([-30.0, -1.0, -0.9, 0.1, 0.15, 2.0, 800.0])
    labels = np.array([0, 0, 1, 1, 0, 1, 1])
    errors = 1 / (1 + np.exp(-logits.clip(-50, 50))) - labels
    # Probabilities below 0.1; 0.27 and 0.29; 0.52 and 0.54; 0.88; 1.
    bins = [[0], [1, 2], [3, 4], [5], [6]]
    expected = sum(abs(errors[each].sum()) for each in bins) / 7
    assert calibration_error(logits, labels) == pytest.approx(expected)
    assert np.isnan(calibration_error(logits[:0], labels[:0]))
    logits[2] = np.nan
    assert np.isnan(calibration_error(logits, labels))


# Two pairs of each kind in a part: within group 0, and between the groups. Nobody is in
# a pair within group 1.
LINKS = Graph(
    np.zeros((4, 1)), np.zeros(4, int), np.array([0, 0, 1, 1]), np.zeros((2, 0), int)
)
ONE_OF_EACH = np.array([[0, 0], [1, 2]])
PAIRS = dict.fromkeys(
    ["validation_edges", "validation_non_edges", "test_edges", "test_non_edges"],
    ONE_OF_EACH,
)
TRAINING = LinkTraining(cutoffs=[0.5, 0.7])


def logits_of(*probabilities):
    values = np.array(probabilities)
    return np.log(values / (1 - values)).astype(np.float32)


def test_the_cutoff_and_what_a_rate_over_nobody_is_differ_by_protocol():
    predictions = {
        # 0.7 divides edges from non-edges,
        "validation_logits": logits_of(0.9, 0.8, 0.6, 0.1),
        # and here 0.5, which the second reaches.
        "test_logits": logits_of(0.6, 0.5, 0.1, 0.2),
    }
    ours = measures.judge(TRAINING, LINKS, PAIRS, predictions, "validation")
    notebook = measures.judge(TRAINING, LINKS, PAIRS, predictions, "fairdrop")
    for part, right, by_notebook in (("validation", 1.0, 0.75), ("test", 0.5, 1.0)):
        assert ours[part]["cutoff"] == 0.7
        assert ours[part]["accuracy"] == right
        assert notebook[part]["cutoff"] == 0.5
        assert notebook[part]["accuracy"] == by_notebook

    # Within group 0 alone there is no other rate.
    one_kind = {key: pairs[:, :1] for key, pairs in PAIRS.items()}
    few = {key: values[[0, 2]] for key, values in predictions.items()}
    ours = measures.judge(TRAINING, LINKS, one_kind, few, "validation")
    notebook = measures.judge(TRAINING, LINKS, one_kind, few, "fairdrop")
    assert np.isnan(ours["test"]["dp_mixed"])
    assert np.isnan(ours["test"]["auc_inter"])
    assert notebook["test"]["dp_mixed"] == 0


def test_pairs_within_and_across_groups_have_curves_of_their_own():
    logits = logits_of(0.9, 0.3, 0.2, 0.6)
    predictions = {"validation_logits": logits, "test_logits": logits}
    found = measures.judge(TRAINING, LINKS, PAIRS, predictions, "validation")["test"]
    assert found["auc"] == 0.75
    assert found["auc_intra"] == 1
    assert found["auc_inter"] == 0
    assert found["auc_mixed"] == 1
