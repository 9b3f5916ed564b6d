"""Pokec-z and Pokec-n with structural features, in place of the users' attributes.

The users, friendships, labels and regions are the same. Files: G-FairAttack (Zhang et
al., 2023), `dataset/pokec_dataset/`. Never shown as the paper's Pokec result.
"""

from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, Scaling, github, scaled

NAMES = ONLY = ("pokec-z-structural", "pokec-n-structural")
COUNTERPARTS = {"pokec-z-structural": "pokec-z", "pokec-n-structural": "pokec-n"}
_REPOSITORY = ("zhangbinchi/G-FairAttack", "fc7f673647e93403ab4f13aa19fb8e796b324ab1")
_STEM = {"pokec-z-structural": "region_job_1", "pokec-n-structural": "region_job_2_2"}
_SHA256 = {
    "region_job_1_edges.npy": "281d3a9b0d208735117a92417eb62e25c3223d85c7b4bfeb5ec0ee0a239ec267",
    "region_job_1_labels.npy": "58a630a446f4860c1b24786bb0d59d5fb6da9926364f9bd25435a190c54c6cf7",
    "region_job_1_sens.npy": "787a85362a47370b3929360dd44eaebd402730c622e8696c42682e9b82002d9d",
    "region_job_2_2_edges.npy": "6ac23f816e1fbe2845643108d8de867b1b4c31e309334e0c1c0528125fdc0d68",
    "region_job_2_2_labels.npy": "3bb1480c814631d06dc0c1da5abc5e65ad16d2f89909f65440cf7f0e2d215a02",
    "region_job_2_2_sens.npy": "46e7219eddaa46083919db4d65a36ded90313123f228897cb4afbc6ab0310d96",
}
_EIGENVECTORS = 58  # with the degree they make the paper's F = 59


class Options(Model):
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    found = []
    for part in ("edges", "labels", "sens"):
        file = f"{_STEM[name]}_{part}.npy"
        url = github(*_REPOSITORY, f"dataset/pokec_dataset/{file}")
        found.append(File(f"pokec-graph/{file}", url, _SHA256[file]))
    return found


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, with its `structural_features`."""
    arrays = []
    for file in files(name, options):
        array = np.load(folder / file.basename)
        arrays.append(array.astype(np.int64))
    edges, labels, sensitive = arrays
    edges = symmetrise(edges, len(labels))
    features = structural_features(edges, len(labels), _EIGENVECTORS)
    regions = tuple({"region": str(region)} for region in np.unique(sensitive))
    return Graph(scaled(features, options.scaling), labels, sensitive, edges, regions)


def structural_features(
    edge_index: np.ndarray, num_nodes: int, count: int
) -> np.ndarray:
    """Compute leading eigenvectors of the normalised adjacency, and the log degree.

    The matrix is D^-1/2 A D^-1/2; its eigenvectors are multiplied by sqrt N. The same
    graph gives the same numbers: the iteration starts from a fixed vector, and each
    eigenvector takes the sign that makes its largest entry positive.

    Args:
        edge_index: (2, E) both directions.
        count: how many eigenvectors, fewer than N.

    Returns:
        (N, count + 1).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    source, target = edge_index
    degree = np.bincount(source, minlength=num_nodes).astype(np.float64)
    degree = np.maximum(degree, 1)
    inverse_root = 1 / np.sqrt(degree)
    values = inverse_root[source] * inverse_root[target]
    matrix = csr_array((values, (source, target)), shape=(num_nodes, num_nodes))

    start = np.random.default_rng(0).normal(size=num_nodes)
    # The last digits depend on the number of threads.
    with threadpool_limits(1, "blas"):
        eigenvalues, vectors = eigsh(matrix, k=count, which="LA", v0=start)
    vectors = vectors[:, np.argsort(-eigenvalues, kind="stable")]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(count)])
    return np.column_stack([vectors * np.sqrt(num_nodes), np.log(degree)])
