"""The terms of Theorem 1 for an attention layer and of Lemma 1 for a linear layer.

All are computed from arrays. For any number of groups: a disparity is the largest
distance between the means of two of them.

With W the weight matrix and D_c, D_z the diagonal factors of step 3 (identities
without it), a layer computes

    c_j = D_c W h_j,    z_i = D_z sum_j alpha_ij c_j,    h'_i = sigma(z_i + b).

What lies between h and z is linear once the data are given, so the proof holds for the
effective weight W~ = D_z D_c W and c~_j = W~ h_j; see docs/theory.md, "The bounds" and
"More than two groups".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from fairgat.errors import NotDefined
from fairgat.groups import contraction
from fairgat.theory.distances import (
    deviations_within,
    disparity,
    group_means,
    largest_deviation,
    norms_of_pairs,
)
from fairgat.theory.step3 import aggregate, gain, gains

RELU = IDENTITY = 1.0  # L of the activations, element by element
SIGMOID = 0.25


class Bound(NamedTuple):
    """delta_out <= slope * delta_in + offset.

    `slope` passes disparity on, which FairGAT's steps 1 and 2 reduce; `offset` comes
    from deviations inside the groups, which step 3 reduces. Kept apart, the bounds of
    successive layers can be composed.
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
    """Theorem 1: L (sigma_max factor delta_in + 2 sqrt(d) Delta_c + 2 sqrt(d) Delta_z).

    Lemma 1, for a fully connected layer, is the same with `factor` 1 and `delta_c` 0.
    The other terms are those of `LayerTerms`. As d, `dimension`, the paper prints N,
    the number of nodes; its proof gives F, that of features.
    """
    slope = lipschitz * sigma_max * factor
    offset = lipschitz * 2 * sqrt(dimension) * (delta_c + delta_z)
    return Bound(slope, offset)


