"""Cora, Citeseer and Pubmed in Planetoid's files (Yang et al., 2016).

Papers are joined by citations; the sensitive attribute is their class.
"""

import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, Scaling, github, scaled

NAMES = ONLY = ("cora", "citeseer", "pubmed")
_REPOSITORY = ("kimiyoung/planetoid", "af6abf468a772cc055bec88c52e4d6f51b7c37e3")
_FILE = Path(__file__).parent / "planetoid.yaml"
_SHA256 = yaml.safe_load(_FILE.read_text(encoding="utf-8"))


class Options(Model):
    scaling: Scaling = "row"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    listed = []
    for part, checksum in _SHA256[name].items():
        file = f"ind.{name}.{part}"
        url = github(*_REPOSITORY, f"data/{file}")
        listed.append(File(f"planetoid/{file}", url, checksum))
    return listed


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, its nodes in PyTorch Geometric's order.

    That is training and unlabelled ones, then test nodes by index. Citeseer's 15
    isolated test nodes are only in the index: they get empty features and class 0, as
    in PyTorch Geometric, and count among the paper's 3327 nodes.
    """
    path = {part: folder / f"ind.{name}.{part}" for part in _SHA256[name]}
    order = np.loadtxt(path["test.index"], dtype=np.int64)
    features = _rows(path["allx"], path["tx"], order)
    classes = _rows(path["ally"], path["ty"], order)
    labels = classes.argmax(axis=1).astype(np.int64)

    neighbours = _unpickle(path["graph"])
    degrees = [len(ends) for ends in neighbours.values()]
    source = np.repeat(np.array(list(neighbours)), degrees)
    targets = [np.array(ends, dtype=np.int64) for ends in neighbours.values()]
    edges = np.stack([source, np.concatenate(targets)])
    return Graph(
        features=scaled(features, options.scaling),
        labels=labels,
        sensitive=labels.copy(),
        edge_index=symmetrise(edges, len(labels)),
        groups=tuple({"topic": str(topic)} for topic in np.unique(labels)),
    )


def _rows(others: Path, tested: Path, order: np.ndarray) -> np.ndarray:
    """Put the rows of the test nodes, in `order`, below the others'."""
    first = _dense(others)
    rows = np.zeros((order.max() + 1, first.shape[1]))
    rows[: order.min()] = first
    rows[order] = _dense(tested)
    return rows


def _dense(path: Path) -> np.ndarray:
    content = _unpickle(path)
    return content.toarray() if hasattr(content, "toarray") else np.asarray(content)


def _admitted() -> dict[tuple[str, str], object]:
    """Give the only names in Planetoid's pickles, and what each is called today.

    `_reconstruct` builds empty arrays.
    """
    from numpy._core.multiarray import _reconstruct
    from scipy.sparse import csr_matrix

    return {
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
        ("scipy.sparse.csr", "csr_matrix"): csr_matrix,
        ("collections", "defaultdict"): defaultdict,
        ("builtins", "list"): list,
    }


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if module == "__builtin__":
            module = "builtins"
        return _admitted()[module, name]


def _unpickle(path: Path) -> Any:
    """Read one of Planetoid's pickles.

    The unpickler makes arrays and lists, and runs no other code.
    """
    with open(path, "rb") as file:
        return _Unpickler(file, encoding="latin1").load()
