"""From predictions to scores: which decisions they are, and the measures by group and kind of pair."""

from dataclasses import replace

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
        labels, groups, logits = (
            GRAPH.labels[nodes],
            GRAPH.sensitive[nodes],
            LOGITS[nodes],
        )
        assert found["accuracy"] == ((logits > 0) == labels).mean()
        assert found["auc"] == pytest.approx(roc_auc_score(labels, logits))
        aucs = [
            roc_auc_score(labels[groups == group], logits[groups == group])
            for group in (0, 1)
        ]
        errors = [
            calibration_error(logits[groups == group], labels[groups == group])
            for group in (0, 1)
        ]
        assert [found["auc_0"], found["auc_1"], found["auc_gap"]] == pytest.approx(
            [*aucs, np.ptp(aucs)]
        )
        of_groups = [found[f"calibration_error_{group}"] for group in (0, 1)]
        assert [*of_groups, found["calibration_gap"]] == pytest.approx(
            [*errors, np.ptp(errors)]
        )
        worst = min(
            ((logits > 0) == labels)[groups == group].mean() for group in (0, 1)
        )
        assert found["worst_group_accuracy"] == pytest.approx(worst)


def test_each_attributes_gap_and_the_worst_group():
    """Race and sex each favour nobody; of their combinations two are always right and two never."""
    race, sex = np.repeat([0, 0, 1, 1], 5), np.repeat([0, 1, 0, 1], 5)
    names = tuple({"race": str(r), "sex": str(s)} for r in (0, 1) for s in (0, 1))
    both = Graph(
        np.zeros((20, 1)),
        np.ones(20, int),
        2 * race + sex,
        np.zeros((2, 0), int),
        names,
    )
    parts = {part: np.arange(20) for part in ("validation", "test")}
    logits = {"logits": 2.0 * (race != sex) - 1}
    found = measures.judge(NodeTraining(), both, parts, logits, "")["test"]
    assert found["statistical_parity"] == found["equal_opportunity"] == 1
    assert found["statistical_parity_race"] == found["equal_opportunity_sex"] == 0
    assert found["worst_group_accuracy"] == 0 < found["accuracy"]
    alone = replace(
        both, sensitive=race, groups=({"race": "0"}, {"race": "1"})
    )  # whose gap is the groups'
    assert (
        "statistical_parity_race"
        not in measures.judge(NodeTraining(), alone, parts, logits, "")["test"]
    )
    assert measures.find("statistical_parity_home_town").which == "home_town"
    better = [
        measures.find(name).better
        for name in ("positive_rate_11", "statistical_parity_race")
    ]
    assert better == [None, "lower"]


def test_predictions_of_another_graph_are_refused():
    with pytest.raises(ValueError, match="199 logits for 200 nodes"):
        measures.judge(NodeTraining(), GRAPH, NODES, {"logits": LOGITS[:-1]}, "")


def test_the_calibration_error_by_its_definition():
    logits = np.array([-30.0, -1.0, -0.9, 0.1, 0.15, 2.0, 800.0])
    labels = np.array([0, 0, 1, 1, 0, 1, 1])
    p = 1 / (1 + np.exp(-logits.clip(-50, 50)))
    bins = [
        [0],
        [1, 2],
        [3, 4],
        [5],
        [6],
    ]  # below 0.1; 0.27 and 0.29; 0.52 and 0.54; 0.88; 1
    expected = sum(abs((p[each] - labels[each]).sum()) for each in bins) / 7
    assert calibration_error(logits, labels) == pytest.approx(expected)
    assert np.isnan(calibration_error(logits[:0], labels[:0]))
    logits[2] = np.nan
    assert np.isnan(calibration_error(logits, labels))


# Two pairs of each kind in a part: within group 0, and between the groups. Nobody is in a pair within group 1.
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
        "validation_logits": logits_of(
            0.9, 0.8, 0.6, 0.1
        ),  # 0.7 divides edges from non-edges
        "test_logits": logits_of(
            0.6, 0.5, 0.1, 0.2
        ),  # and here 0.5, which the second reaches
    }
    ours, notebook = (
        measures.judge(TRAINING, LINKS, PAIRS, predictions, protocol)
        for protocol in ("validation", "fairdrop")
    )
    assert [ours[part]["cutoff"] for part in ours] == [0.7, 0.7]
    assert [notebook[part]["cutoff"] for part in notebook] == [0.5, 0.5]
    assert [ours[part]["accuracy"] for part in ("validation", "test")] == [1.0, 0.5]
    assert [notebook[part]["accuracy"] for part in ("validation", "test")] == [
        0.75,
        1.0,
    ]
    one_kind = {
        key: pairs[:, :1] for key, pairs in PAIRS.items()
    }  # within group 0 alone: there is no other rate
    few = {key: values[[0, 2]] for key, values in predictions.items()}
    missing, zero = (
        measures.judge(TRAINING, LINKS, one_kind, few, name)
        for name in ("validation", "fairdrop")
    )
    assert np.isnan(missing["test"]["dp_mixed"]) and np.isnan(
        missing["test"]["auc_inter"]
    )
    assert zero["test"]["dp_mixed"] == 0


def test_pairs_within_and_across_groups_have_curves_of_their_own():
    predictions = dict.fromkeys(
        ("validation_logits", "test_logits"), logits_of(0.9, 0.3, 0.2, 0.6)
    )
    found = measures.judge(TRAINING, LINKS, PAIRS, predictions, "validation")["test"]
    assert (
        found["auc_intra"],
        found["auc_inter"],
        found["auc_mixed"],
        found["auc"],
    ) == (1, 0, 1, 0.75)
