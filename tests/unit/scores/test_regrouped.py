"""Finished runs measured by other groups, as if training had known them."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from dense import run_job, small_graph, write_graph

from fairgat.config import NodeTraining
from fairgat.data import splits
from fairgat.errors import DataError
from fairgat.scores import judging
from fairgat.scores.regrouped import regrouped
from fairgat.training.record import Record, digests

RACES = ({"race": "0"}, {"race": "1"})
RACES_AND_SEXES = (
    {"race": "0", "sex": "0"},
    {"race": "0", "sex": "1"},
    {"race": "1", "sex": "0"},
    {"race": "1", "sex": "1"},
)


@pytest.fixture
def race():
    """A graph whose groups are races."""
    return replace(small_graph(), groups=RACES)


@pytest.fixture
def shard(race, tmp_path):
    """The scores of GAT, trained in tmp_path on the graph of races."""
    run_job(tmp_path, "gat", graph=race, protocol=NodeTraining(epochs=60, hidden=6))
    graph, split = tmp_path / "graph.npz", tmp_path / "split-0.npz"
    inputs = digests(graph, split)
    path = tmp_path / "gat/run.json"
    return judging.table([judging.judged(path, race, splits.load(split), inputs)])


def measure(folder, other):
    """Measure the run by the groups of another graph."""
    (folder / "other").mkdir()
    by, parts = write_graph(folder / "other", other)
    shutil.copytree(folder / "gat", folder / "another")
    (folder / "another/predictions.npz").unlink()
    not_selected = Record.read(folder / "gat/run.json").model_copy(
        update={"cell": "x~1"}
    )
    not_selected.write(folder / "another")
    return regrouped(
        [folder / "gat/run.json", folder / "another/run.json"],
        winners={"gat": "default"},
        dataset="test",
        by="both",
        graphs=[folder / "graph.npz", by],
        splits=dict(enumerate(parts)),
    )


def test_an_attribute_that_was_known_keeps_its_gap(race, shard, tmp_path):
    sex = np.arange(race.num_nodes) % 2
    both = replace(race, sensitive=2 * race.sensitive + sex, groups=RACES_AND_SEXES)

    found = measure(tmp_path, both)

    own = shard[shard["protocol"] == ""]
    own = own[own["part"] == "test"].set_index("metric")["value"]
    values = found.set_index("metric")["value"]
    assert own["statistical_parity"] > 0
    assert values["statistical_parity_race"] == pytest.approx(own["statistical_parity"])
    assert values["accuracy"] == pytest.approx(own["accuracy"])
    assert set(found["dataset"]) == {"both"}
    assert set(found["method"]) == {"gat@test"}


def test_combinations_of_attributes_have_a_gap_of_their_own(race, shard, tmp_path):
    sex = np.arange(race.num_nodes) % 2
    both = replace(race, sensitive=2 * race.sensitive + sex, groups=RACES_AND_SEXES)

    found = measure(tmp_path, both)

    values = found.set_index("metric")["value"]
    rates = values[[f"positive_rate_{group}" for group in range(4)]]
    assert values["statistical_parity"] == pytest.approx(np.ptp(rates))
    assert values["statistical_parity_sex"] >= 0


def test_other_people_are_refused(race, shard, tmp_path):
    others = replace(race, labels=1 - race.labels)

    with pytest.raises(DataError, match="test and both have other nodes"):
        measure(tmp_path, others)
