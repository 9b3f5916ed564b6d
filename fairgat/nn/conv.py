"""GATConv and FairGATConv, with the arguments, the call and the state dict of `torch_geometric.nn.GATConv`."""

import math
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from fairgat.nn.attention import fused, segment_softmax, sum_of_neighbours
from fairgat.nn.csr import CSRGraph, csr_of
from fairgat.nn.linear import features_linear
from fairgat.nn.normalise import Features, spectrally_normalised
from fairgat.nn.shares import Shares


class GATConv(nn.Module):
    r"""The graph attention layer of Velickovic et al. (2018), as `torch_geometric.nn.GATConv` computes it.

    .. math::
        h'_i = \sum_{j \in N(i) \cup \{i\}} \alpha_{ij} W h_j, \qquad
        \alpha_{ij} = \operatorname{softmax}_j \operatorname{LeakyReLU}(a_{src}^T W h_j + a_{dst}^T W h_i)

    A pass takes three steps, each a method that a subclass may override: `scores` of the features C = X W^T, `attend`,
    and `normalise`, which is applied to C and to the sums Z. They take `Features`, which are not multiplied out yet
    where `in_channels` is smaller than `out_channels`. Under autocast the layer keeps the precision of its parameters.

    Args:
        in_channels: F_in, one number.
        out_channels: C, per head.
        heads: H.
        concat: concatenate the heads, or average them.
        negative_slope: of the LeakyReLU.
        dropout: probability with which a normalised attention coefficient is dropped in training.
        add_self_loops: give every node exactly one self-loop.
        edge_dim: must be None.
        fill_value: not read.
        bias: add a learned bias.
        residual: add a learned linear map of the input.

    Shapes:
        input (N, F_in) and edge_index (2, E); output (N, H * C), or (N, C) without concat.

    Raises:
        ValueError: bipartite input or edge features are asked for.
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
        fill_value: float | str = "mean",
        bias: bool = True,
        residual: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(in_channels, int) or in_channels < 1:
            raise ValueError(
                f"in_channels must be one positive number, got {in_channels!r}: "
                "neither bipartite graphs nor lazy initialisation are supported"
            )
        if out_channels < 1 or heads < 1:
            raise ValueError(f"out_channels and heads must be positive, got {out_channels} and {heads}")
        if edge_dim is not None:
            raise ValueError("edge_dim must be None: edge features are not supported")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.heads = heads
        self.concat = concat
        self.negative_slope = negative_slope
        self.dropout = dropout
        self.add_self_loops = add_self_loops
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        width = heads * out_channels if concat else out_channels
        self.bias = nn.Parameter(torch.empty(width)) if bias else None
        self.res = nn.Linear(in_channels, width, bias=False) if residual else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew by Glorot's initialisation; the bias becomes 0."""
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            glorot_(weight)
        if self.res is not None:
            glorot_(self.res.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | CSRGraph,
        edge_attr: None = None,
        size: tuple[int, int] | None = None,
        return_attention_weights: bool | None = None,
        *,
        keep: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        """Apply the layer.

        Args:
            x: (N, F_in) node features.
            edge_index: as for `CSRGraph.from_edge_index`, whose result is kept for as long as the same tensor is
                passed; or a `CSRGraph`.
            edge_attr: must be None.
            size: None or (N, N).
            return_attention_weights: also return (edge_index with self-loops, alpha (E', H)).
            keep: (E',) bool, False drops an edge; in the order of the CSR graph's edges (`CSRGraph.reorder_edges`).

        Raises:
            ValueError: a shape or type is wrong, a `CSRGraph` has another number of nodes or is cut by group, or
                bipartite input or edge features are given.
        """
        graph = self._graph(x, edge_index, None, keep, edge_attr, size)
        return self._forward(x, graph, keep, return_attention_weights)

    # ------------------------------------------------------------------------------------------ the three steps

    def scores(self, c: Features) -> tuple[Tensor, Tensor]:
        """Scores (H, N) of every node as a source, and as a target; LeakyReLU of their sum goes into the softmax."""
        source, target = c.dot(torch.cat([self.att_src, self.att_dst]))
        return source, target

    def attend(self, source: Tensor, target: Tensor, graph: CSRGraph, keep: Tensor | None) -> Tensor:
        """Attention coefficients (H, E) in the graph's order, before dropout, from `scores`."""
        return segment_softmax(source, target, graph, 0.0, self.negative_slope, keep)

    def normalise(self, features: Features) -> Features:
        """What is done to C before it is attended to, and to Z: nothing."""
        return features

    def weight(self) -> Tensor:
        """W (H * C, F_in) of a pass: the parameter."""
        return self.lin.weight

    # ----------------------------------------------------------------------------------------- how they are taken

    def aggregate(
        self, x: Tensor, graph: CSRGraph, keep: Tensor | None = None, rows: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Take the three steps for x (N, F_in).

        Args:
            x, graph, keep: as for `forward`.
            rows: (M,) node of each row, for a graph that has some nodes' rows only; None where row i is node i.

        Returns:
            the output without residual, (M, H * C) or (M, C), and alpha (H, E) after dropout.
        """
        c = self.normalise(self.transform(x))
        source, target = self.scores(c)
        alpha = self.attend(source, target if rows is None else target.index_select(1, rows), graph, keep)
        alpha = torch.dropout(alpha, self.dropout, self.training) if self.dropout else alpha
        z = Features(sum_of_neighbours(alpha, c.values, graph), c.weight, c.scale)
        normalised = self.normalise(z if self.concat else z.averaged())
        return normalised.dense(self.bias), alpha

    def transform(self, x: Tensor) -> Features:
        """C = X W^T; not multiplied out where it would be wider than X."""
        if self.in_channels < self.out_channels:
            return Features(x, self.weight().view(self.heads, self.out_channels, -1))
        return Features(features_linear(x, self.weight()).view(-1, self.heads, self.out_channels))

    def _graph(self, x, edge_index, sensitive, keep, edge_attr, size, fair=False, shares=None) -> CSRGraph:
        """The graph in CSR form. What doesn't fit is refused here: the kernels check no bounds."""
        if edge_attr is not None:
            raise ValueError("edge_attr must be None: edge features are not supported")
        if isinstance(x, tuple | list) or (size is not None and tuple(size) != (len(x), len(x))):
            raise ValueError("x must be one matrix, and size None or (N, N): bipartite graphs are not supported")
        if not isinstance(x, Tensor):
            raise ValueError(f"x must be a tensor, got {type(x).__name__}: pass torch.as_tensor(x)")
        if x.dim() != 2 or x.size(1) != self.in_channels:
            raise ValueError(f"x must have shape (N, {self.in_channels}), got {tuple(x.shape)}")
        if x.layout != torch.strided:
            raise ValueError(f"x must be dense, got {x.layout}: pass x.to_dense()")
        if x.dtype != self.att_src.dtype and not torch.is_autocast_enabled(x.device.type):
            own = self.att_src.dtype
            raise ValueError(f"x is {x.dtype} and the layer {own}: convert one of them, as x.to({own}) does")
        if not isinstance(edge_index, CSRGraph):
            graph = csr_of(edge_index, x.size(0), sensitive, self.add_self_loops, shares)
        elif edge_index.num_nodes != x.size(0):
            raise ValueError(f"the CSRGraph has {edge_index.num_nodes} nodes, and x {x.size(0)} rows")
        elif edge_index.segmented != fair:
            raise ValueError(f"this layer needs a CSRGraph made {'with' if fair else 'without'} `sensitive`")
        elif edge_index.shares != shares:
            raise ValueError(f"this layer needs a CSRGraph made with shares={shares}, got {edge_index.shares}")
        elif edge_index.add_self_loops not in (None, self.add_self_loops):
            raise ValueError(f"this layer needs a CSRGraph made with add_self_loops={self.add_self_loops}")
        else:
            graph = edge_index
        if keep is not None and (keep.shape != (graph.num_edges,) or keep.dtype != torch.bool):
            expected = f"bool of shape ({graph.num_edges},), one for each edge"
            raise ValueError(f"keep must be {expected}, got {keep.dtype} of {tuple(keep.shape)}")
        return graph

    def _forward(self, x, graph, keep, return_attention_weights):
        fused(x)  # in a forked process, before PyTorch waits for threads that are not there
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(self.att_src.dtype)
        with torch.autocast(x.device.type, enabled=False):
            out, alpha = self.aggregate(x, graph, keep)
            if self.res is not None:
                out = out + self.res(x)
        if not return_attention_weights:
            return out
        return out, (graph.edge_index, graph.original_order(alpha.t()))

    def extra_repr(self) -> str:
        return "" if self.add_self_loops else ", add_self_loops=False"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads}{self.extra_repr()})"


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
        fill_value: float | str = "mean",
        bias: bool = True,
        residual: bool = False,
        *,
        alpha_chi: float | Shares | None = 0.5,
        spectral_norm: bool = True,
        eta: float | None = 1.0,
        center: bool = False,
    ) -> None:
        super().__init__(
            in_channels, out_channels, heads, concat, negative_slope, dropout, add_self_loops, edge_dim, fill_value,
            bias, residual,
        )  # fmt: skip
        if not (alpha_chi is None or isinstance(alpha_chi, Shares)):
            _check_share(alpha_chi)
        if eta is not None:
            _check_eta(eta)
        self.alpha_chi = alpha_chi
        self.eta = eta
        self.center = center and eta is not None
        self.spectral_norm = spectral_norm

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | CSRGraph,
        sensitive: Any = None,
        edge_attr: None = None,
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
        fair = self.alpha_chi is not None
        if fair and sensitive is None and not isinstance(edge_index, CSRGraph):
            raise ValueError("fair attention needs `sensitive`, the (N,) group of each node")
        if not fair and sensitive is not None:  # GATConv's third argument is edge_attr
            count = len(sensitive) if getattr(sensitive, "ndim", 1) else 1
            if count != len(x):
                raise ValueError(f"sensitive must have a group for each of the {len(x)} nodes, got {count} values")
            if getattr(sensitive, "ndim", 1) > 1 or (isinstance(sensitive, Tensor) and sensitive.is_floating_point()):
                raise ValueError(
                    "the third argument is `sensitive`, one group for each node: there are no edge features"
                )
        shares = self.alpha_chi if isinstance(self.alpha_chi, Shares) else None
        groups = sensitive if fair else None
        graph = self._graph(x, edge_index, groups, keep, edge_attr, size, fair, shares)
        if groups is not None and graph is edge_index:
            raise ValueError("`sensitive` is part of the CSRGraph: pass either it, or edge_index and `sensitive`")
        return self._forward(x, graph, keep, return_attention_weights)

    def attend(self, source: Tensor, target: Tensor, graph: CSRGraph, keep: Tensor | None) -> Tensor:
        """S1: attention coefficients (H, E), with `alpha_chi` on the inter-edges of a row that has both kinds."""
        alpha_chi = 0.0 if graph.shares is not None or self.alpha_chi is None else self.alpha_chi
        _check_share(alpha_chi)  # it may have been set since
        return segment_softmax(source, target, graph, alpha_chi, self.negative_slope, keep)

    def normalise(self, features: Features) -> Features:
        """S3 of C and of Z. Without `center` it is a factor of the columns, and nothing is multiplied out."""
        if self.eta is None:
            return features
        _check_eta(self.eta)  # it may have been set since
        if not self.center:
            return features.standardised(self.eta)
        return features.centred(self.eta)

    def weight(self) -> Tensor:
        """S2: W (H * C, F_in) divided by its spectral norm; the parameter where S3 follows, which undoes any factor."""
        return spectrally_normalised(self.lin.weight) if self.spectral_norm and self.eta is None else self.lin.weight

    def extra_repr(self) -> str:
        steps = f", alpha_chi={self.alpha_chi}, spectral_norm={self.spectral_norm}, eta={self.eta}"
        return steps + ", center=True" * self.center + super().extra_repr()


def _check_share(alpha_chi: Any) -> None:
    # Not a tensor, whose gradient would be lost, and not a flag.
    if isinstance(alpha_chi, bool) or not isinstance(alpha_chi, Real) or not 0 <= alpha_chi <= 1:
        allowed = "a share of attention in [0, 1], `Shares` (`balanced_shares` makes them) or None"
        raise ValueError(f"alpha_chi must be {allowed}, got {alpha_chi!r}")


def _check_eta(eta: float) -> None:
    if not isinstance(eta, Real) or not 0 < eta < math.inf:
        raise ValueError(f"eta must be positive and finite, got {eta!r}")


def glorot_(weight: Tensor) -> Tensor:
    """Initialise by Glorot's uniform distribution over the last two dimensions, as PyTorch Geometric does."""
    bound = (6 / (weight.size(-2) + weight.size(-1))) ** 0.5
    return nn.init.uniform_(weight, -bound, bound)
