import csv
import io
import statistics

import pytest
from reporting_fixtures import LINK, NODE, metrics, scores, write

from fairgat.errors import DataError
from fairgat.scores import runs as records
from fairgat.scores import selection
from fairgat.scores import summary as aggregation

TEST = [0.90, 0.92, 0.97]


@pytest.fixture
def run(tmp_path):
    """One method with two cells on three splits; cell x~1 is the most accurate, x~2 the fairest."""
    contents = [metrics("d", "m", "x~1", k, scores(NODE, 0.90, 0.2), scores(NODE, a, 0.3)) for k, a in enumerate(TEST)]
    contents += [metrics("d", "m", "x~2", k, scores(NODE, 0.895, 0.1), scores(NODE, 0.8, 0.1)) for k in range(3)]
    found = records.read_all(write(tmp_path, contents))
    return found, [selection.select(found, "fair", 0.01, None)]


def rows(run, ddof=1, published=None):
    found, selections = run
    return aggregation.summarise(selections, found, ddof, published or {})


def test_mean_and_deviation_of_the_winner_of_each_rule(run):
    table = {(row["rule"], row["metric"]): row for row in rows(run)}
    accurate = table["accuracy", "accuracy"]
    assert accurate["cell"] == "x~1"
    assert accurate["mean"] == pytest.approx(statistics.mean(TEST))
    assert accurate["std"] == pytest.approx(statistics.stdev(TEST))
    assert accurate["n_splits"] == 3
    assert table["fair", "accuracy"]["mean"] == pytest.approx(0.8)
    assert table["fair", "statistical_parity"]["std"] == 0
    assert table["paper", "accuracy"]["mean"] is None  # no published cell: the row stays, without a number
    assert table["paper", "accuracy"]["n_splits"] == 0


def test_population_deviation(run):
    table = {(row["rule"], row["metric"]): row for row in rows(run, ddof=0)}
    assert table["accuracy", "accuracy"]["std"] == pytest.approx(statistics.pstdev(TEST))


def test_one_split_has_no_sample_deviation():
    assert aggregation.deviation([0.5], ddof=1) is None
    assert aggregation.deviation([0.5], ddof=0) == 0


def test_every_cell_is_averaged_on_both_parts(run):
    found, _ = run
    failed = records.Record("node_classification", "d", "m", "x~2", 3, {}, {}, failure="diverged")
    table = aggregation.summarise_cells([*found, failed], ddof=1)
    means = {(row["cell"], row["part"], row["metric"]): (row["mean"], row["n_splits"]) for row in table}
    assert means["x~1", "test", "accuracy"] == (pytest.approx(statistics.mean(TEST)), 3)
    assert means["x~1", "validation", "statistical_parity"] == (pytest.approx(0.2), 3)
    assert means["x~2", "validation", "accuracy"] == (pytest.approx(0.895), 3)  # the failed split is not counted
    assert set(table[0]) == set(aggregation.COLUMNS_OF_CELLS)


def test_every_score_of_every_split_is_listed(run):
    found, _ = run
    failed = records.Record("node_classification", "d", "m", "x~2", 3, {}, {}, failure="diverged")
    table = aggregation.by_split([*found, failed])
    assert len(table) == 2 * 3 * 2 * 3  # cells, splits, parts and metrics
    assert [
        row["value"] for row in table if (row["cell"], row["part"], row["metric"]) == ("x~1", "test", "accuracy")
    ] == TEST
    assert set(table[0]) == set(aggregation.COLUMNS_OF_SPLITS)


def test_published_numbers_stand_beside(run):
    table = rows(run, published={("d", "m", "accuracy"): (0.95, 0.01)})
    row = next(row for row in table if row["metric"] == "accuracy")
    assert (row["paper_mean"], row["paper_std"]) == (0.95, 0.01)
    assert next(row for row in table if row["metric"] == "statistical_parity")["paper_mean"] is None


def test_protocols_share_the_cells_and_differ_in_the_scores(tmp_path):
    contents = []
    for cell, validation in (("x~1", 0.9), ("x~2", 0.8)):
        for k in range(2):
            content = metrics("cora", "m", cell, k, scores(LINK, validation, 0.1), task=LINK)
            judged = {"validation": validation, "fairdrop": validation + 0.01 * k}
            content["protocols"] = {name: {"test": scores(LINK, value, 0.3)} for name, value in judged.items()}
            contents.append(content)
    found = records.read_all(write(tmp_path, contents))
    table = aggregation.summarise_protocols([selection.select(found, "fair", 0.01, None)], found, 1, {})
    accuracy = {row["protocol"]: row for row in table if row["rule"] == "accuracy" and row["metric"] == "accuracy"}
    assert {row["cell"] for row in accuracy.values()} == {"x~1"}
    assert accuracy["validation"]["mean"] == pytest.approx(0.9)
    assert accuracy["fairdrop"]["mean"] == pytest.approx(0.905)
    assert accuracy["fairdrop"]["n_splits"] == 2


def test_csv_has_exactly_these_columns_and_is_deterministic(run):
    table = rows(run)
    text = aggregation.to_csv([row for row in table if row["rule"] == "accuracy"], aggregation.COLUMNS)
    assert text.splitlines()[0] == "dataset,method,metric,mean,std,n_splits,paper_mean,paper_std"
    first = next(csv.DictReader(io.StringIO(text)))
    assert first["mean"] == "0.93"  # not 0.9299999999999999
    assert first["paper_mean"] == ""
    assert text == aggregation.to_csv([row for row in rows(run) if row["rule"] == "accuracy"], aggregation.COLUMNS)
    by_rule = aggregation.to_csv(table, aggregation.COLUMNS_BY_RULE).splitlines()
    assert by_rule[0] == "rule,dataset,method,metric,mean,std,n_splits,paper_mean,paper_std,cell"
    assert len(by_rule) == 1 + 3 * 3


def test_missing_runs_are_an_error(run):
    with pytest.raises(DataError, match="cell x~2"):
        aggregation.summarise(run[1], [], 1, {})
