"""GATConv, with the arguments, call and state dict of `torch_geometric.nn.GATConv`."""

from dataclasses import replace
from numbers import Integral, Real

import torch
from torch import Tensor, nn

from fairgat.nn.attention import segment_softmax, sum_of_neighbours
from fairgat.nn.batch import Batch
from fairgat.nn.csr import CSRGraph
from fairgat.nn.graphs import graph_of
from fairgat.nn.linear import features_linear, is_plain
from fairgat.nn.loops import FILLS, Fill, with_loops
from fairgat.nn.normalise import Features

Output = Tensor | tuple[Tensor, tuple[Tensor, Tensor]]


class GATConv(nn.Module):
    r"""The graph attention layer of Velickovic et al. (2018).

    It computes what `torch_geometric.nn.GATConv` does:

    .. math::
        h'_i = \sum_{j \in N(i) \cup \{i\}} \alpha_{ij} W h_j, \qquad
        \alpha_{ij} = \operatorname{softmax}_j
        \operatorname{LeakyReLU}(a_{src}^T W h_j + a_{dst}^T W h_i
        + a_{edge}^T W_{edge} e_{ij})

    the last term where edges have features. A pass takes three steps, each a method
    that a subclass may override: `scores` of the features C = X W^T, `attend`, and
    `normalise`, which is applied to C and to the sums Z. They take `Features`, which
    are not multiplied out yet where `in_channels` is smaller than `out_channels`. Under
    autocast the layer keeps the precision of its parameters.

    Args:
        in_channels: F_in, one number.
        out_channels: C, per head.
        heads: H.
        concat: concatenate the heads, or average them.
        negative_slope: of the LeakyReLU.
        dropout: probability with which a normalised attention coefficient is dropped in
            training.
        add_self_loops: give every node exactly one self-loop.
        edge_dim: number of features of an edge; None if edges have none.
        fill_value: features of the self-loops that are added: a number, a tensor
            (edge_dim,), or "mean", "add", "min", "max" or "mul" of those of the other
            edges into the node.
        bias: add a learned bias.
        residual: add a learned linear map of the input.

    Shapes:
        input (N, F_in), edge_index (2, E) and edge_attr (E, edge_dim);
        output (N, H * C), or (N, C) without concat.

    Raises:
        ValueError: bipartite input, lazy initialisation or another fill_value is asked
            for.
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
        fill_value: Fill = "mean",
        bias: bool = True,
        residual: bool = False,
    ) -> None:
        super().__init__()
        sizes = in_channels, out_channels, heads
        if not all(isinstance(each, Integral) and each > 0 for each in sizes):
            raise ValueError(
                "in_channels, out_channels and heads must be positive numbers, "
                f"got {sizes}: neither bipartite graphs nor lazy initialisation are "
                "supported"
            )
        is_width = isinstance(edge_dim, Integral) and edge_dim >= 0
        if edge_dim is not None and not is_width:
            raise ValueError(
                f"edge_dim must be None or a number of features, got {edge_dim!r}: "
                "lazy initialisation is not supported"
            )
        if not _fills(fill_value, edge_dim):
            raise ValueError(
                f"fill_value must be a number, a tensor ({edge_dim},) or one of "
                f"{', '.join(FILLS)}, got {fill_value!r}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.heads = heads
        self.concat = concat
        self.negative_slope = negative_slope
        self.dropout = dropout
        self.add_self_loops = add_self_loops
        self.edge_dim = edge_dim
        self.fill_value = fill_value

        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = self.att_edge = None
        if edge_dim is not None:
            self.lin_edge = nn.Linear(edge_dim, heads * out_channels, bias=False)
            self.att_edge = nn.Parameter(torch.empty(1, heads, out_channels))
        width = heads * out_channels if concat else out_channels
        self.bias = nn.Parameter(torch.empty(width)) if bias else None
        self.res = nn.Linear(in_channels, width, bias=False) if residual else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew by Glorot's initialisation; the bias becomes 0."""
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            glorot_(weight)
        if self.edge_dim is not None:
            glorot_(self.lin_edge.weight)
            glorot_(self.att_edge)
        if self.res is not None:
            glorot_(self.res.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | CSRGraph,
        edge_attr: Tensor | None = None,
        size: tuple[int, int] | None = None,
        return_attention_weights: bool | None = None,
        *,
        keep: Tensor | None = None,
    ) -> Output:
        """Apply the layer.

        Args:
            x: (N, F_in) node features.
            edge_index: as for `CSRGraph.from_edge_index`, whose result is kept for as
                long as the same tensor is passed; or a `CSRGraph`.
            edge_attr: (E, edge_dim) features of the edges, in the order of
                `edge_index`, or of the one that the `CSRGraph` was made from; also (E,)
                if edge_dim is 1.
            size: None or (N, N).
            return_attention_weights: also return (edge_index with self-loops,
                alpha (E', H)).
            keep: (E',) bool, False drops an edge; in the order of the CSR graph's edges
                (`CSRGraph.reorder_edges`).

        Raises:
            ValueError: a shape or type is wrong, a `CSRGraph` has another number of
                nodes or is cut by group, or bipartite input is given.
        """
        self._check_features(x, size)
        graph = graph_of(edge_index, len(x), self.add_self_loops)
        return self._pass(x, graph, keep, edge_attr, return_attention_weights)

    # ------------------------------------------------------------------ the three steps

    def scores(self, c: Features) -> tuple[Tensor, Tensor]:
        """Scores (H, N) of every node as a source, and as a target.

        LeakyReLU of their sum goes into the softmax.
        """
        source, target = c.dot(torch.cat([self.att_src, self.att_dst]))
        return source, target

    def attend(
        self,
        source: Tensor,
        target: Tensor,
        graph: CSRGraph,
        keep: Tensor | None,
        edge: Tensor | None = None,
    ) -> Tensor:
        """Attention coefficients (H, E) in the graph's order, before dropout.

        They are found from `scores`, and from those of the edges if there are any.
        """
        return segment_softmax(
            source,
            target,
            graph,
            slope=self.negative_slope,
            keep=keep,
            score_edge=edge,
        )

    def normalise(self, features: Features) -> Features:
        """What is done to C before it is attended to, and to Z: nothing."""
        return features

    def weight(self) -> Tensor:
        """W (H * C, F_in) of a pass: the parameter."""
        return self.lin.weight

    # --------------------------------------------------------------- how they are taken

    def aggregate(
        self,
        x: Tensor,
        graph: CSRGraph,
        keep: Tensor | None = None,
        rows: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch: Batch | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Take the three steps for x (N, F_in).

        Args:
            x, graph, keep, edge_attr: as for `forward`.
            rows: (M,) node of each row, for a graph that has some nodes' rows only;
                None where row i is node i.
            batch: the graph of each node, for `normalise`; without `rows`.

        Returns:
            the output without residual, (M, H * C) or (M, C), and alpha (H, E) after
            dropout.
        """
        c = self.transform(x)
        if batch is not None:
            c = replace(c, batch=batch)
        c = self.normalise(c)

        source, target = self.scores(c)
        if rows is not None:
            target = target.index_select(1, rows)
        # A subclass may have an `attend` without the last argument.
        of_edges = []
        if edge_attr is not None:
            of_edges.append(self.edge_scores(edge_attr, graph))
        alpha = self.attend(source, target, graph, keep, *of_edges)
        expected = (self.heads, graph.num_edges)
        if alpha.shape != expected:
            got = tuple(alpha.shape)
            raise ValueError(f"`attend` must give {expected} coefficients, got {got}")
        if self.dropout:
            alpha = torch.dropout(alpha, self.dropout, self.training)

        z = replace(c, values=sum_of_neighbours(alpha, c.values, graph))
        z = self.normalise(z if self.concat else z.averaged())
        return z.dense(self.bias), alpha

    def transform(self, x: Tensor) -> Features:
        """C = X W^T; not multiplied out where it would be wider than X."""
        if not is_plain(self.lin):
            return Features(self._by_head(self.lin(x)))
        if self.in_channels < self.out_channels:
            return Features(x, self.weight().view(self.heads, self.out_channels, -1))
        return Features(self._by_head(features_linear(x, self.weight())))

    def edge_scores(self, edge_attr: Tensor, graph: CSRGraph) -> Tensor:
        """Scores (H, E) of the edges, in the graph's order.

        They go into the softmax with those of the edges' ends.
        """
        values = edge_attr.view(len(edge_attr), self.edge_dim)
        values = with_loops(values, graph, self.fill_value)
        if is_plain(self.lin_edge):  # a^T (W e) as (a^T W) e
            weight = self.lin_edge.weight.view(self.heads, self.out_channels, -1)
            attention_weight = torch.einsum("hc,hcd->dh", self.att_edge[0], weight)
            scores = values @ attention_weight
        else:
            features = self._by_head(self.lin_edge(values))
            scores = (features * self.att_edge).sum(2)
        return scores.index_select(0, graph.permutation).t()

    def _by_head(self, values: Tensor) -> Tensor:
        """(N, H * C) as (N, H, C)."""
        return values.view(-1, self.heads, self.out_channels)

    def _pass(self, x, graph, keep, edge_attr, return_attention_weights, batch=None):
        """`forward` once there is a graph; `batch` is FairGATConv's."""
        self._check_keep(keep, graph, x.device)
        if edge_attr is not None or self.edge_dim is not None:
            self._check_edges(edge_attr, graph)
        if torch.is_autocast_enabled(x.device.type):
            own = self.att_src.dtype
            x = x.to(own)
            edge_attr = None if edge_attr is None else edge_attr.to(own)
        with torch.autocast(x.device.type, enabled=False):
            out, alpha = self.aggregate(
                x, graph, keep, edge_attr=edge_attr, batch=batch
            )
            if self.res is not None:
                out = out + self.res(x)
        if not return_attention_weights:
            return out
        return out, (graph.edge_index, graph.original_order(alpha.t()))

    # ----------------------------- what doesn't fit is refused: kernels check no bounds

    def _check_features(self, x: Tensor, size: tuple[int, int] | None) -> None:
        """Refuse an x that is no dense (N, F_in), or a size for a bipartite graph."""
        expected = f"one dense tensor of shape (N, {self.in_channels})"
        if not isinstance(x, Tensor):
            raise ValueError(f"x must be {expected}, got {type(x).__name__}")
        has_shape = x.dim() == 2 and x.size(1) == self.in_channels
        if x.layout != torch.strided or not has_shape:
            got = f"{x.layout} of {tuple(x.shape)}"
            raise ValueError(f"x must be {expected}, got {got}")
        if size is not None and tuple(size) != (len(x), len(x)):
            raise ValueError(
                f"size must be None or (N, N), got {size}: bipartite graphs are not "
                "supported"
            )
        self._check_type("x", x)

    def _check_type(self, name: str, values: Tensor) -> None:
        """Refuse another type than the parameters', which autocast would convert."""
        own = self.att_src.dtype
        if values.dtype != own and not torch.is_autocast_enabled(values.device.type):
            raise ValueError(
                f"{name} is {values.dtype} and the layer {own}: convert one of them, "
                f"as .to({own}) does"
            )

    def _check_keep(
        self, keep: Tensor | None, graph: CSRGraph, device: torch.device
    ) -> None:
        """Refuse a `keep` without one bool for each edge, self-loops included."""
        if keep is None:
            return
        expected = f"bool of shape ({graph.num_edges},), one for each edge"
        if not isinstance(keep, Tensor):
            raise ValueError(f"keep must be {expected}, got {type(keep).__name__}")
        fits = keep.shape == (graph.num_edges,) and keep.dtype == torch.bool
        if not fits or keep.device != device:
            got = f"{keep.dtype} of {tuple(keep.shape)} on {keep.device}"
            raise ValueError(f"keep must be {expected}, on {device}, got {got}")

    def _check_edges(self, edge_attr: Tensor | None, graph: CSRGraph) -> None:
        """Refuse features of edges that the layer or the graph has no use for."""
        if edge_attr is None or self.edge_dim is None:
            raise ValueError(
                "edge_attr goes with edge_dim, and this layer was made with "
                f"edge_dim={self.edge_dim}"
            )
        if graph.num_given is None:
            raise ValueError(
                "edge features need edge_index of shape (2, E), or a CSRGraph made "
                "from it: edges of a sparse matrix, or made by hand, have no order"
            )
        if getattr(edge_attr, "layout", None) != torch.strided:
            got = getattr(edge_attr, "layout", type(edge_attr).__name__)
            raise ValueError(f"edge_attr must be a dense tensor, got {got}")
        expected, got = (graph.num_given, self.edge_dim), tuple(edge_attr.shape)
        is_flat = self.edge_dim == 1 and got == expected[:1]  # (E,), not (E, 1)
        if got != expected and not is_flat:
            raise ValueError(
                f"edge_attr must have shape {expected}, one row for each edge that was "
                f"given, got {got}"
            )
        self._check_type("edge_attr", edge_attr)

    def extra_repr(self) -> str:
        return "" if self.add_self_loops else ", add_self_loops=False"

    def __repr__(self) -> str:
        sizes = f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
        return f"{type(self).__name__}({sizes}{self.extra_repr()})"


def _fills(fill: object, edge_dim: int | None) -> bool:
    """Whether it is a `fill_value` for edges of so many features."""
    if isinstance(fill, str):
        return fill in FILLS
    if not isinstance(fill, Tensor):
        return isinstance(fill, Real)
    return edge_dim is None or fill.shape in ((), (edge_dim,), (1, edge_dim))


def glorot_(weight: Tensor) -> Tensor:
    """Initialise by Glorot's uniform distribution over the last two dimensions.

    So does PyTorch Geometric.
    """
    bound = (6 / (weight.size(-2) + weight.size(-1))) ** 0.5
    return nn.init.uniform_(weight, -bound, bound)
