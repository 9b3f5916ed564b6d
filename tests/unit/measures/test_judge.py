"""From predictions to scores: decisions, and measures by group and kind of pair."""

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


def judge_nodes(logits=LOGITS, graph=GRAPH, parts=NODES):
    return measures.judge(NodeTraining(), graph, parts, {"logits": logits}, "")


PARTS = pytest.mark.parametrize("part", ["validation", "test"])


@PARTS
def test_scores_of_nodes_are_those_of_a_part(part):
    labels, logits = GRAPH.labels[NODES[part]], LOGITS[NODES[part]]

    found = judge_nodes()[part]

    assert found["accuracy"] == ((logits > 0) == labels).mean()
    assert found["auc"] == pytest.approx(roc_auc_score(labels, logits))


@PARTS
def test_each_group_has_scores_and_the_gaps_are_between_these(part):
    found = judge_nodes()[part]

    aucs, errors, accuracies = [], [], []
    for group in (0, 1):
        own = NODES[part][GRAPH.sensitive[NODES[part]] == group]
        labels, logits = GRAPH.labels[own], LOGITS[own]
        accuracies.append(((logits > 0) == labels).mean())
        aucs.append(roc_auc_score(labels, logits))
        errors.append(calibration_error(logits, labels))
        assert found[f"auc_{group}"] == pytest.approx(aucs[group])
        assert found[f"calibration_error_{group}"] == pytest.approx(errors[group])
    assert found["auc_gap"] == pytest.approx(np.ptp(aucs))
    assert found["calibration_gap"] == pytest.approx(np.ptp(errors))
    assert found["worst_group_accuracy"] == pytest.approx(min(accuracies))


RACE = np.repeat([0, 0, 1, 1], 5)
SEX = np.repeat([0, 1, 0, 1], 5)
COMBINATIONS = (
    {"race": "0", "sex": "0"},
    {"race": "0", "sex": "1"},
    {"race": "1", "sex": "0"},
    {"race": "1", "sex": "1"},
)


@pytest.fixture
def both():
    """20 people of label 1 whose groups combine race and sex."""
    features, labels = np.zeros((20, 1)), np.ones(20, int)
    no_edges = np.zeros((2, 0), int)
    return Graph(features, labels, 2 * RACE + SEX, no_edges, COMBINATIONS)


def judge_all(graph):
    """Decisions that favour neither a race nor a sex.

    Of their combinations two are always right and two never.
    """
    parts = {part: np.arange(20) for part in ("validation", "test")}
    logits = np.where(RACE != SEX, 1.0, -1.0)
    return judge_nodes(logits, graph, parts)["test"]


def test_attributes_alone_may_hide_what_all_groups_show(both):
    found = judge_all(both)

    assert found["statistical_parity"] == found["equal_opportunity"] == 1
    for attribute in ("race", "sex"):
        assert found[f"statistical_parity_{attribute}"] == 0
        assert found[f"equal_opportunity_{attribute}"] == 0


def test_the_worst_group_may_always_be_wrong(both):
    found = judge_all(both)

    assert found["worst_group_accuracy"] == 0
    assert found["accuracy"] == 0.5


def test_the_gap_of_a_single_attribute_is_that_of_the_groups(both):
    alone = replace(both, sensitive=RACE, groups=({"race": "0"}, {"race": "1"}))

    assert "statistical_parity_race" not in judge_all(alone)


def test_predictions_of_another_graph_are_refused():
    with pytest.raises(ValueError, match="199 logits for 200 nodes"):
        judge_nodes(LOGITS[:-1])


def test_people_are_judged_as_nodes_are():
    labels, sensitive = GRAPH.labels, GRAPH.sensitive
    everyone = dict.fromkeys(("validation", "test"), np.arange(200))

    found = measures.judge_people(LOGITS, labels, sensitive)

    expected = judge_nodes(parts=everyone)["test"]
    assert found == pytest.approx(expected, nan_ok=True)


def test_peoples_decisions_may_be_others_than_the_scores_say():
    everyone_yes = np.ones(200, bool)

    found = measures.judge_people(LOGITS, GRAPH.labels, GRAPH.sensitive, everyone_yes)

    assert found["positive_rate_0"] == found["positive_rate_1"] == 1
    assert found["accuracy"] == pytest.approx(GRAPH.labels.mean())
    assert found["auc"] == pytest.approx(roc_auc_score(GRAPH.labels, LOGITS))


