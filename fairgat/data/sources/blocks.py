"""syn-1 and syn-2: the synthetic graphs of Qian et al.'s benchmark, made again by its recipe.

XweiQ/Benchmark-GraphFairness, `load_data.py` and `utils.py` of its first commit, ecf1b7f (the current ones give other
graphs; docs/data.md). The labels, groups and edges are those of its released files, which the tests compare; the
features were not released, and syn-2's scales are assumed to be syn-1's.
"""

from pathlib import Path

import numpy as np

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, Scaling, scaled

NAMES = ("syn-1", "syn-2")
_NODES, _SEED = 5000, 20
_WIDTH = 24  # features that follow the label, and as many that follow the group
_MEAN, _VARIANCE = 0.5, 10.0
# A group is numbered 2 s + y.
_SHARES = {"syn-1": [0.25, 0.25, 0.25, 0.25], "syn-2": [0.22, 0.28, 0.28, 0.22]}
_EDGES = {  # probability of an edge by the groups of its ends
    "syn-1": [
        [0.008, 0.002, 0.002, 0.001],
        [0.002, 0.004, 0.002, 0.002],
        [0.002, 0.002, 0.004, 0.002],
        [0.001, 0.002, 0.002, 0.006],
    ],
    "syn-2": [
        [0.006, 0.003, 0.002, 0.002],
        [0.003, 0.008, 0.002, 0.002],
        [0.002, 0.002, 0.007, 0.004],
        [0.002, 0.002, 0.004, 0.005],
    ],
}


class Options(Model):
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return []


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Draw the graph, in the order of the authors' code and from its seed, whatever the experiment's."""
    random = np.random.RandomState(_SEED)
    group = random.choice(4, _NODES, p=_SHARES[name])
    sensitive, labels = np.divmod(group, 2)
    noise = [random.normal(size=(_NODES, _WIDTH)) for _ in range(2)]
    mean = [np.where(values == 0, _MEAN, -_MEAN)[:, None] for values in (labels, sensitive)]
    features = np.concatenate([m + np.sqrt(_VARIANCE) * x for m, x in zip(mean, noise, strict=True)], axis=1)
    source, target = np.triu_indices(_NODES, k=1)
    chance = np.array(_EDGES[name])[group[source], group[target]]
    drawn = random.rand(len(source)) < chance
    edges = symmetrise(np.stack([source[drawn], target[drawn]]), _NODES)
    return Graph(scaled(features, options.scaling), labels.astype(np.int64), sensitive.astype(np.int64), edges)
