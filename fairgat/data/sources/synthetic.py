"""Generated graphs for the demo and the tests: `demo-social` (two groups) and `demo-citation` (several classes).

No real people are in them: every node, edge and label follows from the seed.
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
_DEGREE, _HOMOPHILY = (
    8.0,
    0.85,
)  # mean number of neighbours, share of the edges drawn inside a group
_BIAS = 0.25  # demo-social: how far the share of positive labels in each group lies from one half
_CLASSES = 4  # demo-citation: these are also the sensitive groups
_SUBJECTS = 5  # per class of demo-citation; articles cite their own subject, which makes citations predictable


class Options(Model):
    nodes: int | None = Field(default=None, ge=20)
    """Number of nodes; by default 500 for demo-social and 400 for demo-citation."""


def files(name: str, options: Options) -> list[File]:
    return []


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Generate `demo-social` (20 features in [-1, 1]) or `demo-citation` (120 row-normalised word counts)."""
    rng = np.random.default_rng(
        np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    )
    return (
        _social(options.nodes or 500, rng)
        if name == "demo-social"
        else _citation(options.nodes or 400, rng)
    )


def _social(count: int, rng: np.random.Generator) -> Graph:
    sensitive = (rng.random(count) < 0.4).astype(np.int64)
    labels = (rng.random(count) < 0.5 + _BIAS * (2 * sensitive - 1)).astype(np.int64)
    # Ten features follow the label, five the group, five nothing.
    features = rng.normal(size=(count, 20))
    features[:, :10] += 0.35 * (2 * labels[:, None] - 1)
    features[:, 10:15] += 0.8 * (2 * sensitive[:, None] - 1)
    edges = _edges(
        sensitive, rng, lambda u, v: np.where(labels[u] == labels[v], 0.75, 0.25)
    )
    return Graph(
        scaled(features, "min_max"),
        labels,
        sensitive,
        edges,
        ({"group": "0"}, {"group": "1"}),
    )


def _citation(count: int, rng: np.random.Generator) -> Graph:
    words = 120
    subjects = rng.integers(_SUBJECTS * _CLASSES, size=count)
    classes = subjects // _SUBJECTS
    topic = np.arange(words) * _CLASSES * _SUBJECTS // words
    chance = np.where(topic[None, :] == subjects[:, None], 0.8, 0.01)
    features = (rng.random((count, words)) < chance).astype(np.float64)

    def weight(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        # Of the edges inside a class, nine in ten are inside a subject; a fifth of the pairs are.
        inside = np.where(
            subjects[u] == subjects[v],
            0.9 * _SUBJECTS,
            0.1 * _SUBJECTS / (_SUBJECTS - 1),
        )
        return np.where(classes[u] == classes[v], inside, 1.0)

    topics = tuple({"topic": str(topic)} for topic in np.unique(classes))
    return Graph(
        scaled(features, "row"),
        classes,
        classes.copy(),
        _edges(classes, rng, weight),
        topics,
    )


def _edges(
    groups: np.ndarray,
    rng: np.random.Generator,
    affinity: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Draw edges, mostly inside a group, each pair of nodes weighted by its affinity."""
    count = len(groups)
    wanted = round(count * _DEGREE / 2)
    # Rejection sampling, from enough candidates to leave about `wanted` edges.
    pairs = rng.integers(count, size=(40 * wanted, 2))
    same = groups[pairs[:, 0]] == groups[pairs[:, 1]]
    share = same.mean()
    weight = np.where(
        same, _HOMOPHILY / share, (1 - _HOMOPHILY) / (1 - share) if share < 1 else 0.0
    )
    weight *= affinity(pairs[:, 0], pairs[:, 1])
    keep = (rng.random(len(pairs)) < weight / weight.max()) & (
        pairs[:, 0] != pairs[:, 1]
    )
    _, first = np.unique(np.sort(pairs[keep], axis=1), axis=0, return_index=True)
    chosen = pairs[keep][np.sort(first)][:wanted]
    return symmetrise(chosen.T, count)
