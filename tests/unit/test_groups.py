"""What is a group: one answer for layers, metrics, R_chi and own data."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from fairgat import groups
from fairgat.data.graph import r_chi
from fairgat.measures.metrics import node_metrics
from fairgat.nn import balanced_shares
from fairgat.nn.csr import CSRGraph

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([0, 1, 1], np.array([0, 1, 1])),
        ([True, False, True], np.array([True, False, True])),
        ([np.int32(2), 1, 0], np.array([2, 1, 0])),
        (["f", "m", "f"], np.array(["f", "m", "f"])),
        (torch.tensor([0, 1, 1], dtype=torch.uint8), np.array([0, 1, 1])),
        (pd.Series([0, 1, 1], dtype="Int64"), np.array([0, 1, 1])),
        (pd.Series(["f", "m", "f"], dtype="category"), np.array(["f", "m", "f"])),
        (pd.array([True, False, True], dtype="boolean"), np.array([True, False, True])),
        (
            np.ma.masked_array([0, 1, 1]),
            np.array([0, 1, 1]),
        ),  # of which nothing is masked
    ],
)
def test_integers_bool_and_texts_are_groups(given, expected):
    found = groups.values(given)
    assert found.dtype.kind.replace("u", "i") == expected.dtype.kind
    assert found.tolist() == expected.tolist()


REFUSED = [
    ([0, 1, None], "missing for 1 nodes, the first of which is 2"),
    ([0, np.nan, np.nan], "missing for 2 nodes, the first of which is 1"),
    (pd.Series(["a", pd.NA, "b"]), "missing for 1 nodes, the first of which is 1"),
    (
        pd.Series(["a", None, "b"], dtype="category"),
        "missing for 1 nodes, the first of which is 1",
    ),
    (
        pd.Series([0, None, 1], dtype="Int64"),
        "missing for 1 nodes, the first of which is 1",
    ),
    (["a", " ", "b"], "missing for 1 nodes, the first of which is 1"),
    (["a", "NULL", "n/a"], "missing for 2 nodes, the first of which is 1"),
    (
        np.ma.masked_array([0, 1, 1], [False, False, True]),
        "missing for 1 nodes, the first of which is 2",
    ),
    (
        torch.tensor([0.0, torch.nan, 1.0]),
        "missing for 1 nodes, the first of which is 1",
    ),
    ([0.1, 0.2, 0.3], "integers, bool or strings"),
    (np.array([0.0, 1.0, 1.0]), "integers, bool or strings, got float64"),
    ([0, "a", True], "integers, bool or strings"),
    ([0, True, 1], "integers, bool or strings"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_names_no_group_is_refused_everywhere(given, said):
    edges = torch.tensor([[0, 1], [1, 0]])
    for take in (
        groups.values,
        lambda given: CSRGraph.from_edge_index(edges, 3, given),
        lambda given: balanced_shares(given, edges, 0.5),
        lambda given: node_metrics([1, 0, 1], [1, 0, 1], given),
        lambda given: r_chi(given, edges.numpy()),
    ):
        with pytest.raises(ValueError, match=said):
            take(given)


def test_no_groups_are_none():
    assert groups.values([]).shape == (0,)


def test_groups_need_no_pytorch():
    code = "import sys; from fairgat import groups; groups.values(['a']); "
    code += "print('torch' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True
        ).stdout
        == "False\n"
    )
