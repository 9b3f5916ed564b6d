"""The files of structural Pokec: generated ones of the same form."""

import numpy as np

from beyond.sources import pokec_structural


def test_structural_features_are_leading_eigenvectors_and_the_log_degree(tmp_path):
    upper = np.triu(np.random.default_rng(0).random((70, 70)) < 0.04, 1)
    arrays = {
        "edges": upper.nonzero(),
        "labels": np.arange(70.0) % 2,
        "sens": np.arange(70.0) // 35,
    }
    for part, array in arrays.items():
        np.save(tmp_path / f"region_job_1_{part}.npy", array)
    graph = pokec_structural.load(
        "pokec-z-structural", tmp_path, pokec_structural.Options(), 0
    )
    degree = np.maximum((upper | upper.T).sum(axis=0), 1)
    matrix = (upper | upper.T) / np.sqrt(np.outer(degree, degree))
    vectors, values = (
        graph.features[:, :-1] / 70**0.5,
        np.linalg.eigvalsh(matrix)[: -58 - 1 : -1],
    )
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-5)
    np.testing.assert_array_equal(vectors.max(axis=0), np.abs(vectors).max(axis=0))
    np.testing.assert_allclose(graph.features[:, -1], np.log(degree), rtol=1e-6)
    assert graph.sensitive.tolist() == [0] * 35 + [1] * 35 and graph.group_names == [
        "region=0",
        "region=1",
    ]
