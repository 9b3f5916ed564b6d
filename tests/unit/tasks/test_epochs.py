"""The rules that choose an epoch, written a second time as loops over the history."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from dense import judged, make, small_graph

from fairgat.config import NodeTraining
from fairgat.config.protocol import EpochRuleName
from fairgat.tasks import epochs
from fairgat.training.loop import fit

NAMES = ("accuracy", "auc", "f1", "statistical_parity", "equal_opportunity", "loss")


def scores(rows):
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def qian(history):
    """`report.py`, as it is described in its authors' repository."""
    utilities = ("accuracy", "auc", "f1")
    largest = {name: max(row[name] for row in history) for name in utilities}
    for r in (0.95, 0.94, 0.93, 0.92, 0.91, 0.90):
        best, chosen = None, None
        for epoch, row in enumerate(history):
            if any(row[name] < r * largest[name] for name in utilities):
                continue
            gap = row["statistical_parity"] + row["equal_opportunity"]
            if best is None or gap < best:
                best, chosen = gap, epoch
        if chosen is not None:
            return chosen
    return len(history) - 1


@pytest.mark.parametrize("seed", range(20))
def test_rules_choose_what_their_definitions_say(seed):
    spread = [0.02, 0.2, 0.5][seed % 3]  # many epochs qualify, some do, none does
    rng = np.random.default_rng(seed)
    values = rng.uniform(1 - spread, 1, size=(15, len(NAMES)))
    history = scores(values.round(3))
    assert epochs.qian(history) == qian(history)
    losses = [row["loss"] for row in history]
    assert epochs.least_loss(history) == losses.index(min(losses))
    areas = [row["auc"] for row in history]
    assert epochs.largest_area(history) == areas.index(max(areas))
    less = []
    for row in history:
        gaps = row["statistical_parity"] + row["equal_opportunity"]
        less.append(row["accuracy"] - gaps)
    assert epochs.accuracy_less_gaps(history) == less.index(max(less))


@pytest.mark.parametrize("percent", (95, 94, 93, 92, 91, 90, 89))
def test_qian_asks_for_one_percent_less_at_a_time(percent):
    """Epoch 1 just reaches the percentage, epoch 2 just does not, and is fairer."""
    just, just_not = percent / 100 + 0.001, percent / 100 - 0.001
    history = scores(
        [
            (1.0, 0.5, 1.0, 0.0, 0.0, 1),
            (just, 1.0, just, 0.3, 0.3, 1),
            (just_not, 1.0, just_not, 0.1, 0.1, 1),
            (0.5, 0.5, 0.5, 0.0, 0.0, 1),
        ]
    )
    expected = 1 if percent >= 90 else 3
    assert epochs.qian(history) == expected


def test_ties_go_to_the_fairer_epoch_then_to_the_earlier():
    rows = [(0.5, 0.1), (0.6, 0.4), (0.6, 0.1), (0.6, 0.1), (0.1, 0.0)]
    history = scores([(accuracy, 1, 1, gap, 0.2, 1) for accuracy, gap in rows])
    assert epochs.most_accurate(history) == 2


def test_a_gap_that_is_missing_is_left_out_by_every_rule():
    """Nobody in a group of validation has label 1: there is no ΔEO, and ΔSP decides."""
    rows = [
        (0.9, 0.9, 0.9, 0.2, np.nan, 1),
        (0.9, 0.9, 0.9, 0.1, np.nan, 1),
        (0.8, 0.9, 0.9, 0.0, np.nan, 1),
    ]
    history = scores(rows)
    assert epochs.qian(history) == 1
    assert epochs.accuracy_less_gaps(history) in (1, 2)

    graph = small_graph(nodes=90, edges=400)
    labels = np.where(graph.sensitive == 1, 0, graph.labels)
    graph = replace(graph, labels=labels)
    method = make("gat", graph, NodeTraining(epochs=6, hidden=8))
    result = fit(method)
    keys = []
    for row in result.history:
        assert np.isnan(row["validation_equal_opportunity"])
        gap = row["validation_statistical_parity"]
        keys.append((row["validation_accuracy"], -gap))
    kept = result.reported[""]
    assert kept.epoch == 1 + keys.index(max(keys))
    test = judged(method, graph, kept.output)["test"]
    assert np.isnan(test["equal_opportunity"])
    assert np.isnan(test["true_positive_rate_1"])


@pytest.mark.parametrize("method", ["gat", "nifty"])
def test_a_run_reports_every_rule(method):
    """Each with the scores that its epoch had on validation."""
    graph = small_graph(nodes=90, edges=400)
    method = make(method, graph, NodeTraining(epochs=12, hidden=8))
    result = fit(method)
    assert set(result.reported) == {"", *epochs.RULES}
    assert set(get_args(EpochRuleName)) == {"accuracy", *epochs.RULES}
    assert result.reported["last"].epoch == 12
    losses = [row["validation_loss"] for row in result.history]
    assert result.reported["least_loss"].epoch == 1 + losses.index(min(losses))
    for kept in result.reported.values():
        found = judged(method, graph, kept.output)["validation"]
        row = result.history[kept.epoch - 1]
        *measures, _ = NAMES
        for name in measures:
            assert row[f"validation_{name}"] == found[name]
