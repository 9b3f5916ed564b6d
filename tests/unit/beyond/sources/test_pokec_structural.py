"""The files of structural Pokec: generated ones of the same form."""

import numpy as np
import pytest

from beyond.sources import pokec_structural

NODES, VECTORS = 70, 58


@pytest.fixture
def upper():
    """(70, 70) bool, a random graph's edges, each once."""
    drawn = np.random.default_rng(0).random((NODES, NODES)) < 0.04
    return np.triu(drawn, 1)


@pytest.fixture
def graph(upper, tmp_path):
    """The graph of these edges and two regions, one after the other."""
    arrays = {
        "edges": upper.nonzero(),
        "labels": np.arange(NODES) % 2.0,
        "sens": np.arange(NODES) // 35.0,
    }
    for part, array in arrays.items():
        np.save(tmp_path / f"region_job_1_{part}.npy", array)
    options = pokec_structural.Options()
    return pokec_structural.load("pokec-z-structural", tmp_path, options, 0)


def test_features_are_the_leading_eigenvectors_and_the_log_degree(graph, upper):
    adjacency = upper | upper.T
    degree = np.maximum(adjacency.sum(axis=0), 1)
    matrix = adjacency / np.sqrt(np.outer(degree, degree))
    values = np.linalg.eigvalsh(matrix)[::-1][:VECTORS]

    *vectors, log_degree = graph.features.T

    for value, vector in zip(values, vectors, strict=True):
        np.testing.assert_allclose(matrix @ vector, vector * value, atol=1e-4)
        assert np.linalg.norm(vector) == pytest.approx(NODES**0.5, rel=1e-5)
        assert vector.max() == np.abs(vector).max()  # the sign is chosen so
    np.testing.assert_allclose(log_degree, np.log(degree), rtol=1e-6)


def test_regions_are_the_groups(graph):
    assert graph.sensitive.tolist() == [0] * 35 + [1] * 35
    assert graph.group_names == ["region=0", "region=1"]
