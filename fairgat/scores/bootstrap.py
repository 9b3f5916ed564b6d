"""How far a difference between methods would move with other people like these: a bootstrap over nodes.

Splits of one data set share its people, so that the spread between splits says little about others. Here nodes are
drawn with replacement, each with all its decisions: every split's scores are computed again with the drawn nodes of its
test set, and averaged over the splits. The trained models stay as they are: what training changes is in the spread
between splits, which `paired.for_other_people` adds.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from fairgat.data.graph import load_npz
from fairgat.scores.paired import CONFIDENCE
from fairgat.tasks import measures

DRAWS = 500  # with this many, a standard deviation has an error of 3 %
_AT_ONCE = 100  # draws, to bound the memory: 30,000 nodes take 12 MB

NOBODY = -1  # in place of a decision, where a node is not in a split's test set

Statistic = Callable[[np.ndarray], np.ndarray]
"""Computes scores from (groups, 2, 2, ...) counts of nodes by group, label and decision, over the trailing axes."""


Pooled = Mapping[str, np.ndarray]
"""The content of a decisions.npz, as `fairgat.scores.decisions.pool` writes it."""


def read(paths: Iterable[str | Path]) -> dict[tuple[str, str], Pooled]:
    """Read decisions.npz files, by data set and method."""
    return {(str(each["dataset"]), str(each["method"])): each for each in map(load_npz, paths)}


def between(mine: Pooled | None, theirs: Pooled | None) -> dict[str, float]:
    """Half the interval of the difference between two methods' selected cells as trained, by measure.

    Measures of node classification that are computed from counts; none where a method has no decisions or the two
    were not tested on the same people.
    """
    if mine is None or theirs is None or mine["decisions"].shape != theirs["decisions"].shape:
        return {}
    one, other = mine["decisions"], theirs["decisions"]
    if not len(one) or ((one == NOBODY) != (other == NOBODY)).any():
        return {}
    statistics = {m.name: m.of_counts for m in measures.of_task("node_classification", "shown") if m.of_counts}
    return half_widths(one, other, mine["labels"], mine["groups"], statistics)


Row = tuple[tuple[str, str], tuple[str, str], str]
"""What is compared: the data set and method of either side, and the measure."""


def of_rows(rows: Iterable[Row | None], pooled: Mapping[tuple[str, str], Pooled]) -> list[float]:
    """Half the interval of each difference as trained; NaN for None and for what has none.

    Args:
        rows: as a table of differences has them; None where the selected cells are not what it compares.
        pooled: as `read` gives them.
    """
    known = cache(lambda mine, theirs: between(pooled.get(mine), pooled.get(theirs)))
    return [known(row[0], row[1]).get(row[2], math.nan) if row else math.nan for row in rows]


def half_widths(
    mine: np.ndarray,
    theirs: np.ndarray,
    labels: np.ndarray,
    groups: np.ndarray,
    statistics: Mapping[str, Statistic],
    draws: int = DRAWS,
) -> dict[str, float]:
    """Half the 95 % interval of a difference between two methods as they are trained, for other people like these.

    It is the normal interval with the bootstrap's standard deviation. The same people are drawn for both methods, and
    for all pairs of methods on a data set.

    Args:
        mine, theirs: (splits, N) decisions 0 and 1, NOBODY outside the split's test set, which both must share.
        labels: (N,) 0 or 1.
        groups: (N,) sensitive groups from 0.
        statistics: the scores, by name.
        draws: how many times N nodes are drawn.

    Returns:
        By name; NaN where a score is missing in every draw.
    """
    number = int(groups.max()) + 1
    sides = [_one_hot(decisions, labels, groups, number) for decisions in (mine, theirs)]
    resampled: dict[str, list[np.ndarray]] = {name: [] for name in statistics}
    for weights in _weights(len(labels), draws):
        scores = []
        for side in sides:
            counts = (weights @ side).T.reshape(len(mine), number, 2, 2, -1)
            scores.append(np.moveaxis(counts, 0, -1))  # (groups, 2, 2, draws, splits)
        for name, statistic in statistics.items():
            gaps = statistic(scores[0]) - statistic(scores[1])
            known = ~np.isnan(gaps)
            total = np.where(known, gaps, 0).sum(axis=-1)
            resampled[name].append(
                np.divide(total, known.sum(-1), out=np.full(len(gaps), math.nan), where=known.any(-1))
            )
    bound = float(ndtri((1 + CONFIDENCE) / 2))
    return {name: bound * _deviation(np.concatenate(values)) for name, values in resampled.items()}


def _one_hot(decisions: np.ndarray, labels: np.ndarray, groups: np.ndarray, number: int) -> np.ndarray:
    """(N, splits * groups * 2 * 2) float32: 1 where a node is counted in a split."""
    columns = np.zeros((len(labels), len(decisions), 4 * number), np.float32)
    split, node = np.nonzero(decisions != NOBODY)
    columns[node, split, (groups[node] * 2 + labels[node]) * 2 + decisions[split, node]] = 1
    return columns.reshape(len(labels), -1)


def _weights(nodes: int, draws: int) -> Iterator[np.ndarray]:
    """How often each node is drawn, (draws, nodes) float32, some draws at a time."""
    random = np.random.default_rng(0)
    for start in range(0, draws, _AT_ONCE):
        drawn = random.integers(nodes, size=(min(_AT_ONCE, draws - start), nodes))
        yield np.stack([np.bincount(row, minlength=nodes) for row in drawn]).astype(np.float32)


def _deviation(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else math.nan
