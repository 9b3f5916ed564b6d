"""FairGATConv: the attention layer of FairGAT."""

import math
from dataclasses import replace
from numbers import Real
from typing import Any

from torch import Tensor

from fairgat.nn.attention import segment_softmax
from fairgat.nn.conv import GATConv
from fairgat.nn.csr import CSRGraph
from fairgat.nn.linear import is_plain, matrix_of
from fairgat.nn.normalise import Features, largest_singular_value, spectrally_normalised
from fairgat.nn.shares import Shares


class FairGATConv(GATConv):
    r"""The fair attention layer of FairGAT: steps S1, S2 and S3, each of which can be left out (Algorithm 1).

    S1 (equation 10): a node with neighbours in both groups gives `alpha_chi` of its attention to inter-edges
    and the rest to intra-edges, self-loop included; the softmax is taken within each. With `Shares` it gives each group
    a mass of its own. S2: the weight matrix is divided by its spectral norm, unless S3, which undoes any factor,
    follows. S3: every feature of C = X W^T and of Z = alpha C is scaled to a standard deviation of `eta` over the
    nodes; attention scores are those of the scaled C.

    Args:
        alpha_chi: S1's share, in [0, 1], or `Shares`; None leaves S1 out.
        spectral_norm: S2.
        eta: S3's factor; None leaves S3 out.
        center: also subtract the mean in S3.

    The others are those of `GATConv`. Of its steps, `attend` is S1 and `normalise` S3.

    Raises:
        ValueError: alpha_chi lies outside [0, 1], eta is not positive, or `sensitive` is missing where S1 needs it.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        fill_value: float | Tensor | str = "mean",
        bias: bool = True,
        residual: bool = False,
        *,
        alpha_chi: float | Shares | None = 0.5,
        spectral_norm: bool = True,
        eta: float | None = 1.0,
        center: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            heads,
            concat,
            negative_slope,
            dropout,
            add_self_loops,
            edge_dim,
            fill_value,
            bias,
            residual,
        )
        self.alpha_chi = alpha_chi
        self.eta = eta
        self.center = center
        self.spectral_norm = spectral_norm
        self._check_steps()

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | CSRGraph,
        sensitive: Any = None,
        edge_attr: Tensor | None = None,
        size: tuple[int, int] | None = None,
        return_attention_weights: bool | None = None,
        *,
        keep: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        """Apply the layer; as `GATConv.forward`, with the (N,) sensitive group of each node: integers, bool or strings.

        There may be more than two groups: equal values make an intra-edge, different ones an inter-edge. Without S1
        `sensitive` is not needed. With S1 it must not be given where `edge_index` is a `CSRGraph`, which is made with
        it, and with the layer's shares if it has any.
        """
        self._check_steps()  # they may have been set since
        fair = self.alpha_chi is not None
        if fair and (sensitive is None) != isinstance(edge_index, CSRGraph):
            raise ValueError(
                "fair attention needs edge_index and `sensitive`, the group of each node, or a CSRGraph alone"
            )
        shares = self.alpha_chi if isinstance(self.alpha_chi, Shares) else None
        graph = self._graph(
            x,
            edge_index,
            sensitive if fair else None,
            keep,
            edge_attr,
            size,
            fair,
            shares,
        )
        if (
            sensitive is not None and not fair
        ):  # which nothing reads, and GATConv's third argument is `edge_attr`
            got = (
                tuple(sensitive.shape)
                if hasattr(sensitive, "shape")
                else (len(sensitive),)
            )
            if got != (len(x),):
                raise ValueError(
                    f"`sensitive` must have shape ({len(x)},), got {got}: features of edges are `edge_attr`"
                )
        return self._forward(x, graph, keep, edge_attr, return_attention_weights)

    def attend(
        self,
        source: Tensor,
        target: Tensor,
        graph: CSRGraph,
        keep: Tensor | None,
        edge: Tensor | None = None,
    ) -> Tensor:
        """S1: attention coefficients (H, E), with `alpha_chi` on the inter-edges of a row that has both kinds."""
        alpha_chi = (
            0.0
            if graph.shares is not None or self.alpha_chi is None
            else self.alpha_chi
        )
        return segment_softmax(
            source, target, graph, alpha_chi, self.negative_slope, keep, edge
        )

    def normalise(self, features: Features) -> Features:
        """S3 of C and of Z. Without `center` it is a factor of the columns, and nothing is multiplied out."""
        if self.eta is None:
            return features
        return (
            features.centred(self.eta)
            if self.center
            else features.standardised(self.eta)
        )

    def weight(self) -> Tensor:
        """S2: W (H * C, F_in) divided by its spectral norm; the parameter where S3 follows, which undoes any factor."""
        return (
            spectrally_normalised(self.lin.weight)
            if self.spectral_norm and self.eta is None
            else self.lin.weight
        )

    def transform(self, x: Tensor) -> Features:
        """C = X W^T after S2, which asks a `lin` that is not plain for its matrix."""
        c = super().transform(x)
        if is_plain(self.lin) or not self.spectral_norm or self.eta is not None:
            return c
        return replace(
            c, values=c.values / largest_singular_value(matrix_of(self.lin, x))
        )

    def extra_repr(self) -> str:
        steps = f", alpha_chi={self.alpha_chi}, spectral_norm={self.spectral_norm}, eta={self.eta}"
        return (
            steps
            + ", center=True" * (self.center and self.eta is not None)
            + super().extra_repr()
        )

    def _check_steps(self) -> None:
        share, eta = self.alpha_chi, self.eta
        # A tensor's gradient would be lost, and a flag is no share.
        number = (
            isinstance(share, Real) and not isinstance(share, bool) and 0 <= share <= 1
        )
        if not (number or share is None or isinstance(share, Shares)):
            allowed = "a share of attention in [0, 1], `Shares` (`balanced_shares` makes them) or None"
            raise ValueError(f"alpha_chi must be {allowed}, got {share!r}")
        if not (eta is None or (isinstance(eta, Real) and 0 < eta < math.inf)):
            raise ValueError(f"eta must be positive and finite, got {eta!r}")
