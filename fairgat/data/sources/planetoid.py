"""Cora, Citeseer and Pubmed in Planetoid's files (Yang et al., 2016): papers joined by citations, sensitive = class."""

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
_SHA256 = yaml.safe_load(
    (Path(__file__).parent / "planetoid.yaml").read_text(encoding="utf-8")
)


class Options(Model):
    scaling: Scaling = "row"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return [
        File(
            f"planetoid/ind.{name}.{part}",
            github(*_REPOSITORY, f"data/ind.{name}.{part}"),
            checksum,
        )
        for part, checksum in _SHA256[name].items()
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, its nodes in PyTorch Geometric's order: training and unlabelled ones, then test nodes by index.

    Citeseer's 15 isolated test nodes are only in the index: they get empty features and class 0, as in PyTorch
    Geometric, and count among the paper's 3327 nodes.
    """
    path = {part: folder / f"ind.{name}.{part}" for part in _SHA256[name]}
    allx, tx = _dense(path["allx"]), _dense(path["tx"])
    ally, ty = _dense(path["ally"]), _dense(path["ty"])
    order = np.loadtxt(path["test.index"], dtype=np.int64)
    first, last = int(order.min()), int(order.max())
    features = np.zeros((last + 1, allx.shape[1]))
    classes = np.zeros((last + 1, ally.shape[1]))
    features[:first], classes[:first] = allx, ally
    features[order], classes[order] = tx, ty
    neighbours = _unpickle(path["graph"])
    source = np.repeat(
        np.array(list(neighbours)), [len(ends) for ends in neighbours.values()]
    )
    target = np.concatenate(
        [np.array(ends, dtype=np.int64) for ends in neighbours.values()]
    )
    labels = classes.argmax(axis=1).astype(np.int64)
    return Graph(
        features=scaled(features, options.scaling),
        labels=labels,
        sensitive=labels.copy(),
        edge_index=symmetrise(np.stack([source, target]), last + 1),
        groups=tuple({"topic": str(topic)} for topic in np.unique(labels)),
    )


def _dense(path: Path) -> np.ndarray:
    content = _unpickle(path)
    return content.toarray() if hasattr(content, "toarray") else np.asarray(content)


# The only names in Planetoid's pickles, and what each is called today. `_reconstruct` builds empty arrays.
def _admitted() -> dict[tuple[str, str], object]:
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
        return _admitted()["builtins" if module == "__builtin__" else module, name]


def _unpickle(path: Path) -> Any:
    """Read one of Planetoid's pickles with an unpickler that makes arrays and lists, and runs no other code."""
    with open(path, "rb") as file:
        return _Unpickler(file, encoding="latin1").load()
