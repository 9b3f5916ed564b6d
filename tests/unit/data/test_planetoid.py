"""Planetoid's pickles: read by an unpickler that can run nothing, ordered as PyTorch Geometric does."""

import os
import pickle
from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fairgat.data.sources import planetoid


def write(folder, **changed):
    """A tiny data set as Planetoid's authors wrote theirs: 3 + 4 nodes, of which 5 is in no file but the index."""
    x = csr_matrix(np.diag([1.0, 2.0, 3.0]))
    parts = {
        "x": x[:1],
        "allx": x,
        "tx": csr_matrix(np.array([[1.0, 1, 0], [0, 1, 1], [4, 0, 0]])),
        "y": np.array([[1, 0]]),
        "ally": np.array([[1, 0], [0, 1], [1, 0]]),
        "ty": np.array([[0, 1], [0, 1], [1, 0]]),
        "graph": defaultdict(
            list, {0: [1, 1, 0], 1: [0], 2: [3], 3: [2, 6], 4: [], 5: [], 6: [3]}
        ),
        **changed,
    }
    for part, content in parts.items():
        text = pickle.dumps(content, protocol=3)
        # The names that NumPy and SciPy had then.
        text = text.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
        (folder / f"ind.cora.{part}").write_bytes(
            text.replace(b"scipy.sparse._csr", b"scipy.sparse.csr")
        )
    (folder / "ind.cora.test.index").write_text(
        "".join(f"{node}\n" for node in (4, 3, 6))
    )


def load(folder):
    return planetoid.load("cora", folder, planetoid.Options(), 0)


def test_test_nodes_stand_where_the_index_says(tmp_path):
    write(tmp_path)
    graph = load(tmp_path)
    graph.check()
    assert graph.num_nodes == 7
    np.testing.assert_allclose(
        graph.features[[4, 3, 6]], [[0.5, 0.5, 0], [0, 0.5, 0.5], [1, 0, 0]]
    )
    assert graph.labels.tolist() == [0, 1, 0, 1, 1, 0, 0]
    assert graph.features[5].tolist() == [0, 0, 0]  # in no file but the index's range
    assert graph.edge_index.tolist() == [[0, 1, 2, 3, 3, 6], [1, 0, 3, 2, 6, 3]]


class Hostile:
    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("part", ["x", "allx", "graph"])
def test_a_pickle_that_calls_code_never_runs(tmp_path, part):
    hostile = Hostile()
    hostile.path = tmp_path / "ran"
    write(tmp_path, **{part: hostile})
    if part == "x":  # its nodes are those of allx: it is verified, and never opened
        load(tmp_path)
    else:
        with pytest.raises(KeyError, match=r"'posix', 'system'"):
            load(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_an_admitted_name_leads_nowhere_else(tmp_path):
    for text in (
        b"cnumpy\nndarray.tofile\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__base__\x93.",
    ):
        (tmp_path / "file").write_bytes(text)
        with pytest.raises(KeyError):
            planetoid._unpickle(tmp_path / "file")
