"""FairGAT with one decision made differently.

Where the paper leaves it open (studies/sensitivity.yaml), and to see what fair
attention owes to the groups and to the weights that it learns (studies/dose.yaml).

Everything else is that of fairgat.py, which knows nothing of them. `center: true` and
FairGAT's ablations are settings of FairGAT itself.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar, Literal

import torch
from pydantic import model_validator
from torch import Tensor, nn

from fairgat.methods import fairgat as original
from fairgat.nn import CSRGraph, FairGATConv, NodeClassifier
from fairgat.nn.columns import inverse_deviation, moments, rounding
from fairgat.nn.normalise import Features, spectrally_normalised, standardise

from .matched import matched_graph

# Half of a normal distribution lies within so many deviations of its median.
NORMAL_QUARTILE = 0.6745
# Robust deviations: of a normal column 3 values in 1,000 lie further out.
CLIPPED_AT = 3.0


class Settings(original.Settings):
    """FairGAT's settings, and the decisions that may differ, one at a time.

    The defaults are FairGAT.
    """

    of_step: ClassVar = {
        1: original.Settings.of_step[1] | {"one_sided", "groups", "alpha_chi_cap"},
        3: original.Settings.of_step[3] | {"deviation", "outliers", "logit"},
    }

    shares: Literal["paper"] = "paper"
    """What is varied is the paper's attention."""
    self_loops: bool = True
    """Whether a node attends to itself, as by an intra-edge."""
    one_sided: Literal["whole", "share"] = "whole"
    """What a node with only one kind of edges gives them: the whole attention, or no
    more than their share, 1 - alpha_chi for intra-edges and alpha_chi for
    inter-edges."""
    scores: Literal["scaled", "unscaled", "equal"] = "scaled"
    """Whether the attention scores are those of the C that S3 has scaled, of the C
    before it, or all the same, so that a node's neighbours of one kind have equal
    weights. `unscaled` amounts to S3 on Z only, which undoes C's factors."""
    deviation: Literal["function", "constant", "robust"] = "function"
    """Whether gradients pass through the standard deviations that S3 divides by, or
    take them for constants; or whether S3 divides by a robust deviation instead, which
    a few outliers do not move: the median distance from the median."""
    outliers: Literal["kept", "clipped"] = "kept"
    """Whether S3 moves values that lie more than three robust deviations from their
    column's median to that bound, before it scales: so no node has much longer
    representations than the others."""
    logit: Literal["scaled", "unscaled"] = "scaled"
    """Node classification: whether S3 scales the Z of the linear layer, the logit, or
    that of attention layers only."""
    groups: Literal["true", "shuffled", "matched"] = "true"
    """What attention is cut by: the nodes' groups, or those of a placebo, which may be
    one of centred FairGAT, too. `shuffled`: the groups shuffled among the nodes.
    `matched`: each node has as many inter-edges as some node of its degree, and which
    they are is drawn; so the share of nodes that have any stays, which shuffling
    raises."""
    alpha_chi_cap: Literal["none", "smallest_r_chi"] = "none"
    """Link prediction: whether alpha_chi may exceed the smallest R_chi of all groups.
    Node classification has the paper's closed form instead."""

    @model_validator(mode="after")
    def _one_at_a_time(self) -> "Settings":
        changed = [*self.changed]
        if self.center and self.groups == "true":
            changed.append("center")
        if len(changed) > 1:
            raise ValueError(
                "a variant differs from FairGAT in one decision, not in "
                f"{len(changed)}: {changed}"
            )
        if self.scores == "unscaled" and 3 not in self.steps:
            raise ValueError(
                "`scores: unscaled` is of step 3, which `steps` leaves out"
            )
        return self

    @property
    def changed(self) -> dict[str, str]:
        """The settings in which the variant differs from FairGAT, with their values."""
        own = Settings.model_fields.keys() - original.Settings.model_fields.keys()
        return self.model_dump(include=own, exclude_defaults=True)


class OneSidedShare(FairGATConv):
    """A layer in which a row with one kind of edges attends with only their share.

    The sum of such a row is below one.
    """

    def attend(
        self, source: Tensor, target: Tensor, graph: CSRGraph, keep: Tensor | None
    ) -> Tensor:
        """Take S1, then scale the attention of each row with one kind of edges."""
        sizes = graph.segptr.diff().view(-1, 2)
        intra, inter = sizes.unbind(1)
        share = source.new_ones(graph.num_rows)
        share[inter == 0] = 1 - self.alpha_chi
        share[intra == 0] = self.alpha_chi
        attention = super().attend(source, target, graph, keep)
        return attention * share[graph.target]


class _WithStepTwo(FairGATConv):
    """A layer in which S2 is computed, as it has an effect although S3 follows."""

    def weight(self) -> Tensor:
        """Give W (H * C, F_in) after S2."""
        if not self.spectral_norm:
            return self.lin.weight
        return spectrally_normalised(self.lin.weight)


class UnscaledScores(_WithStepTwo):
    """A layer whose attention scores are those of C = X W^T before S3."""

    def scores(self, c: Features) -> tuple[Tensor, Tensor]:
        """Give scores (H, N) of every node as a source, and as a target."""
        return super().scores(replace(c, scale=None))


class ConstantDeviation(_WithStepTwo):
    """A layer whose gradient takes S3's factors for constants."""

    def normalise(self, features: Features) -> Features:
        """Take S3 of C, and then of Z."""
        scaled = super().normalise(features)
        if scaled.scale is None:
            return scaled
        return replace(scaled, scale=scaled.scale.detach())


