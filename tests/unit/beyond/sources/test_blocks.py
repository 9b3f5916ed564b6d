"""Generated graphs have the homophilies, the dependence and the degree that were asked for."""

import further
import numpy as np
import pytest

from fairgat.config import Dataset
from fairgat.data import datasets
from fairgat.data.statistics import counts
from fairgat.errors import ConfigError


def prepared(name="mine", seed=0, **options):
    settings = Dataset(
        task="node_classification", source=further.source("blocks"), options=options
    )
    return datasets.prepare(name, settings, ".", seed)


@pytest.mark.parametrize(
    ("group", "label", "dependence"),
    [(0.68, 0.68, 0.0), (0.95, 0.3, 0.6), (0.1, 0.7, -0.3)],
)
def test_a_graph_is_as_asked_for(group, label, dependence):
    graph = prepared(
        nodes=3000,
        degree=20,
        group_homophily=group,
        label_homophily=label,
        dependence=dependence,
    )
    found = counts(graph)
    assert (found["s0"], found["s1"], found["labels"]) == (
        1500,
        1500,
        {"0": 1500, "1": 1500},
    )
    assert graph.labels[graph.sensitive == 1].mean() == pytest.approx(
        (1 + dependence) / 2, abs=1e-3
    )
    # Within four standard deviations, of 30,000 edges drawn independently.
    assert graph.num_edges / 3000 == pytest.approx(20, abs=0.5)
    assert (found["group_homophily"], found["label_homophily"]) == pytest.approx(
        (group, label), abs=0.012
    )
    for columns, values in (
        (slice(24), graph.labels),
        (slice(24, 48), graph.sensitive),
    ):
        means = [graph.features[values == value, columns].mean() for value in (0, 1)]
        np.testing.assert_allclose(means, [0.5, -0.5], atol=0.07)


def test_a_graph_follows_from_its_name_and_the_seed():
    first, again, seeded, named = (
        prepared(*key, nodes=200) for key in [("a", 0), ("a", 0), ("a", 1), ("b", 0)]
    )
    assert (first.features == again.features).all() and (
        first.edge_index == again.edge_index
    ).all()
    assert (first.features != seeded.features).any() and (
        first.features != named.features
    ).any()
    syn = prepared("syn-1", 1)  # whatever the seed
    assert (syn.num_edges, int(syn.inter_edges.sum())) == (68_726, 21_880)
    assert syn.features[0, :2].tolist() == pytest.approx([-2.65747, -0.915297])


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        (
            "mine",
            {"nodes": 50, "degree": 48},
            r"datasets\.mine\.options: .* 50 nodes have at most 25\.1 neighbours",
        ),
        (
            "syn-1",
            {"degree": 9},
            r"syn-1\.options: syn-1 is as it was published and takes only `scaling`, not degree",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(name, options, expected):
    with pytest.raises(ConfigError, match=expected):
        prepared(name, **options)