def test_probabilities_become_logits():
    values = np.array([0.0, 0.25, 0.5, 1.0])

    (logits,) = measures.as_logits([values], "probabilities")

    assert logits == pytest.approx([-np.inf, -np.log(3), 0, np.inf])


@pytest.mark.parametrize(
    ("values", "kind"),
    [([0.2, 0.9], "logits"), ([-1.0, 0.5], None), ([0.5, 2.0], None)],
)
def test_logits_stay_as_they_are(values, kind):
    (logits,) = measures.as_logits([np.array(values)], kind)

    assert logits.tolist() == values


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([0.0, 1.0], None, "probabilities or logits"),
        ([-0.1, 0.5], "probabilities", "some scores do not"),
        ([0.5, 1.1], "probabilities", "some scores do not"),
        ([0.5, 1.1], "odds", "got 'odds'"),
    ],
    ids=["may be either", "below 0", "above 1", "another kind"],
)
def test_scores_of_an_unclear_kind_are_refused(values, kind, message):
    with pytest.raises(ValueError, match=message):
        measures.as_logits([np.array(values)], kind)


CALIBRATED = np.array([-30.0, -1.0, -0.9, 0.1, 0.15, 2.0, 800.0])
OUTCOMES = np.array([0, 0, 1, 1, 0, 1, 1])


def test_the_calibration_error_by_its_definition():
    """Probabilities are below 0.1; 0.27 and 0.29; 0.52 and 0.54; 0.88; 1."""
    probabilities = 1 / (1 + np.exp(-CALIBRATED.clip(-50, 50)))
    errors = probabilities - OUTCOMES
    bins = [[0], [1, 2], [3, 4], [5], [6]]

    found = calibration_error(CALIBRATED, OUTCOMES)

    expected = sum(abs(errors[each].sum()) for each in bins) / 7
    assert found == pytest.approx(expected)


def test_nobody_has_no_calibration_error():
    assert np.isnan(calibration_error(CALIBRATED[:0], OUTCOMES[:0]))


def test_a_logit_that_is_no_number_has_no_calibration_error():
    logits = np.where(CALIBRATED == 2, np.nan, CALIBRATED)

    assert np.isnan(calibration_error(logits, OUTCOMES))


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


PREDICTIONS = {
    # 0.7 divides edges from non-edges,
    "validation_logits": logits_of(0.9, 0.8, 0.6, 0.1),
    # and here 0.5, which the second reaches.
    "test_logits": logits_of(0.6, 0.5, 0.1, 0.2),
}


@pytest.mark.parametrize(
    ("protocol", "cutoff", "on_validation", "on_test"),
    [("validation", 0.7, 1.0, 0.5), ("fairdrop", 0.5, 0.75, 1.0)],
)
def test_a_protocol_chooses_the_cutoff(protocol, cutoff, on_validation, on_test):
    """The best one on validation, or, in FairDrop's notebook, on test."""
    found = measures.judge(TRAINING, LINKS, PAIRS, PREDICTIONS, protocol)

    validation, test = found["validation"], found["test"]
    assert validation["cutoff"] == test["cutoff"] == cutoff
    assert (validation["accuracy"], test["accuracy"]) == (on_validation, on_test)


@pytest.fixture
def judge_one_kind():
    """Judge pairs within group 0 alone: there is no other rate."""
    pairs = {key: ends[:, :1] for key, ends in PAIRS.items()}
    predictions = {key: values[[0, 2]] for key, values in PREDICTIONS.items()}

    def judge(protocol):
        return measures.judge(TRAINING, LINKS, pairs, predictions, protocol)["test"]

    return judge


def test_a_gap_without_two_rates_is_missing(judge_one_kind):
    found = judge_one_kind("validation")

    assert np.isnan(found["dp_mixed"])
    assert np.isnan(found["auc_inter"])


def test_in_fairdrops_notebook_a_gap_without_two_rates_is_0(judge_one_kind):
    assert judge_one_kind("fairdrop")["dp_mixed"] == 0


def test_pairs_within_and_across_groups_have_curves_of_their_own():
    logits = logits_of(0.9, 0.3, 0.2, 0.6)
    predictions = {"validation_logits": logits, "test_logits": logits}

    found = measures.judge(TRAINING, LINKS, PAIRS, predictions, "validation")["test"]

    assert found["auc"] == 0.75
    assert found["auc_intra"] == 1
    assert found["auc_inter"] == 0
    assert found["auc_mixed"] == 1
