"""Means over the splits, of every cell and of the cells that each rule selected."""

import statistics

import pandas as pd
import pytest
from small_results import LINK, NODE, metrics, scores

from fairgat import frames
from fairgat.scores import compare, judging, runs, selection, summary

TEST = [0.90, 0.92, 0.1 + 0.2 + 0.67]  # the last has no short decimal form
PUBLISHED = ["dataset", "method", "metric", "paper_mean", "paper_std"]


@pytest.fixture
def shard():
    """Three cells on three splits: the most accurate, the fairest, and a failed one."""
    judged = []
    for split, accuracy in enumerate(TEST):
        high, test = scores(NODE, 0.90, 0.2), scores(NODE, accuracy, 0.3)
        judged.append(metrics("d", "m", "x~1", split, high, test))
    for split in range(3):
        fair, test = scores(NODE, 0.895, 0.1), scores(NODE, 0.8, 0.1)
        judged.append(metrics("d", "m", "x~2", split, fair, test))
    for split in range(2):
        judged.append(metrics("d", "m", "x~3", split, scores(NODE, 0.99, 0.0)))
    judged.append(metrics("d", "m", "x~3", 2, None, failure="it diverged"))
    return judging.table(judged)


def winners(shard, ddof=1, published=(), task=NODE):
    chosen = selection.select(shard, task, "validation", "fair", 0.01, None)
    cells = summary.cells(shard, ddof)
    return summary.winners([chosen], cells, pd.DataFrame(published, columns=PUBLISHED))


def only(frame, **wanted):
    """The only row that has these values."""
    for name, content in wanted.items():
        frame = frame[frame[name] == content]
    (row,) = frame.itertuples()
    return row


def test_clock_times_and_other_rules_for_the_epoch_are_left_out(shard):
    values = scores(NODE, 0.9, 0.1)
    other = {"qian": {"validation": values, "test": values}}
    run = metrics("d", "n", "x~1", 0, values, protocols=other)
    both = pd.concat([shard, judging.table([run])])

    alone = summary.without_times(both)

    kept = set(alone["metric"])
    assert not kept & {"seconds", "seconds_per_epoch"}
    assert {"epoch", "epochs", "accuracy", "failure"} <= kept
    assert set(alone["protocol"]) == {""}


def test_the_winner_of_each_rule_has_its_mean_and_deviation(shard):
    table = winners(shard)

    assert list(table.columns) == list(summary.WINNERS)
    best = only(table, rule="accuracy", metric="accuracy")
    assert (best.cell, best.n_splits) == ("x~1", 3)
    assert best.mean == pytest.approx(statistics.mean(TEST))
    assert best.std == pytest.approx(statistics.stdev(TEST))
    fairest = only(table, rule="fair", metric="accuracy")
    assert (fairest.cell, fairest.mean) == ("x~2", pytest.approx(0.8))


def test_a_rule_without_a_winner_has_no_rows(shard):
    assert set(winners(shard)["rule"]) == {"fair", "accuracy"}


def test_deviations_may_be_of_the_population(shard):
    best = only(winners(shard, ddof=0), rule="accuracy", metric="accuracy")

    assert best.std == pytest.approx(statistics.pstdev(TEST))


def test_one_split_has_no_sample_deviation():
    assert pd.isna(compare.deviation([0.5], ddof=1))
    assert compare.deviation([0.5], ddof=0) == 0


def test_every_cell_is_averaged_on_both_parts(shard):
    cells = summary.cells(shard, ddof=1)

    accuracy = only(cells, cell="x~1", part="test", metric="accuracy")
    gap = only(cells, cell="x~1", part="validation", metric="statistical_parity")
    assert accuracy.mean == pytest.approx(statistics.mean(TEST))
    assert gap.mean == pytest.approx(0.2)
    assert cells["part"].iat[0] == "validation"  # in the order of the runs


def test_a_failed_split_is_not_counted(shard):
    cells = summary.cells(shard, ddof=1)

    assert only(cells, cell="x~3", part="test", metric="accuracy").n_splits == 2


def test_a_score_that_is_missing_on_a_split_is_not_counted(tmp_path):
    gaps = [[0.1, 0.2], [0.1, None], [0.1, 0.4]]
    judged = [
        metrics("d", "m", "x~1", split, scores(NODE, 0.9, gap))
        for split, gap in enumerate(gaps)
    ]
    frames.write(tmp_path / "runs.csv", judging.table(judged))

    cells = summary.cells(runs.read(tmp_path / "runs.csv"), ddof=1)

    gap = only(cells, part="test", metric="equal_opportunity")
    assert (gap.n_splits, gap.mean) == (2, pytest.approx(0.3))
    assert only(cells, part="test", metric="accuracy").n_splits == 3


def test_published_numbers_stand_beside_ours(shard):
    table = winners(shard, published=[("d", "m", "accuracy", 0.95, 0.01)])

    accuracy = only(table, rule="fair", metric="accuracy")
    gap = only(table, rule="fair", metric="statistical_parity")
    assert (accuracy.paper_mean, accuracy.paper_std) == (0.95, 0.01)
    assert pd.isna(gap.paper_mean)


def test_a_method_that_is_another_one_has_its_rows(shard):
    table = winners(shard)
    own = table.assign(method="n", mean=0.0)

    both = summary.with_same(pd.concat([table, own]), {"n": "m"})

    assert both["method"].tolist() == ["m"] * len(table) + ["n"] * len(table)
    assert both["mean"].tolist() == 2 * table["mean"].tolist()


def test_protocols_share_the_selected_cell_and_differ_in_the_scores():
    judged = []
    # The other protocol's validation scores prefer x~2: nothing is chosen by them.
    for cell, accuracy, by_other in (("x~1", 0.9, 0.1), ("x~2", 0.8, 1.1)):
        for split in range(2):
            ours = scores(LINK, accuracy, 0.1)
            other = {
                "validation": scores(LINK, by_other, 0.1),
                "test": scores(LINK, accuracy + 0.01 * split, 0.3),
            }
            protocols = {"fairdrop": other}
            run = metrics("cora", "m", cell, split, ours, None, LINK, None, protocols)
            judged.append(run)

    table = winners(judging.table(judged), task=LINK)

    best = table[table["rule"] == "accuracy"]
    assert set(best["cell"]) == {"x~1"}
    ours = only(best, protocol="validation", metric="accuracy")
    other = only(best, protocol="fairdrop", metric="accuracy")
    assert (ours.mean, other.mean) == (pytest.approx(0.9), pytest.approx(0.905))