def scaled_by_a_constant(z: Tensor, eta: float) -> Tensor:
    """Take S3 of z (N,), whose deviation has no gradient."""
    mean, variance = moments(z.detach())
    factor = eta * inverse_deviation(variance, rounding(mean))
    return z * factor


def robust_deviation(x: Tensor) -> tuple[Tensor, Tensor]:
    """Find the median (...) of the columns of x (N, ...), and a robust deviation.

    That is the median distance from the median, as a normal column's deviation. A
    column of which half the values are equal has a distance of 0: its standard
    deviation stands in.
    """
    median = x.median(0).values
    distances = (x - median).abs()
    robust = distances.median(0).values / NORMAL_QUARTILE

    mean, variance = moments(x)
    least = rounding(mean)
    standard = 1 / inverse_deviation(variance, least)
    return median, torch.where(robust > least.sqrt(), robust, standard)


def scaled_robustly(x: Tensor, eta: float) -> Tensor:
    """Bring the columns of x (N, ...) to a robust deviation of eta."""
    _, deviation = robust_deviation(x)
    return x * (eta / deviation)


def clipped_and_scaled(x: Tensor, eta: float) -> Tensor:
    """Take S3 of x (N, ...), whose outliers are clipped first."""
    median, deviation = robust_deviation(x)
    reach = CLIPPED_AT * deviation
    clipped = torch.minimum(x, median + reach)
    clipped = torch.maximum(clipped, median - reach)
    return standardise(clipped, eta)


class OtherScale(FairGATConv):
    """A layer that multiplies features out and scales them by `scale`, not by S3.

    It keeps S2 without effect.
    """

    scales_by_step_3 = False

    def __init__(
        self, *arguments, scale: Callable[[Tensor, float], Tensor], **options
    ) -> None:
        super().__init__(*arguments, **options)
        self.scale = scale

    def normalise(self, features: Features) -> Features:
        """Scale C, and then Z."""
        if self.eta is None:
            return features
        scaled = self.scale(features.multiplied(), self.eta)
        return Features(scaled)


class OtherLogit(NodeClassifier):
    """A network whose logit is scaled by `scale` in place of S3; its weight has S2."""

    def __init__(
        self,
        *arguments,
        scale: Callable[[Tensor, float], Tensor],
        eta: float | None,
        **options,
    ) -> None:
        super().__init__(*arguments, **options)
        self.eta = eta
        self.scale = scale

    def classify(self, h: Tensor) -> Tensor:
        """Give logits (N,) of representations (N, hidden)."""
        z = self.linear(h).squeeze(1)
        if self.eta is not None:
            z = self.scale(z, self.eta)
        return z + self.bias


class EqualScores(FairGATConv):
    """A layer that attends to all neighbours of a kind alike."""

    def scores(self, c: Features) -> tuple[Tensor, Tensor]:
        """Give scores (H, N) of every node as a source, and as a target: 0."""
        zeros = c.values.new_zeros(self.heads, len(c.values))
        return zeros, zeros


# What a variant's decision puts in the place of FairGAT's layer, or of S3.
_LAYERS = {
    ("one_sided", "share"): OneSidedShare,
    ("scores", "unscaled"): UnscaledScores,
    ("scores", "equal"): EqualScores,
    ("deviation", "constant"): ConstantDeviation,
}
_SCALES = {
    ("deviation", "robust"): scaled_robustly,
    ("outliers", "clipped"): clipped_and_scaled,
}
_LOGITS = _SCALES | {("deviation", "constant"): scaled_by_a_constant}


class _Variant:
    settings: Settings

    @property
    def decision(self) -> tuple[str, str] | None:
        """The setting in which the variant differs, and its value; None for FairGAT."""
        return next(iter(self.settings.changed.items()), None)

    def conv(self) -> Callable[..., FairGATConv]:
        scale = _SCALES.get(self.decision)
        if scale is not None:
            return partial(OtherScale, scale=scale)
        return _LAYERS.get(self.decision, FairGATConv)

    @cached_property
    def csr(self) -> CSRGraph:
        """FairGAT's graph with this variant's self-loops and groups.

        A placebo draws them by the job's seed, which is the split's.
        """
        task, kind = self.task, self.settings.groups
        seed = torch.initial_seed()
        if kind == "matched":
            return matched_graph(task.plain_csr, task.graph.sensitive, seed)
        if kind == "true" and self.settings.self_loops:
            return super().csr

        sensitive = task.sensitive
        if kind == "shuffled":
            random = torch.Generator(sensitive.device).manual_seed(seed)
            order = torch.randperm(len(sensitive), generator=random)
            sensitive = sensitive[order]
        groups = None if self.shares is None else sensitive
        return CSRGraph.from_edge_index(
            task.edge_index, task.graph.num_nodes, groups, self.settings.self_loops
        )


class NodeClassification(_Variant, original.NodeClassification):
    def build(self) -> nn.Module:
        """Make FairGAT's network, but for the linear layer of some variants.

        The initial weights are FairGAT's.
        """
        task, layer = self.task, self.layer()
        options = self.options()
        if self.settings.logit == "unscaled":
            options["eta"] = None
        scale = _LOGITS.get(self.decision)
        if scale is None:
            return task.network(layer, **options)
        features, hidden = task.graph.num_features, task.training.hidden
        return OtherLogit(layer, features, hidden, scale=scale, **options)


class LinkPrediction(_Variant, original.LinkPrediction):
    def alpha_chi(self) -> float:
        share = super().alpha_chi()
        if self.settings.alpha_chi_cap == "none":
            return share
        r_chi = self.task.graph.r_chi()  # of the training graph
        return min(share, *r_chi.values())
