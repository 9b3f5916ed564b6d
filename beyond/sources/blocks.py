"""Generated graphs of two groups and two labels: syn-1, syn-2, and others.

syn-1 and syn-2 are the synthetic graphs of Qian et al.'s benchmark, made again by its
recipe: XweiQ/Benchmark-GraphFairness, `load_data.py` and `utils.py` of its first
commit, ecf1b7f (the current ones give other graphs; docs/data.md). The labels, groups
and edges are those of its released files, which the tests compare; the features were
not released, and syn-2's scales are assumed to be syn-1's. Every other data set with
this source is drawn by the same recipe, with the homophilies that its options ask for.
"""

import zlib
from pathlib import Path

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, Scaling, scaled

NAMES = ("syn-1", "syn-2")
_NODES, _SEED = 5000, 20
_WIDTH = 24  # features that follow the label, and as many that follow the group
_MEAN, _VARIANCE = 0.5, 10.0  # of a feature: 0.5 for 0, and -0.5 for 1
# A kind of node is numbered 2 s + y.
_SHARES = {"syn-1": [0.25, 0.25, 0.25, 0.25], "syn-2": [0.22, 0.28, 0.28, 0.22]}
_EDGES = {  # probability of an edge by the kinds of its ends
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
    """All but `scaling` are of data sets other than syn-1 and syn-2.

    The defaults are about what syn-1 has.
    """

    scaling: Scaling = "none"
    """How features are scaled."""
    nodes: int = Field(default=5000, ge=20, le=50_000)
    """Number of nodes, the same in both groups. All pairs of them are drawn."""
    degree: float = Field(default=13.7, gt=0)
    """Mean number of neighbours."""
    group_homophily: float = Field(default=0.68, gt=0, lt=1)
    """Share of the edges that join nodes of the same group."""
    label_homophily: float = Field(default=0.68, gt=0, lt=1)
    """Share of the edges that join nodes of the same label."""
    dependence: float = Field(default=0.0, gt=-1, lt=1)
    """The label's dependence on the group: the share of label 1 in group 1 less that in
    group 0."""

    @model_validator(mode="after")
    def _possible(self, info: ValidationInfo) -> "Options":
        name = (info.context or {}).get("name")
        if name in NAMES:
            others = sorted(self.model_fields_set - {"scaling"})
            if others:
                raise ValueError(
                    f"{name} is as it was published and takes only `scaling`, not "
                    f"{', '.join(others)}"
                )
            return self
        largest = _edge_probabilities(self).max()
        if largest > 1:
            most = self.degree / largest
            raise ValueError(
                f"with these homophilies, {self.nodes} nodes have at most {most:.1f} "
                f"neighbours on average; ask for a lower degree than {self.degree}, or "
                "for more nodes"
            )
        return self


def files(name: str, options: Options) -> list[File]:
    return []


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Draw syn-1 and syn-2 by the authors' seed, other graphs by `seed` and name."""
    if name in NAMES:
        random = np.random.RandomState(_SEED)
        kinds = random.choice(4, _NODES, p=_SHARES[name])
        return _draw(random, kinds, np.array(_EDGES[name]), options)
    seeds = [seed, zlib.crc32(name.encode())]
    random = np.random.RandomState(np.random.MT19937(seeds))
    ends = np.rint(np.cumsum(_shares(options)) * options.nodes).astype(int)
    kinds = np.searchsorted(ends, random.permutation(options.nodes), side="right")
    return _draw(random, kinds, _edge_probabilities(options), options)


def _draw(
    random: np.random.RandomState,
    kinds: np.ndarray,
    probabilities: np.ndarray,
    options: Options,
) -> Graph:
    """Draw features and edges, in the order of the authors' code.

    Args:
        kinds: (N,) of the nodes, numbered 2 s + y.
        probabilities: (4, 4) of an edge, by the kinds of its ends.
    """
    sensitive, labels = np.divmod(kinds, 2)
    features = [_features(random, labels), _features(random, sensitive)]
    features = np.concatenate(features, axis=1)
    edges = _edges(random, kinds, probabilities)
    return Graph(
        scaled(features, options.scaling),
        labels.astype(np.int64),
        sensitive.astype(np.int64),
        symmetrise(edges, len(kinds)),
        groups=({"group": "0"}, {"group": "1"}),
    )


def _features(random: np.random.RandomState, values: np.ndarray) -> np.ndarray:
    """Draw features (N, 24) whose mean follows the values (N,), 0 or 1."""
    noise = random.normal(size=(len(values), _WIDTH))
    mean = np.where(values == 0, _MEAN, -_MEAN)
    return mean[:, None] + np.sqrt(_VARIANCE) * noise


def _edges(
    random: np.random.RandomState, kinds: np.ndarray, probabilities: np.ndarray
) -> np.ndarray:
    """Draw edges (2, E), each in the direction from the lower number to the higher.

    Node by node, in memory for one row: the same numbers as all pairs at once.
    """
    nodes = len(kinds)
    targets = []
    for node in range(nodes):
        later = kinds[node + 1 :]
        is_edge = random.rand(len(later)) < probabilities[kinds[node], later]
        targets.append(node + 1 + np.flatnonzero(is_edge))
    counts = [len(each) for each in targets]
    source = np.repeat(np.arange(nodes), counts)
    return np.stack([source, np.concatenate(targets)])


def _shares(options: Options) -> np.ndarray:
    """Give the shares (4,) of the nodes by 2 s + y: groups and labels of equal size."""
    same, other = (1 + options.dependence) / 4, (1 - options.dependence) / 4
    return np.array([same, other, other, same])


def _edge_probabilities(options: Options) -> np.ndarray:
    """Compute the (4, 4) probabilities of an edge, by the kinds of its ends.

    They depend on whether the ends have the same group and the same label. Of all ways
    to have both homophilies this is the nearest to edges drawn at random, the limit of
    iterative proportional fitting: same group and same label have the odds ratio that
    they have over all pairs. The share of the edges with both is then a root of a
    quadratic.
    """
    sensitive, labels = np.divmod(np.arange(4), 2)
    same_group = sensitive[:, None] == sensitive
    same_label = labels[:, None] == labels
    case = 2 * same_group + same_label  # (4, 4), 0: neither, ..., 3: both

    sizes = _shares(options) * options.nodes
    pairs_of_kinds = (np.outer(sizes, sizes) - np.diag(sizes)) / 2
    pairs = np.bincount(case.ravel(), pairs_of_kinds.ravel())  # (4,) by case

    neither, label_only, group_only, both = pairs
    odds = both * neither / (label_only * group_only)
    group, label = options.group_homophily, options.label_homophily
    linear = 1 + (odds - 1) * (group + label)
    root = np.sqrt(linear**2 - 4 * odds * (odds - 1) * group * label)
    share_both = 2 * odds * group * label / (linear + root)
    shares = [
        1 - group - label + share_both,
        label - share_both,
        group - share_both,
        share_both,
    ]
    total = options.nodes * options.degree / 2
    edges = np.array(shares) * total  # (4,) by case
    return (edges / pairs)[case]
