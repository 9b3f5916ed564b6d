"""GATConv and FairGATConv, with the arguments, the call and the state dict of `torch_geometric.nn.GATConv`."""

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized

from fairgat.nn import spectral
from fairgat.nn.cache import csr_of
from fairgat.nn.constant import features_linear, features_scaled_weight
from fairgat.nn.constant_attention import attend_features
from fairgat.nn.covariance import covariance
from fairgat.nn.csr import CSRGraph
from fairgat.nn.deviation import scaled_weight
from fairgat.nn.head import logit_of
from fairgat.nn.hidden import hidden_linear
from fairgat.nn.linear import linear
from fairgat.nn.scaling import EPS, scale
from fairgat.nn.scored import attend_scored


class GATConv(nn.Module):
    r"""The graph attention layer of Velickovic et al. (2018), as `torch_geometric.nn.GATConv` computes it.

    .. math::
        h'_i = \sum_{j \in N(i) \cup \{i\}} \alpha_{ij} W h_j, \qquad
        \alpha_{ij} = \operatorname{softmax}_j \operatorname{LeakyReLU}(a_{src}^T W h_j + a_{dst}^T W h_i)

    Where `in_channels` is smaller than `out_channels`, features are aggregated before they are transformed, which
    is the same sum in fewer operations. Under autocast the layer keeps the precision of its parameters.

    Args:
        in_channels: F_in. Bipartite graphs (a pair) are not supported.
        out_channels: C, per head.
        heads: H.
        concat: concatenate the heads, or average them.
        negative_slope: of the LeakyReLU.
        dropout: probability with which a normalised attention coefficient is dropped in training.
        add_self_loops: give every node exactly one self-loop.
        edge_dim: must be None; edge features are not supported.
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
        """Glorot initialisation of the weights, zeros for the bias."""
        lin = self.lin.parametrizations.weight.original if is_parametrized(self.lin) else self.lin.weight
        for weight in (lin, self.att_src, self.att_dst):
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
        size: None = None,
        return_attention_weights: bool | None = None,
        *,
        keep: Tensor | None = None,
        relu: bool = False,
        head: Tensor | None = None,
        transformed: bool = False,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        """Apply the layer.

        Args:
            x: (N, F_in) node features.
            edge_index: (2, E), sources above targets, in any order; or a `CSRGraph`. A CSR form is kept for as long
                as the same tensor is passed.
            edge_attr, size: must be None; they stand for PyTorch Geometric's edge features and bipartite sizes.
            return_attention_weights: where not None, also return (edge_index with self-loops, alpha (E', H)).
            keep: (E',) bool, False drops an edge; in the order of the CSR graph's edges (`CSRGraph.reorder_edges`).
            relu: apply ReLU to the output, fused with the bias.
            head: (width of the output,) weights; the result is then ReLU(output) @ head, (N,). Or (m, width of the
                output): ReLU(output) @ head^T, (N, m). The output itself is not written where it need not be.
            transformed: x is the product (N, H * C) with the layer's weights already: another layer's result whose
                `head` they were.

        Raises:
            ValueError: a shape or type is wrong, a `CSRGraph` has another number of nodes or is cut by group, or
                bipartite input or edge features are given.
        """
        graph = self._graph(x, edge_index, None, keep, edge_attr, size, transformed, segmented=False)
        return self._forward(x, graph, 0.0, None, False, keep, relu, head, transformed, return_attention_weights)

    def _graph(self, x, edge_index, sensitive, keep, edge_attr, size, transformed, segmented: bool) -> CSRGraph:
        """The graph in CSR form. What doesn't fit is refused here: the kernels check no bounds."""
        if edge_attr is not None:
            raise ValueError("edge_attr must be None: edge features are not supported")
        if size is not None or isinstance(x, tuple | list):
            raise ValueError("x must be one matrix and size None: bipartite graphs are not supported")
        if transformed and self.res is not None:
            raise ValueError("a layer with a residual needs its input itself, which was transformed")
        width = self.heads * self.out_channels if transformed else self.in_channels
        if x.dim() != 2 or x.size(1) != width:
            raise ValueError(f"x must have shape (N, {width}), got {tuple(x.shape)}")
        if not isinstance(edge_index, CSRGraph):
            graph = csr_of(edge_index, x.size(0), sensitive, self.add_self_loops)
        elif edge_index.num_nodes != x.size(0):
            raise ValueError(f"the CSRGraph has {edge_index.num_nodes} nodes, and x {x.size(0)} rows")
        elif edge_index.segmented != segmented:
            raise ValueError(f"this layer needs a CSRGraph made {'with' if segmented else 'without'} `sensitive`")
        else:
            graph = edge_index
        if keep is not None and (keep.shape != (graph.num_edges,) or keep.dtype != torch.bool):
            expected = f"bool of shape ({graph.num_edges},), one for each edge"
            raise ValueError(f"keep must be {expected}, got {keep.dtype} of {tuple(keep.shape)}")
        return graph

    def _forward(self, x, *arguments):
        if torch.is_autocast_enabled(x.device.type):
            with torch.autocast(x.device.type, enabled=False):
                return self._attend(x.to(self.att_src.dtype), *arguments)
        return self._attend(x, *arguments)

    def _attend(self, x, graph, alpha_chi, eta, center, keep, relu, head, transformed, return_attention_weights):
        factor = None
        if self.training and self.dropout > 0:
            ones = x.new_ones(self.heads, graph.num_edges)
            factor = torch.dropout(ones, self.dropout, train=True)
        width = self.heads * self.out_channels if self.concat else self.out_channels
        if head is not None and (head.dim() not in (1, 2) or head.size(-1) != width):
            raise ValueError(f"head must have shape ({width},) or (m, {width}), got {tuple(head.shape)}")
        aggregates_first = self.in_channels < self.out_channels and not transformed
        relu, fused = relu or head is not None, None
        if head is not None and self.res is None and not center:
            one_map = aggregates_first and (self.heads == 1 or not self.concat)  # of the aggregates to the output
            fused = head if head.dim() == 1 or one_map else None
        if center:
            c = x if transformed else features_linear(x, self.lin.weight)
            out, alpha = self._centred(c, graph, alpha_chi, eta, keep, factor)
            out = scale(out, self.bias, relu=relu and self.res is None)
        elif aggregates_first:
            out, alpha = self._aggregate_first(x, graph, alpha_chi, eta, keep, factor, relu, fused)
        else:
            take = self._aggregate if transformed else self._transform_first
            out, alpha = take(x, graph, alpha_chi, eta, keep, factor, relu, fused)
        if self.res is not None:
            out = out + self.res(x)
            out = out.relu() if relu else out
        if head is not None and fused is None:
            out = out @ head if head.dim() == 1 else linear(out, head)
        if return_attention_weights is None:
            return out
        alpha = alpha if factor is None else alpha * factor
        edge_index = graph.edge_index.clone()  # the caller's to write to
        return out, (edge_index, graph.original_order(alpha.t()))

    def _transform_first(self, x, *arguments):
        return self._aggregate(features_linear(x, self.lin.weight), *arguments)

    def _aggregate(self, c, graph, alpha_chi, eta, keep, factor, relu, head):
        """Z = alpha C for C = X W^T. The scaling of C cancels in the normalised Z; it stays in the scores."""
        c = c.view(-1, self.heads, self.out_channels)
        att = torch.cat([self.att_src, self.att_dst])
        z, alpha, gain = attend_scored(c, att, graph, alpha_chi, self.negative_slope, keep, factor, eta)
        if not self.concat and gain is not None:  # averaging mixes columns that were scaled apart
            z, gain = z * gain, None
        z = z.flatten(1) if self.concat else z.mean(1)
        return self._finish(z, eta, None if gain is None else gain.flatten(), relu, head), alpha

    def _aggregate_first(self, x, graph, alpha_chi, eta, keep, factor, relu, head):
        """S = alpha X, then Z = S W^T. Both normalisations are factors of W: var(S w) = w^T cov(S) w."""
        weight = self.lin.weight.view(self.heads, self.out_channels, -1)  # (H, C, F)
        if eta is not None:
            weight = features_scaled_weight(x, weight, eta)
        att = torch.cat([self.att_src, self.att_dst])
        s, alpha = attend_features(x, weight, att, graph, alpha_chi, self.negative_slope, keep, factor)  # (N, H, F)
        if not self.concat:  # the mean over heads is one transformation of all heads' aggregates
            s = s.flatten(1)[:, None, :]
            weight = weight.transpose(0, 1).reshape(1, self.out_channels, -1) / self.heads
        if head is not None and head.dim() == 2:
            return hidden_linear(s.squeeze(1), weight.squeeze(0), self.bias, head, eta), alpha
        if eta is not None:
            weight = scaled_weight(weight, covariance(s)[0], eta)
        relu = relu and self.res is None and head is None
        bias = [None] * len(weight) if self.bias is None or head is not None else self.bias.view(len(weight), -1)
        heads = [linear(s[:, h], weight[h], bias[h], relu) for h in range(len(weight))]
        z = heads[0] if len(heads) == 1 else torch.cat(heads, 1)
        return z if head is None else logit_of(z, head, self.bias), alpha

    def _finish(self, z, eta, gain, relu, head):
        if head is not None:
            return logit_of(z, head, self.bias, eta, gain)
        return scale(z, self.bias, eta, gain, relu and self.res is None)

    def _centred(self, c, graph, alpha_chi, eta, keep, factor):
        """`center: true`: the mean is taken out too, so nothing cancels and every step is done as written."""
        c = _standardise(c, eta).view(-1, self.heads, self.out_channels)
        att = torch.cat([self.att_src, self.att_dst])
        z, alpha, _ = attend_scored(c, att, graph, alpha_chi, self.negative_slope, keep, factor)
        return _standardise(z.flatten(1) if self.concat else z.mean(1), eta), alpha

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"


class FairGATConv(GATConv):
    r"""The fair attention layer of FairGAT: steps S1, S2 and S3, each a switch of its own (Algorithm 1).

    S1 (equation fairatt): a node with neighbours in both groups gives `alpha_chi` of its attention to inter-edges
    and the rest to intra-edges, self-loop included; the softmax is taken within each. S2: the weight matrix is
    divided by its spectral norm. S3: every feature of C = X W^T and of Z = alpha C is brought to unit variance over
    the nodes and scaled by `eta`; the attention scores are those of the scaled C.

    Args:
        alpha_chi: attention for the inter-edges of a node that has both kinds; None leaves S1 out.
        spectral_norm: S2.
        eta: S3's factor; None leaves S3 out.
        center: subtract the mean in S3, too.

    The other arguments are those of `GATConv`.

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
        alpha_chi: float | None = 0.5,
        spectral_norm: bool = True,
        eta: float | None = 1.0,
        center: bool = False,
    ) -> None:
        super().__init__(
            in_channels, out_channels, heads, concat, negative_slope, dropout, add_self_loops, edge_dim, fill_value,
            bias, residual,
        )  # fmt: skip
        if alpha_chi is not None and not 0 <= alpha_chi <= 1:
            raise ValueError(f"alpha_chi is a share of attention and lies in [0, 1], got {alpha_chi}")
        if eta is not None and eta <= 0:
            raise ValueError(f"eta must be positive, got {eta}")
        self.alpha_chi = alpha_chi
        self.eta = eta
        self.center = center and eta is not None
        if spectral_norm:
            spectral.spectral_norm(self.lin)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | CSRGraph,
        sensitive: Tensor | None = None,
        edge_attr: None = None,
        size: None = None,
        return_attention_weights: bool | None = None,
        *,
        keep: Tensor | None = None,
        relu: bool = False,
        head: Tensor | None = None,
        transformed: bool = False,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        """Apply the layer; as `GATConv.forward`, with the (N,) sensitive group of each node.

        More than two groups are allowed: equal values make an intra-edge, different ones an inter-edge. `sensitive`
        is not read without S1; with S1 it must not be given where `edge_index` is a `CSRGraph`, which is made with it.
        """
        fair = self.alpha_chi is not None
        if fair and sensitive is None and not isinstance(edge_index, CSRGraph):
            raise ValueError("fair attention needs `sensitive`, the (N,) group of each node")
        if sensitive is not None:
            sensitive = torch.as_tensor(sensitive)
        groups = sensitive if fair else None
        graph = self._graph(x, edge_index, groups, keep, edge_attr, size, transformed, segmented=fair)
        if fair and sensitive is not None and graph is edge_index:
            raise ValueError("`sensitive` is part of the CSRGraph: pass either it, or edge_index and `sensitive`")
        alpha_chi = self.alpha_chi if fair else 0.0
        return self._forward(
            x, graph, alpha_chi, self.eta, self.center, keep, relu, head, transformed, return_attention_weights
        )

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, alpha_chi={self.alpha_chi}, eta={self.eta}"


def glorot_(weight: Tensor) -> Tensor:
    """Glorot's uniform initialisation over the last two dimensions, as PyTorch Geometric does it."""
    bound = (6 / (weight.size(-2) + weight.size(-1))) ** 0.5
    return nn.init.uniform_(weight, -bound, bound)


def _standardise(values: Tensor, eta: float) -> Tensor:
    variance, mean = torch.var_mean(values, 0, correction=0)
    return (values - mean) * (eta * torch.rsqrt(variance + EPS))
