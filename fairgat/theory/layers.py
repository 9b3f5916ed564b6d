"""The terms of Theorem 1 for one attention layer, and those of Lemma 1 for one linear layer, from arrays.

For any number of groups: a disparity is the largest distance between the means of two of them.

With W the weight matrix and D_c, D_z the diagonal factors of step S3 (identities without it), a layer computes

    c_j = D_c W h_j,    z_i = D_z sum_j alpha_ij c_j,    h'_i = sigma(z_i + b).

What lies between h and z is linear once the data are given, so the proof holds for the effective weight
W~ = D_z D_c W and c~_j = W~ h_j; see docs/theory.md, "The bounds" and "More than two groups".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from fairgat.errors import NotDefined
from fairgat.groups import contraction
from fairgat.nn.columns import ROUNDING

RELU = IDENTITY = 1.0  # L of the activations, element by element
SIGMOID = 0.25


class Bound(NamedTuple):
    """delta_out <= slope * delta_in + offset.

    `slope` passes disparity on, which FairGAT's S1 and S2 reduce; `offset` comes from deviations inside the groups,
    which S3 reduces. Kept apart, the bounds of successive layers can be composed.
    """

    slope: float
    offset: float

    def __call__(self, delta_in: float) -> float:
        return self.slope * delta_in + self.offset


def theorem(
    lipschitz: float,
    sigma_max: float,
    factor: float,
    delta_c: float,
    delta_z: float,
    dimension: int,
) -> Bound:
    """Theorem 1: L (sigma_max * factor * delta_in + 2 sqrt(d) Delta_c + 2 sqrt(d) Delta_z).

    Lemma 1, for a fully connected layer, is the same with `factor` 1 and `delta_c` 0. The other terms are those of
    `LayerTerms`. As d, `dimension`, the paper prints N, the number of nodes; its proof gives F, that of features.
    """
    return Bound(
        lipschitz * sigma_max * factor,
        lipschitz * 2 * sqrt(dimension) * (delta_c + delta_z),
    )


@dataclass(frozen=True, kw_only=True)
class LayerTerms:
    """Every term of the bound on one layer's output disparity, and three forms of the bound.

    Norms are Euclidean, in units of the representations; shares, factors and constants have no unit. Terms that only
    attention has are None for a linear layer, and those of the theorem as printed, which is for two groups, for more.
    """

    layer: str
    """Name of the layer."""
    delta_in: float
    """delta_h of the input: the largest distance between two groups' mean representations (above Theorem 1)."""
    delta_out: float
    """delta_h of the output, measured on what the layer returned."""
    lipschitz: float
    """L of the activation: ReLU and identity 1, sigmoid 1/4."""
    sigma_max: float
    """Spectral norm of W, after S2 if that is on."""
    sigma_effective: float
    """Spectral norm of W~: of W and S3's normalisation together."""
    delta_c: float | None = None
    """Delta_c: largest deviation of an entry of c_j from its group's mean (A1), as S3 leaves C."""
    delta_c_effective: float | None = None
    """The same for c~_j, the representations that are aggregated into z."""
    delta_z: float
    """Delta_z: largest deviation of an entry of z_j from its group's mean (A1), as S3 leaves Z."""
    r_0: float | None = None
    """R^chi_0: of two groups, the share of the nodes of group 0 that have an inter-edge."""
    r_1: float | None = None
    """R^chi_1: the same for group 1."""
    alpha_chi: float | None = None
    """Attention given to inter-edges: mean over the nodes that have one (and over heads)."""
    alpha_chi_std: float | None = None
    """Its standard deviation; assumption A2 says 0."""
    factor_printed: float | None = None
    """|(R_0 + R_1) alpha_chi - 1| (Theorem 1)."""
    tau: float | None = None
    """tau(B), with B the mean attention of each group to each: half the largest sum of differences between two rows,
    and the largest over heads. Of two groups |a_0 + a_1 - 1|, with a_s the mean inter-attention over all nodes of group
    s; equals `factor_printed` where A2 holds, and needs no assumption."""
    bound_printed: float | None
    """Right-hand side of Theorem 1 or Lemma 1 as printed: W, `factor_printed`, sqrt(N)."""
    bound: float
    """The corrected bound: W~, `tau`, sqrt(F); proved in docs/theory.md."""
    bound_sharp: float
    """The corrected bound with mean absolute deviations per feature in place of the largest ones."""
    composed_printed: float | None
    """As `bound_printed`, with the composed bound of the previous layer in place of `delta_in`: from delta_x on."""
    composed: float
    """As `bound`, composed."""
    composed_sharp: float
    """As `bound_sharp`, composed."""
    statistical_parity: float | None = None
    """Delta_SP over all nodes, of decisions cut at one half; only for the layer that gives probabilities."""


def disparity(values: np.ndarray, sensitive: np.ndarray) -> float:
    """delta of (N, F) or (N,) values: the largest Euclidean distance between the means of two groups."""
    return max(
        float(np.linalg.norm(first - second))
        for first, second in combinations(_means(values, sensitive), 2)
    )


