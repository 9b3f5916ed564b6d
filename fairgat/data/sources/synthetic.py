"""Generated graphs for the demo and the tests: `demo-social` (two groups) and `demo-citation` (several classes).

No real people are in them: every node, edge and label follows from the seed.
"""

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import Field

from fairgat.config import Count, Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, scaled

NAMES = ONLY = ("demo-social", "demo-citation")
_SUBJECTS = 5  # per class of demo-citation; articles cite their own subject, which makes citations predictable


class Options(Model):
    nodes: int | None = Field(default=None, ge=20)
    """Number of nodes; by default 500 for demo-social and 400 for demo-citation."""
    degree: float = Field(default=8.0, gt=0)
    """Mean number of neighbours."""
    homophily: float = Field(default=0.85, gt=0, lt=1)
    """Share of the edges drawn inside a group."""
    bias: float = Field(default=0.25, ge=0, lt=0.5)
    """demo-social: how far the share of positive labels in each group lies from one half."""
    classes: Count = 4
    """demo-citation: number of classes, which are also the sensitive groups."""


def files(name: str, options: Options) -> list[File]:
    return []


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Generate `demo-social` (20 features in [-1, 1]) or `demo-citation` (120 row-normalised word counts)."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(name.encode())]))
    return _social(options, rng) if name == "demo-social" else _citation(options, rng)


def _social(options: Options, rng: np.random.Generator) -> Graph:
    count = options.nodes or 500
    sensitive = (rng.random(count) < 0.4).astype(np.int64)
    labels = (rng.random(count) < 0.5 + options.bias * (2 * sensitive - 1)).astype(np.int64)
    # Ten features follow the label, five the group, five nothing.
    features = rng.normal(size=(count, 20))
    features[:, :10] += 0.35 * (2 * labels[:, None] - 1)
    features[:, 10:15] += 0.8 * (2 * sensitive[:, None] - 1)
    edges = _edges(sensitive, options, rng, lambda u, v: np.where(labels[u] == labels[v], 0.75, 0.25))
    return Graph(scaled(features, "min_max"), labels, sensitive, edges, ({"group": "0"}, {"group": "1"}))


def _citation(options: Options, rng: np.random.Generator) -> Graph:
    count, words = options.nodes or 400, 120
    subjects = rng.integers(_SUBJECTS * options.classes, size=count)
    classes = subjects // _SUBJECTS
    topic = np.arange(words) * options.classes * _SUBJECTS // words
    chance = np.where(topic[None, :] == subjects[:, None], 0.8, 0.01)
    features = (rng.random((count, words)) < chance).astype(np.float64)

    def weight(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        # Of the edges inside a class, nine in ten are inside a subject; a fifth of the pairs are.
        inside = np.where(subjects[u] == subjects[v], 0.9 * _SUBJECTS, 0.1 * _SUBJECTS / (_SUBJECTS - 1))
        return np.where(classes[u] == classes[v], inside, 1.0)

    topics = tuple({"topic": str(topic)} for topic in np.unique(classes))
    return Graph(scaled(features, "row"), classes, classes.copy(), _edges(classes, options, rng, weight), topics)


def _edges(
    groups: np.ndarray,
    options: Options,
    rng: np.random.Generator,
    affinity: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Draw edges, inside a group with probability `homophily`, each pair of nodes weighted by its affinity."""
    count = len(groups)
    wanted = round(count * options.degree / 2)
    # Rejection sampling, from enough candidates to leave about `wanted` edges.
    pairs = rng.integers(count, size=(40 * wanted, 2))
    same = groups[pairs[:, 0]] == groups[pairs[:, 1]]
    share = same.mean()
    weight = np.where(same, options.homophily / share, (1 - options.homophily) / (1 - share) if share < 1 else 0.0)
    weight *= affinity(pairs[:, 0], pairs[:, 1])
    keep = (rng.random(len(pairs)) < weight / weight.max()) & (pairs[:, 0] != pairs[:, 1])
    _, first = np.unique(np.sort(pairs[keep], axis=1), axis=0, return_index=True)
    chosen = pairs[keep][np.sort(first)][:wanted]
    return symmetrise(chosen.T, count)
