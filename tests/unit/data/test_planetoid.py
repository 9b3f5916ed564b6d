"""Planetoid's pickles: nothing in them runs; ordered as PyTorch Geometric does."""

import os
import pickle
from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fairgat.data.sources import planetoid


def write(folder, **changed):
    """A tiny data set as Planetoid's authors wrote theirs.

    Three nodes and four of test, of which 5 is in no file but the index's range.
    """
    x = csr_matrix(np.diag([1.0, 2.0, 3.0]))
    edges = {0: [1, 1, 0], 1: [0], 2: [3], 3: [2, 6], 4: [], 5: [], 6: [3]}
    parts = {
        "x": x[:1],
        "allx": x,
        "tx": csr_matrix(np.array([[1.0, 1, 0], [0, 1, 1], [4, 0, 0]])),
        "y": np.array([[1, 0]]),
        "ally": np.array([[1, 0], [0, 1], [1, 0]]),
        "ty": np.array([[0, 1], [0, 1], [1, 0]]),
        "graph": defaultdict(list, edges),
        **changed,
    }
    for part, content in parts.items():
        raw = pickle.dumps(content, protocol=3)
        # The names that NumPy and SciPy had then.
        raw = raw.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
        raw = raw.replace(b"scipy.sparse._csr", b"scipy.sparse.csr")
        (folder / f"ind.cora.{part}").write_bytes(raw)
    (folder / "ind.cora.test.index").write_text("4\n3\n6\n")


def load(folder):
    return planetoid.load("cora", folder, planetoid.Options(), 0)


def test_test_nodes_stand_where_the_index_says(tmp_path):
    write(tmp_path)

    graph = load(tmp_path)

    graph.check()
    assert graph.features[3:].tolist() == [
        [0, 0.5, 0.5],
        [0.5, 0.5, 0],
        [0, 0, 0],  # of node 5
        [1, 0, 0],
    ]
    assert graph.labels.tolist() == [0, 1, 0, 1, 1, 0, 0]
    assert graph.edge_index.tolist() == [[0, 1, 2, 3, 3, 6], [1, 0, 3, 2, 6, 3]]


class Hostile:
    """An object whose pickle makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("part", ["allx", "graph"])
def test_a_pickle_that_calls_code_never_runs(tmp_path, part):
    ran = tmp_path / "ran"
    write(tmp_path, **{part: Hostile(ran)})

    with pytest.raises(KeyError, match=r"'posix', 'system'"):
        load(tmp_path)

    assert not ran.exists()


def test_x_is_never_opened_as_its_nodes_are_those_of_allx(tmp_path):
    ran = tmp_path / "ran"
    write(tmp_path, x=Hostile(ran))

    load(tmp_path)

    assert not ran.exists()


@pytest.mark.parametrize(
    "raw",
    [
        b"cnumpy\nndarray.tofile\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__base__\x93.",
    ],
    ids=["protocol 0", "protocol 4"],
)
def test_an_admitted_name_leads_nowhere_else(tmp_path, raw):
    (tmp_path / "file").write_bytes(raw)
    with pytest.raises(KeyError):
        planetoid._unpickle(tmp_path / "file")