@dataclass(frozen=True, kw_only=True)
class LayerTerms:
    """Every term of the bound on a layer's output disparity, and three forms of it.

    Norms are Euclidean, in units of the representations; shares, factors and constants
    have no unit. Terms that only attention has are None for a linear layer, and those
    of the theorem as printed, which is for two groups, for more.
    """

    layer: str
    """Name of the layer."""
    delta_in: float
    """delta_h of the input: the largest distance between two groups' mean
    representations (above Theorem 1)."""
    delta_out: float
    """delta_h of the output, measured on what the layer returned."""
    lipschitz: float
    """L of the activation: ReLU and identity 1, sigmoid 1/4."""
    sigma_max: float
    """Spectral norm of W, after step 2 if that is on."""
    sigma_effective: float
    """Spectral norm of W~: of W and step 3's normalisation together."""
    delta_c: float | None = None
    """Delta_c: largest deviation of an entry of c_j from its group's mean (A1), of C
    after step 3."""
    delta_c_effective: float | None = None
    """The same for c~_j, the representations that are aggregated into z."""
    delta_z: float
    """Delta_z: largest deviation of an entry of z_j from its group's mean (A1), of Z
    after step 3."""
    r_0: float | None = None
    """R^chi_0: of two groups, the share of group 0's nodes that have an inter-edge."""
    r_1: float | None = None
    """R^chi_1: the same for group 1."""
    alpha_chi: float | None = None
    """Attention to inter-edges: mean over the nodes that have one, and over heads."""
    alpha_chi_std: float | None = None
    """Its standard deviation; assumption A2 says 0."""
    factor_printed: float | None = None
    """|(R_0 + R_1) alpha_chi - 1| (Theorem 1)."""
    tau: float | None = None
    """tau(B), with B the mean attention of each group to each: half the largest sum of
    differences between two rows, and the largest over heads. Of two groups
    |a_0 + a_1 - 1|, with a_s the mean inter-attention over all nodes of group s; equals
    `factor_printed` where A2 holds, and needs no assumption."""
    bound_printed: float | None
    """Right-hand side of Theorem 1 or Lemma 1 as printed: W, `factor_printed`,
    sqrt(N)."""
    bound: float
    """The corrected bound: W~, `tau`, sqrt(F); proved in docs/theory.md."""
    bound_sharp: float
    """The corrected bound with mean absolute deviations per feature in place of the
    largest ones."""
    composed_printed: float | None
    """As `bound_printed`, with the composed bound of the previous layer in place of
    `delta_in`: from delta_x on."""
    composed: float
    """As `bound`, composed."""
    composed_sharp: float
    """As `bound_sharp`, composed."""
    statistical_parity: float | None = None
    """Delta_SP over all nodes, of decisions cut at one half; only for the layer that
    gives probabilities."""


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
    """Compute the terms of Theorem 1 for one layer with ReLU.

    A bias before the ReLU changes nothing.

    Args:
        layer: its name.
        h: (N, F_in) input.
        out: (N, H * C) what the layer returned; only its group means are used.
        weight: (H * C, F_in) W, head by head.
        attention: per head (N, N), row i holding alpha_ij; an entry is an edge even
            where it is 0.
        sensitive: (N,) groups, 0 .. K-1.
        eta: step 3's factor on features of unit variance; None without step 3.
        before: the terms of the previous layer, whose composed bounds continue.

    Raises:
        NotDefined: there are fewer than two groups, or a node's attention does not sum
            to 1.
    """
    _check_groups(sensitive)
    _check_sums(layer, attention)
    gain_c, gain_z = gains(h, weight, attention, eta)
    factors = gain_c * gain_z
    c = h @ weight.T * gain_c
    c_effective = c * gain_z  # c~, by the effective weight W~
    effective = weight * factors[:, None]
    z = aggregate(attention, c_effective)

    delta_in = disparity(h, sensitive)
    delta_c = largest_deviation(c, sensitive)
    delta_c_effective = largest_deviation(c_effective, sensitive)
    delta_z = largest_deviation(z, sensitive)
    sigma, sigma_effective = _spectral_norm(weight), _spectral_norm(effective)
    between = _between_groups(attention, sensitive)

    printed, of_two_groups = None, {}
    if len(between.r_chi) == 2:
        r_0, r_1 = between.r_chi
        factor = abs((r_0 + r_1) * between.alpha_chi - 1)
        of_two_groups = {"r_0": r_0, "r_1": r_1, "factor_printed": factor}
        printed = theorem(RELU, sigma, factor, delta_c, delta_z, len(h))
    slope = _slope(effective, sigma_effective, between.taus, len(between.r_chi))
    corrected = theorem(RELU, slope, 1.0, delta_c_effective, delta_z, c.shape[1])
    offset = _sharp_offset(attention, c_effective, z, sensitive)

    sharp = Bound(slope, offset)
    return LayerTerms(
        **_bounds_at(delta_in, before, printed, corrected, sharp),
        layer=layer,
        delta_in=delta_in,
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


def _slope(
    effective: np.ndarray, sigma_effective: float, taus: list[float], num_groups: int
) -> float:
    """What the corrected bound multiplies the input's disparity by.

    With more than two groups, heads differ in how the groups' means enter their rows,
    and not only in how much: each head counts with a norm of its own.

    Args:
        effective: (H * C, F) W~, and its spectral norm.
        taus: tau of each head.
    """
    if num_groups == 2:
        return sigma_effective * max(taus)
    norms = [_spectral_norm(head) for head in np.split(effective, len(taus))]
    return float(np.linalg.norm(np.multiply(norms, taus)))


def _sharp_offset(
    attention: Sequence[csr_matrix],
    c: np.ndarray,
    z: np.ndarray,
    sensitive: np.ndarray,
) -> float:
    """The sharp bound's offset: what deviations of c (N, H * C) and of z allow."""
    deviations_of_c = np.abs(deviations_within(c, sensitive))
    deviations_of_z = np.abs(deviations_within(z, sensitive))
    attended = aggregate(attention, deviations_of_c)
    of_c = norms_of_pairs(attended, sensitive)
    of_z = norms_of_pairs(deviations_of_z, sensitive)
    return max(map(sum, zip(of_c, of_z, strict=True)))


@dataclass(frozen=True, kw_only=True)
class _Between:
    """What attention gives to other groups, under the names of `LayerTerms`."""

    alpha_chi: float
    alpha_chi_std: float
    taus: list[float]
    """Of each head."""
    r_chi: tuple[float, ...]
    """Of each group, the share of its nodes that have an inter-edge."""


def _between_groups(attention: Sequence[csr_matrix], sensitive: np.ndarray) -> _Between:
    """Measure what nodes give to other groups, by attention of each head (N, N)."""
    groups = np.arange(sensitive.max() + 1)
    member = (sensitive[:, None] == groups).astype(float)  # (N, K)

    first = attention[0]
    ones = np.ones_like(first.data)
    edges = csr_matrix((ones, first.indices, first.indptr), first.shape)
    inter_edges = _to_others(edges @ member, member)  # (N,) how many
    has_inter = inter_edges > 0
    r_chi = tuple(float(has_inter[sensitive == group].mean()) for group in groups)

    shares = [
        head @ member for head in attention
    ]  # (N, K) from each node to each group
    taus = [contraction(group_means(each, sensitive)) for each in shares]
    alpha_chi = np.zeros(1)  # where nobody has an inter-edge
    if has_inter.any():
        to_others = [_to_others(each, member) for each in shares]
        alpha_chi = np.stack(to_others)[:, has_inter]
    return _Between(
        alpha_chi=float(alpha_chi.mean()),
        alpha_chi_std=float(alpha_chi.std()),
        taus=taus,
        r_chi=r_chi,
    )


def _to_others(per_group: np.ndarray, member: np.ndarray) -> np.ndarray:
    """(N,) sum of what nodes give to each group (N, K), except to their own."""
    return np.where(member, 0, per_group).sum(1)


def _check_sums(layer: str, attention: Sequence[csr_matrix]) -> None:
    """Check that each node's attention sums to 1."""
    for head in attention:
        sums = np.asarray(head.sum(1))
        if (np.abs(sums - 1) > 1e-3).any():
            raise NotDefined(
                f"{layer}: the bounds need each node's attention to sum to 1, and here "
                "it does not; leave methods with `one_sided: share`, or with "
                "`self_loops: false` on a graph with isolated nodes, out of the theory"
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
        eta: step 3's factor on Z; None without step 3.
        sigmoid: whether one follows. Without it, the corrected bounds need no
            deviations.
        before: the terms of the previous layer, whose composed bounds continue.

    Raises:
        NotDefined: there are fewer than two groups.
    """
    _check_groups(sensitive)
    lipschitz = SIGMOID if sigmoid else IDENTITY
    z = h @ weight.T
    scale = gain(z, eta)
    z = z * scale

    delta_in = disparity(h, sensitive)
    delta_z = largest_deviation(z, sensitive)
    sigma = _spectral_norm(weight)
    sigma_effective = _spectral_norm(weight * scale[:, None])

    printed = None
    if sensitive.max() == 1:
        printed = theorem(lipschitz, sigma, 1.0, 0.0, delta_z, len(h))
    corrected = sharp = Bound(sigma_effective, 0.0)
    if sigmoid:
        corrected = theorem(lipschitz, sigma_effective, 1.0, 0.0, delta_z, z.shape[1])
        deviations = np.abs(deviations_within(z, sensitive))
        offset = lipschitz * max(norms_of_pairs(deviations, sensitive))
        sharp = Bound(lipschitz * sigma_effective, offset)

    return LayerTerms(
        **_bounds_at(delta_in, before, printed, corrected, sharp),
        layer=layer,
        delta_in=delta_in,
        delta_out=disparity(out, sensitive),
        lipschitz=lipschitz,
        sigma_max=sigma,
        sigma_effective=sigma_effective,
        delta_z=delta_z,
    )


def _check_groups(sensitive: np.ndarray) -> None:
    """Check that there are two or more groups, numbered from 0."""
    groups = np.unique(sensitive)
    numbered = np.array_equal(groups, np.arange(len(groups)))
    if len(groups) < 2 or not numbered:
        raise NotDefined(
            "the theory is for two or more groups, numbered from 0; here they are "
            f"{groups.tolist()}"
        )


def _bounds_at(
    delta_in: float,
    before: LayerTerms | None,
    printed: Bound | None,
    corrected: Bound,
    sharp: Bound,
) -> dict[str, float | None]:
    """Evaluate each bound at the disparity of the input, and at the bound on it.

    The latter is that of the layer `before`. The results are the `bound*` and
    `composed*` of `LayerTerms`.
    """
    values: dict[str, float | None] = {}
    for suffix, bound in (("_printed", printed), ("", corrected), ("_sharp", sharp)):
        bound_in = getattr(before, f"composed{suffix}") if before else delta_in
        values[f"bound{suffix}"] = bound and bound(delta_in)
        values[f"composed{suffix}"] = bound and bound(bound_in)
    return values


def _spectral_norm(weight: np.ndarray) -> float:
    return float(np.linalg.norm(weight, 2))