def attention_terms(
    layer: str,
    h: np.ndarray,
    out: np.ndarray,
    weight: np.ndarray,
    attention: Sequence[csr_matrix],
    sensitive: np.ndarray,
    eta: float | None = None,
    before: LayerTerms | None = None,
) -> LayerTerms:
    """Compute the terms of Theorem 1 for one layer with ReLU. A bias before it changes nothing.

    Args:
        layer: its name.
        h: (N, F_in) input.
        out: (N, H * C) what the layer returned; only its group means are used.
        weight: (H * C, F_in) W, head by head.
        attention: per head (N, N), row i holding alpha_ij; an entry is an edge even where it is 0.
        sensitive: (N,) groups, 0 .. K-1.
        eta: S3's factor on features of unit variance; None without S3.
        before: the terms of the previous layer, whose composed bounds continue.

    Raises:
        NotDefined: there are fewer than two groups, or a node's attention does not sum to 1.
    """
    _check(sensitive)
    gain_c, gain_z = gains(h, weight, attention, eta)
    c = h @ weight.T * gain_c
    c_effective, effective = c * gain_z, weight * (gain_c * gain_z)[:, None]
    z = _aggregate(attention, c_effective)
    between = _between_groups(layer, attention, sensitive)
    sigma, sigma_effective = (float(np.linalg.norm(w, 2)) for w in (weight, effective))
    delta_c, delta_c_effective, delta_z = (
        _largest(v, sensitive) for v in (c, c_effective, z)
    )
    printed, of_two_groups = None, {}
    if len(between.r_chi) == 2:
        r_0, r_1 = between.r_chi
        factor = abs((r_0 + r_1) * between.alpha_chi - 1)
        of_two_groups = {"r_0": r_0, "r_1": r_1, "factor_printed": factor}
        printed = theorem(RELU, sigma, factor, delta_c, delta_z, len(h))
        slope = sigma_effective * max(between.taus)
    else:  # heads differ in how the groups' means enter their rows, and not only in how much
        of_heads = [
            np.linalg.norm(head, 2) for head in np.split(effective, len(between.taus))
        ]
        slope = float(np.linalg.norm(np.multiply(of_heads, between.taus)))
    inner = _pairs(
        _aggregate(attention, np.abs(_deviations(c_effective, sensitive))), sensitive
    )
    outer = _pairs(np.abs(_deviations(z, sensitive)), sensitive)
    return LayerTerms(
        **_evaluated(
            disparity(h, sensitive),
            before,
            printed=printed,
            corrected=theorem(RELU, slope, 1.0, delta_c_effective, delta_z, c.shape[1]),
            sharp=Bound(slope, max(map(sum, zip(inner, outer, strict=True)))),
        ),
        layer=layer,
        delta_out=disparity(out, sensitive),
        lipschitz=RELU,
        sigma_max=sigma,
        sigma_effective=sigma_effective,
        delta_c=delta_c,
        delta_c_effective=delta_c_effective,
        delta_z=delta_z,
        **of_two_groups,
        alpha_chi=between.alpha_chi,
        alpha_chi_std=between.alpha_chi_std,
        tau=max(between.taus),
    )


@dataclass(frozen=True)
class _Between:
    """What attention gives to other groups: the terms of LayerTerms, `tau` for each head and R^chi for each group."""

    alpha_chi: float
    alpha_chi_std: float
    taus: list[float]
    r_chi: tuple[float, ...]


def _between_groups(
    layer: str, attention: Sequence[csr_matrix], sensitive: np.ndarray
) -> _Between:
    """Measure what nodes give to other groups; `layer` is what to call it in an error."""
    if any((np.abs(np.asarray(head.sum(1)) - 1) > 1e-3).any() for head in attention):
        raise NotDefined(
            f"{layer}: the bounds need each node's attention to sum to 1, and here it does not; leave methods with "
            "`one_sided: share`, or with `self_loops: false` on a graph with isolated nodes, out of the theory"
        )
    member = (sensitive[:, None] == np.arange(sensitive.max() + 1)).astype(
        float
    )  # (N, K)
    given = [
        head @ member for head in attention
    ]  # per head (N, K), the attention of each node to each group
    inter = np.stack([np.where(member, 0, shares).sum(1) for shares in given])  # (H, N)
    edges = csr_matrix(
        (np.ones_like(attention[0].data), attention[0].indices, attention[0].indptr),
        attention[0].shape,
    )
    has_inter = np.where(member, 0, edges @ member).any(1)
    shares = inter[:, has_inter] if has_inter.any() else np.zeros(1)
    return _Between(
        alpha_chi=float(shares.mean()),
        alpha_chi_std=float(shares.std()),
        taus=[contraction(_means(shares, sensitive)) for shares in given],
        r_chi=tuple(
            float(has_inter[sensitive == group].mean())
            for group in range(member.shape[1])
        ),
    )


