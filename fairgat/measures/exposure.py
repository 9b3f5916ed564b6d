"""Exposure: which kinds of pairs stand first when pairs are ranked by their score.

A pair's kind is the group of its ends, or that they are in different groups. Of two
groups these are the three kinds of Mattos et al. (arXiv 2511.06568); of more groups, a
kind for each pair of them would often have no true link, and a divergence without
limit. What is first is a share of the number of true links. Equal scores come in a
random order that is always the same.
"""

import math

import numpy as np

from fairgat.measures.metrics import Decisions


def ndkl(ranked: np.ndarray, desired: np.ndarray) -> float:
    """Compute the normalised discounted divergence of a ranking from desired shares.

    1/Z sum_i d_KL(D_i || D) / log2(i + 1), where D_i has the shares of the kinds among
    the first i, and Z = sum_i 1 / log2(i + 1) (Geyik, Ambler and Kenthapadi,
    Fairness-Aware Ranking in Search & Recommendation Systems, KDD 2019, equation 4).

    Args:
        ranked: (k,) kinds 0 .. K-1, the first in rank first.
        desired: (K,) shares, which sum to 1.

    Returns:
        0 or more; infinite where a kind is ranked whose desired share is 0, and NaN for
        an empty ranking.
    """
    if not len(ranked):
        return math.nan
    places = np.arange(1, len(ranked) + 1)
    is_kind = ranked[:, None] == np.arange(len(desired))
    shares = is_kind.cumsum(axis=0) / places[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = shares * np.log(shares / desired)
    divergence = np.where(shares > 0, terms, 0).sum(axis=1)
    weights = 1 / np.log2(places + 1)
    return float(np.average(divergence, weights=weights))


def ndkl_at(decisions: Decisions, share: float, scores: np.ndarray) -> float:
    """Compute `ndkl` of the first pairs by some scores from the kinds of true links."""
    kinds = _kinds(decisions)
    true = np.bincount(kinds[decisions.labels], minlength=decisions.num_groups + 1)
    if not true.any():
        return math.nan
    first = kinds[_first(decisions, share, scores)]
    return ndkl(first, true / true.sum())


def within_at(decisions: Decisions, share: float) -> float:
    """Compute the share of pairs within a group among the first pairs."""
    first = _first(decisions, share, decisions.scores)
    return _within(decisions, first)


def within_links(decisions: Decisions) -> float:
    """Compute the share of pairs within a group among the true links."""
    return _within(decisions, np.flatnonzero(decisions.labels))


def _within(decisions: Decisions, pairs: np.ndarray) -> float:
    """Compute the share of pairs within a group among some; NaN without any."""
    if not len(pairs):
        return math.nan
    u, v = decisions.groups[:, pairs]
    return float((u == v).mean())


def _kinds(decisions: Decisions) -> np.ndarray:
    """Number the kinds (n,) of the pairs; those across groups come last."""
    u, v = decisions.groups
    return np.where(u == v, u, decisions.num_groups)


def _first(decisions: Decisions, share: float, scores: np.ndarray) -> np.ndarray:
    """List the pairs that are ranked first, as many as a share of the true links.

    At least one, if there is a true link.
    """
    links = int(decisions.labels.sum())
    count = max(round(share * links), min(links, 1))
    by_chance = np.random.default_rng(0).permutation(len(scores))
    return np.lexsort((by_chance, -scores))[:count]
