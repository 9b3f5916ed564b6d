"""Generated graphs have the homophilies, the dependence and the degree asked for."""

import further
import numpy as np
import pytest

from fairgat.config import Dataset
from fairgat.data import datasets
from fairgat.data.statistics import counts
from fairgat.errors import ConfigError


def prepared(name="mine", seed=0, **options):
    source = further.source("blocks")
    settings = Dataset(task="node_classification", source=source, options=options)
    return datasets.prepare(name, settings, ".", seed)


ASKED = pytest.mark.parametrize(
    ("group", "label", "dependence"),
    [(0.68, 0.68, 0.0), (0.95, 0.3, 0.6), (0.1, 0.7, -0.3)],
)


def graph_of_3000(group, label, dependence):
    return prepared(
        nodes=3000,
        degree=20,
        group_homophily=group,
        label_homophily=label,
        dependence=dependence,
    )


@ASKED
def test_a_graph_has_the_homophilies_and_the_degree_asked_for(group, label, dependence):
    found = counts(graph_of_3000(group, label, dependence))

    # Within four standard deviations, of 30,000 edges drawn independently.
    degree = found["edges"] / 3000
    assert degree == pytest.approx(20, abs=0.5)
    assert found["group_homophily"] == pytest.approx(group, abs=0.012)
    assert found["label_homophily"] == pytest.approx(label, abs=0.012)


@ASKED
def test_groups_and_labels_are_halves_that_depend_as_asked_for(
    group, label, dependence
):
    graph = graph_of_3000(group, label, dependence)

    found = counts(graph)
    of_group_1 = graph.labels[graph.sensitive == 1]
    assert (found["s0"], found["s1"]) == (1500, 1500)
    assert found["labels"] == {"0": 1500, "1": 1500}
    assert of_group_1.mean() == pytest.approx((1 + dependence) / 2, abs=1e-3)


@ASKED
def test_half_of_the_features_tell_the_label_and_half_the_group(
    group, label, dependence
):
    graph = graph_of_3000(group, label, dependence)

    of_label, of_group = graph.features[:, :24], graph.features[:, 24:]
    for features, values in (
        (of_label, graph.labels),
        (of_group, graph.sensitive),
    ):
        assert features[values == 0].mean() == pytest.approx(0.5, abs=0.07)
        assert features[values == 1].mean() == pytest.approx(-0.5, abs=0.07)


def test_a_graph_follows_from_its_name_and_the_seed():
    first, again = prepared("a", 0, nodes=200), prepared("a", 0, nodes=200)

    assert np.array_equal(first.features, again.features)
    assert np.array_equal(first.edge_index, again.edge_index)


@pytest.mark.parametrize(("name", "seed"), [("a", 1), ("b", 0)])
def test_another_name_or_seed_gives_another_graph(name, seed):
    first, other = prepared("a", 0, nodes=200), prepared(name, seed, nodes=200)

    assert not np.array_equal(first.features, other.features)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_published_graph_is_the_same_whatever_the_seed(seed):
    graph = prepared("syn-1", seed)

    assert graph.num_edges == 68_726
    assert graph.inter_edges.sum() == 21_880
    assert graph.features[0, :2].tolist() == pytest.approx([-2.65747, -0.915297])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "mine",
            {"nodes": 50, "degree": 48},
            r"datasets\.mine\.options: .* 50 nodes have at most 25\.1 neighbours",
        ),
        (
            "syn-1",
            {"degree": 9},
            r"syn-1\.options: .* takes only `scaling`, not degree",
        ),
    ],
    ids=["too dense", "published"],
)
def test_what_cannot_be_had_is_refused(name, options, message):
    with pytest.raises(ConfigError, match=message):
        prepared(name, **options)