def linear_terms(
    layer: str,
    h: np.ndarray,
    out: np.ndarray,
    weight: np.ndarray,
    sensitive: np.ndarray,
    eta: float | None = None,
    sigmoid: bool = False,
    before: LayerTerms | None = None,
) -> LayerTerms:
    """Compute the terms of Lemma 1 for a fully connected layer.

    Args:
        layer: its name.
        h: (N, F_in) input.
        out: (N,) or (N, F_out) what the layer returned.
        weight: (F_out, F_in) W.
        sensitive: (N,) groups, 0 .. K-1.
        eta: S3's factor on Z; None without S3.
        sigmoid: whether one follows. Without it, the corrected bounds need no deviations.
        before: the terms of the previous layer, whose composed bounds continue.

    Raises:
        NotDefined: there are fewer than two groups.
    """
    _check(sensitive)
    lipschitz = SIGMOID if sigmoid else IDENTITY
    z = h @ weight.T
    scale = gain(z, eta)
    z = z * scale
    sigma, sigma_effective = (
        float(np.linalg.norm(w, 2)) for w in (weight, weight * scale[:, None])
    )
    delta_z = _largest(z, sensitive)
    corrected = sharp = Bound(sigma_effective, 0.0)
    if sigmoid:
        corrected = theorem(lipschitz, sigma_effective, 1.0, 0.0, delta_z, z.shape[1])
        deviations = max(_pairs(np.abs(_deviations(z, sensitive)), sensitive))
        sharp = Bound(lipschitz * sigma_effective, lipschitz * deviations)
    printed = (
        theorem(lipschitz, sigma, 1.0, 0.0, delta_z, len(h))
        if sensitive.max() == 1
        else None
    )
    return LayerTerms(
        **_evaluated(
            disparity(h, sensitive),
            before,
            printed=printed,
            corrected=corrected,
            sharp=sharp,
        ),
        layer=layer,
        delta_out=disparity(out, sensitive),
        lipschitz=lipschitz,
        sigma_max=sigma,
        sigma_effective=sigma_effective,
        delta_z=delta_z,
    )


def _check(sensitive: np.ndarray) -> None:
    groups = np.unique(sensitive)
    if len(groups) < 2 or not np.array_equal(groups, np.arange(len(groups))):
        raise NotDefined(
            f"the theory is for two or more groups, numbered from 0; here they are {groups.tolist()}"
        )


def _evaluated(
    delta_in: float,
    before: LayerTerms | None,
    *,
    printed: Bound | None,
    corrected: Bound,
    sharp: Bound,
) -> dict[str, float | None]:
    values: dict[str, float | None] = {"delta_in": delta_in}
    for end, bound in (("_printed", printed), ("", corrected), ("_sharp", sharp)):
        values[f"bound{end}"] = bound and bound(delta_in)
        values[f"composed{end}"] = bound and bound(
            getattr(before, f"composed{end}") if before else delta_in
        )
    return values


def _means(values: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    """(K, F) mean of each group."""
    return np.stack(
        [values[sensitive == group].mean(0) for group in range(sensitive.max() + 1)]
    )


def _deviations(values: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    """(N, F) values less the mean of their node's group."""
    return values - _means(values, sensitive)[sensitive]


def _pairs(values: np.ndarray, sensitive: np.ndarray) -> Iterator[float]:
    """The norm over the features of two groups' means, added up, for each pair of groups; of absolute deviations it is
    what Eq. 18 has."""
    for first, second in combinations(_means(values, sensitive), 2):
        yield float(np.linalg.norm(first + second))


def _largest(values: np.ndarray, sensitive: np.ndarray) -> float:
    return float(np.abs(_deviations(values, sensitive)).max())


def gains(
    h: np.ndarray,
    weight: np.ndarray,
    attention: Sequence[csr_matrix],
    eta: float | None,
) -> tuple[np.ndarray, np.ndarray]:
    """(F,) S3's factors on the columns of C = h W^T and of Z; ones without S3. See `attention_terms`."""
    c = h @ weight.T
    gain_c = gain(c, eta)
    return gain_c, np.ones_like(gain_c) if eta is None else gain(
        _aggregate(attention, c * gain_c), eta
    )


def gain(values: np.ndarray, eta: float | None) -> np.ndarray:
    """(F,) S3's factor on each column; eta itself on one that does not vary in the layer's single precision."""
    if eta is None:
        return np.ones(values.shape[1])
    deviation = values.std(0)
    constant = deviation <= ROUNDING * np.finfo(np.float32).eps * np.abs(values.mean(0))
    return eta / np.where(constant, 1, deviation)


def _aggregate(attention: Sequence[csr_matrix], values: np.ndarray) -> np.ndarray:
    """sum_j alpha_ij values_j, (N, H * C), each head on its own columns."""
    heads = np.split(values, len(attention), axis=1)
    return np.concatenate(
        [alpha @ head for alpha, head in zip(attention, heads, strict=True)], axis=1
    )
