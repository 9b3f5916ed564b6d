"""FairGATConv: the attention layer of FairGAT."""

from collections.abc import Sized
from dataclasses import replace
from numbers import Real
from typing import Any

from torch import Tensor

from fairgat.nn.attention import segment_softmax
from fairgat.nn.batch import Batch
from fairgat.nn.conv import GATConv, Output
from fairgat.nn.csr import CSRGraph
from fairgat.nn.graphs import graph_of
from fairgat.nn.linear import is_plain, matrix_of
from fairgat.nn.loops import Fill
from fairgat.nn.normalise import (
    Features,
    check_eta,
    largest_singular_value,
    spectrally_normalised,
)
from fairgat.nn.shares import Shares


class FairGATConv(GATConv):
    r"""The fair attention layer of FairGAT, each of whose steps can be left out.

    They are those of Algorithm 1. Step 1 (equation 10): a node with neighbours in both
    groups gives `alpha_chi` of its attention to inter-edges and the rest to
    intra-edges, self-loop included; the softmax is taken within each. With `Shares` it
    gives each group a mass of its own. Step 2: the weight matrix is divided by its
    spectral norm, unless step 3, which undoes any factor, follows. Step 3: every
    feature of C = X W^T and of Z = alpha C is scaled to a standard deviation of `eta`
    over the nodes; attention scores are those of the scaled C.

    Args:
        alpha_chi: step 1's share, in [0, 1], or `Shares`; None leaves step 1 out.
        spectral_norm: step 2.
        eta: step 3's factor; None leaves step 3 out. Deviations are those over all
            nodes of the call, so an output depends on all of them; with `batch`, over
            each graph's.
        center: also subtract the mean in step 3.

    The others are those of `GATConv`. Step 1 is in `attend`, step 3 in `normalise`.

    Raises:
        ValueError: alpha_chi lies outside [0, 1], eta is not positive, or `sensitive`
            is missing where step 1 needs it.
    """

    scales_by_step_3 = True
    """False in a subclass with another `normalise`, for which there is no theorem."""

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
        fill_value: Fill = "mean",
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
        batch: Tensor | None = None,
        batch_size: int | None = None,
    ) -> Output:
        """Apply the layer; what is not listed here is as for `GATConv.forward`.

        Args:
            sensitive: (N,) the sensitive group of each node: integers, bool or strings,
                of two groups or more; equal values make an intra-edge, different ones
                an inter-edge. Without step 1 it is not needed. With step 1 it must not
                be given where `edge_index` is a `CSRGraph`, which is made with it, and
                with the layer's shares if it has any.
            batch: (N,) integers, the graph of each node, in any order, as PyTorch
                Geometric's norms take it: step 3 takes each graph's own deviations.
            batch_size: B, the number of graphs; one more than the largest if None.
        """
        self._check_steps()  # they may have been set since
        self._check_features(x, size)
        by_group = self.alpha_chi is not None
        has_groups = sensitive is not None
        if by_group and has_groups == isinstance(edge_index, CSRGraph):
            raise ValueError(
                "fair attention needs edge_index and `sensitive`, the group of each "
                "node, or a CSRGraph alone"
            )
        if not by_group:
            self._check_unread(sensitive, len(x))
            sensitive = None

        graph = graph_of(
            edge_index,
            len(x),
            self.add_self_loops,
            by_group=by_group,
            sensitive=sensitive,
            shares=self.alpha_chi if isinstance(self.alpha_chi, Shares) else None,
        )
        graphs = Batch.of(batch, batch_size, x)
        return self._pass(x, graph, keep, edge_attr, return_attention_weights, graphs)

    def attend(
        self,
        source: Tensor,
        target: Tensor,
        graph: CSRGraph,
        keep: Tensor | None,
        edge: Tensor | None = None,
    ) -> Tensor:
        """Step 1: attention coefficients (H, E).

        `alpha_chi` goes to the inter-edges of a row that has both kinds.
        """
        alpha_chi = self.alpha_chi
        if alpha_chi is None or graph.shares is not None:
            alpha_chi = 0.0  # which is not read: there is one segment, or shares
        return segment_softmax(
            source,
            target,
            graph,
            alpha_chi=alpha_chi,
            slope=self.negative_slope,
            keep=keep,
            score_edge=edge,
        )

    def normalise(self, features: Features) -> Features:
        """Step 3 of C and of Z.

        Without `center` it is a factor of the columns, and nothing is multiplied out.
        """
        if self.eta is None:
            return features
        if self.center:
            return features.centred(self.eta)
        return features.standardised(self.eta)

    def weight(self) -> Tensor:
        """W (H * C, F_in) of a pass; step 2 divides it by its spectral norm."""
        weight = self.lin.weight
        return spectrally_normalised(weight) if self._takes_step_2() else weight

    def transform(self, x: Tensor) -> Features:
        """C = X W^T after step 2.

        A plain `lin` multiplies by `weight`; of another, step 2 first finds the matrix.
        """
        c = super().transform(x)
        if is_plain(self.lin) or not self._takes_step_2():
            return c
        norm = largest_singular_value(matrix_of(self.lin, x))
        return replace(c, values=c.values / norm)

    def _takes_step_2(self) -> bool:
        """Whether step 2 makes a difference: step 3 undoes any factor of the weight."""
        return self.spectral_norm and self.eta is None

    def extra_repr(self) -> str:
        steps = f", alpha_chi={self.alpha_chi}, spectral_norm={self.spectral_norm}"
        steps += f", eta={self.eta}"
        if self.center and self.eta is not None:
            steps += ", center=True"
        return steps + super().extra_repr()

    def _check_steps(self) -> None:
        """Refuse an alpha_chi or eta with which there is no step 1 or step 3."""
        alpha_chi = self.alpha_chi
        # A tensor's gradient would be lost, and a flag is no share.
        is_number = isinstance(alpha_chi, Real) and not isinstance(alpha_chi, bool)
        is_share = is_number and 0 <= alpha_chi <= 1
        if not (is_share or alpha_chi is None or isinstance(alpha_chi, Shares)):
            raise ValueError(
                "alpha_chi must be a share of attention in [0, 1], `Shares` "
                f"(`balanced_shares` makes them) or None, got {alpha_chi!r}"
            )
        check_eta(self.eta)

    @staticmethod
    def _check_unread(sensitive: Any, nodes: int) -> None:
        """Refuse what is no group of each node; GATConv takes `edge_attr` there."""
        if sensitive is None:
            return
        got = ()  # one value
        if hasattr(sensitive, "shape"):
            got = tuple(sensitive.shape)
        elif isinstance(sensitive, Sized):  # a list
            got = (len(sensitive),)
        if got != (nodes,):
            raise ValueError(
                f"`sensitive` must have shape ({nodes},), got {got}: features of edges "
                "are `edge_attr`"
            )
