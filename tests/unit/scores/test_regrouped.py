"""Finished runs measured by other groups: what training would have measured, had it known them."""

import numpy as np
import pandas as pd
import pytest
from dense import run_job, small_graph, write_graph

from fairgat.config import NodeTraining
from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.errors import DataError
from fairgat.scores import judging
from fairgat.scores.regrouped import regrouped
from fairgat.training.record import digests


@pytest.fixture
def trained(tmp_path):
    """Trains GAT on a graph with the attribute race, and measures it by the groups of another graph."""
    graph = small_graph()
    names = tuple({"race": str(race)} for race in (0, 1))
    race = Graph(graph.features, graph.labels, graph.sensitive, graph.edge_index, names)
    run_job(tmp_path, "gat", graph=race, protocol=NodeTraining(epochs=60, hidden=6))
    files = tmp_path / "graph.npz", tmp_path / "split-0.npz"
    run = (tmp_path / "gat/run.json", race, splits.load(files[1]))
    shard = judging.table([judging.judged(*run, digests(*files))])
    with pytest.raises(
        DataError, match="gat does not fit its split, which was made anew since"
    ):
        judging.judged(*run, digests(files[0], files[0]))

    def measure(other):
        (tmp_path / "other").mkdir()
        by, parts = write_graph(tmp_path / "other", other)
        predictions = [
            ("gat", "default", 0, next(tmp_path.glob("gat/**/predictions.npz"))),
            ("gat", "x~1", 0, "none"),
        ]
        graphs = [tmp_path / "graph.npz", by]
        return regrouped(
            shard,
            {"gat": "default"},
            "test",
            "both",
            graphs,
            dict(enumerate(parts)),
            predictions,
        )

    return race, shard, measure


def test_the_same_attribute_has_the_same_gap_and_the_combinations_have_theirs(trained):
    race, shard, measure = trained
    sex = np.arange(race.num_nodes) % 2
    names = tuple({"race": str(r), "sex": str(s)} for r in (0, 1) for s in (0, 1))
    both = Graph(
        race.features[:, :2],
        race.labels,
        2 * race.sensitive + sex,
        race.edge_index,
        names,
    )
    found = measure(both)
    assert set(found["dataset"]) == {"both"} and set(found["method"]) == {"gat@test"}
    values = found.set_index("metric")["value"]
    own = shard.query("part == 'test' and protocol == ''").set_index("metric")["value"]
    assert own["statistical_parity"] > 0
    assert values["statistical_parity_race"] == pytest.approx(own["statistical_parity"])
    assert values["accuracy"] == pytest.approx(own["accuracy"])
    rates = values[[f"positive_rate_{group}" for group in range(4)]]
    assert values["statistical_parity"] == pytest.approx(np.ptp(rates)) and pd.notna(
        values["statistical_parity_sex"]
    )


def test_other_people_are_refused(trained):
    race, _, measure = trained
    with pytest.raises(DataError, match="test and both have other nodes"):
        measure(Graph(race.features, 1 - race.labels, race.sensitive, race.edge_index))
