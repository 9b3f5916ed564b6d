"""Generated graphs for the demo and the tests.

`demo-social` has two groups, `demo-citation` several classes. No real people are in
them: every node, edge and label follows from the seed.
"""

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import Field

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, scaled

NAMES = ONLY = ("demo-social", "demo-citation")
_DEGREE = 8.0  # mean number of neighbours
_HOMOPHILY = 0.85  # share of the edges drawn inside a group
# Of demo-social: how far the share of label 1 in each group lies from one half.
_BIAS = 0.25
# Of demo-citation: classes are also the sensitive groups. Articles cite their own
# subject, of which each class has so many: so citations are predictable.
_CLASSES = 4
_SUBJECTS = 5


class Options(Model):
    nodes: int | None = Field(default=None, ge=20)
    """Number of nodes; by default 500 for demo-social and 400 for demo-citation."""


def files(name: str, options: Options) -> list[File]:
    return []


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Generate `demo-social` or `demo-citation`.

    The former has 20 features in [-1, 1], the latter 120 row-normalised word counts.
    """
    sequence = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    rng = np.random.default_rng(sequence)
    if name == "demo-social":
        return _social(options.nodes or 500, rng)
    return _citation(options.nodes or 400, rng)


def _social(count: int, rng: np.random.Generator) -> Graph:
    sensitive = (rng.random(count) < 0.4).astype(np.int64)
    labels = (rng.random(count) < 0.5 + _BIAS * (2 * sensitive - 1)).astype(np.int64)
    # Ten features follow the label, five the group, five nothing.
    features = rng.normal(size=(count, 20))
    features[:, :10] += 0.35 * (2 * labels[:, None] - 1)
    features[:, 10:15] += 0.8 * (2 * sensitive[:, None] - 1)

    def affinity(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.where(labels[u] == labels[v], 0.75, 0.25)

    edges = _edges(sensitive, rng, affinity)
    groups = ({"group": "0"}, {"group": "1"})
    return Graph(scaled(features, "min_max"), labels, sensitive, edges, groups)


def _citation(count: int, rng: np.random.Generator) -> Graph:
    words = 120
    subjects = rng.integers(_SUBJECTS * _CLASSES, size=count)
    classes = subjects // _SUBJECTS
    topic = np.arange(words) * _CLASSES * _SUBJECTS // words
    chance = np.where(topic[None, :] == subjects[:, None], 0.8, 0.01)
    features = (rng.random((count, words)) < chance).astype(np.float64)

    def affinity(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        # Of the edges inside a class, nine in ten are inside a subject; a fifth of the
        # pairs are.
        same_subject = 0.9 * _SUBJECTS
        other_subject = 0.1 * _SUBJECTS / (_SUBJECTS - 1)
        inside = np.where(subjects[u] == subjects[v], same_subject, other_subject)
        return np.where(classes[u] == classes[v], inside, 1.0)

    topics = tuple({"topic": str(topic)} for topic in np.unique(classes))
    edges = _edges(classes, rng, affinity)
    return Graph(scaled(features, "row"), classes, classes.copy(), edges, topics)


def _edges(
    groups: np.ndarray,
    rng: np.random.Generator,
    affinity: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Draw edges, mostly inside a group, pairs of nodes weighted by their affinity."""
    count = len(groups)
    wanted = round(count * _DEGREE / 2)
    # Rejection sampling, from enough candidates to leave about `wanted` edges.
    pairs = rng.integers(count, size=(40 * wanted, 2))
    source, target = pairs.T
    same = groups[source] == groups[target]
    share = same.mean()
    across = (1 - _HOMOPHILY) / (1 - share) if share < 1 else 0.0
    weight = np.where(same, _HOMOPHILY / share, across)
    weight *= affinity(source, target)

    accepted = rng.random(len(pairs)) < weight / weight.max()
    pairs = pairs[accepted & (source != target)]
    _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    chosen = pairs[np.sort(first)][:wanted]
    return symmetrise(chosen.T, count)
