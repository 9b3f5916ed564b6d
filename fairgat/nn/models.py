"""The two networks of the paper, built of either attention layer."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from fairgat.nn import spectral
from fairgat.nn.conv import FairGATConv, GATConv, glorot_
from fairgat.nn.csr import CSRGraph
from fairgat.nn.decode import dot_product
from fairgat.nn.logits import scaled_logits
from fairgat.nn.network import has_hooks, training_logits
from fairgat.nn.scaling import EPS

Layer = Callable[[int, int], GATConv]  # (in_channels, out_channels) to a layer
_METHODS = ("embed", "classify", "_attend", "_shift")  # which a class derived from NodeClassifier may have of its own


def _is_seen(layer: nn.Module) -> bool:
    """Whether an attention layer is of the caller's making, or somebody looks at what goes in or out."""
    ours = type(layer).forward in (GATConv.forward, FairGATConv.forward) and "forward" not in vars(layer)
    return not ours or has_hooks(layer)


class NodeClassifier(nn.Module):
    """Two attention layers with ReLU and a linear layer with one logit (paper, Implementation details).

    Args:
        layer: makes an attention layer from its input and output width, for instance `GATConv`.
        in_channels: F.
        hidden: width of both attention layers.
        spectral_norm: S2 on the linear layer.
        eta: S3 on the linear layer's output Z; None leaves it out.
        center: subtract Z's mean, too.
    """

    def __init__(
        self,
        layer: Layer,
        in_channels: int,
        hidden: int,
        spectral_norm: bool = False,
        eta: float | None = None,
        center: bool = False,
    ) -> None:
        super().__init__()
        self.conv1 = layer(in_channels, hidden)
        self.conv2 = layer(hidden, hidden)
        self.linear = nn.Linear(hidden, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(1))
        glorot_(self.linear.weight)
        self.eta = eta
        self.center = center
        if spectral_norm:
            spectral.spectral_norm(self.linear)

    def embed(self, x: Tensor, graph: CSRGraph | Tensor, *arguments, **options) -> Tensor:
        """(N, hidden) representations after the second attention layer."""
        return self._attend(x, graph, *arguments, last={"relu": True}, **options)

    def _attend(self, x, graph, *arguments, last, **options):
        """Both attention layers, the second with the options `last`; what is between is written if it can be seen."""
        if torch.is_autocast_enabled(x.device.type) or self._hidden_is_seen():
            h = self.conv1(x, graph, *arguments, relu=True, **options)
            return self.conv2(h, graph, *arguments, **last, **options)
        c = self.conv1(x, graph, *arguments, relu=True, head=self.conv2.lin.weight, **options)
        return self.conv2(c, graph, *arguments, transformed=True, **last, **options)

    def _hidden_is_seen(self) -> bool:
        first, second = self.conv1, self.conv2
        if any(_is_seen(layer) or type(layer) not in (GATConv, FairGATConv) for layer in (first, second)):
            return True  # a class derived from ours may go another way between the layers
        width = first.out_channels * (first.heads if first.concat else 1)
        return second.res is not None or second.in_channels != width or width < second.out_channels

    def classify(self, h: Tensor) -> Tensor:
        """(N,) logits of representations (N, hidden)."""
        return self._shift(self.linear(h).squeeze(1))

    def _output_is_seen(self) -> bool:
        own = type(self)
        return (
            _is_seen(self.conv2)
            or any(getattr(own, name) is not getattr(NodeClassifier, name) for name in _METHODS)
            or getattr(type(self.linear), "forward", None) is not nn.Linear.forward
            or self.linear.bias is not None
            or self.linear.out_features != 1
            or "forward" in vars(self.linear)
            or has_hooks(self.linear)
        )

    def _shift(self, z: Tensor) -> Tensor:
        if self.eta is None:
            return z + self.bias
        if self.center:
            return (z - z.mean()) * (self.eta * torch.rsqrt(z.var(correction=0) + EPS)) + self.bias
        return scaled_logits(z, self.bias, self.eta)

    def forward(self, x: Tensor, graph: CSRGraph | Tensor, *arguments, **options) -> Tensor:
        """(N,) logits of features x (N, F) on a graph.

        What a layer gives to the next is not written where nobody can see it (no hooks, and neither layers nor methods
        of the caller's own): between the attention layers, and in training before the linear one. On a `CSRGraph`, in
        training, the whole network is then one node of autograd's graph where that is served: `fairgat.nn.network`.
        """
        if not self.training or self._output_is_seen():
            return self.classify(self.embed(x, graph, *arguments, **options))
        plain = isinstance(graph, CSRGraph) and not (arguments or options or torch.compiler.is_compiling())
        if plain and not self._hidden_is_seen():
            logits = training_logits(self, x, graph)
            if logits is not None:
                return logits
        return self._shift(self._attend(x, graph, *arguments, last={"head": self.linear.weight[0]}, **options))


class LinkEncoder(nn.Module):
    """Two attention layers, ReLU between them; a link's logit is the dot product of its ends (FairDrop's notebook).

    Args:
        layer: makes an attention layer from its input and output width.
        in_channels: F.
        hidden: width of both attention layers.
    """

    def __init__(self, layer: Layer, in_channels: int, hidden: int) -> None:
        super().__init__()
        self.conv1 = layer(in_channels, hidden)
        self.conv2 = layer(hidden, hidden)

    def forward(self, x: Tensor, graph: CSRGraph | Tensor, *arguments, **options) -> Tensor:
        """(N, hidden) embeddings of features x (N, F) on a graph."""
        h = self.conv1(x, graph, *arguments, relu=True, **options)
        return self.conv2(h, graph, *arguments, **options)

    @staticmethod
    def decode(z: Tensor, edges: Tensor) -> Tensor:
        """(m,) logits of the links edges (2, m) between embeddings z (N, hidden).

        Raises:
            ValueError: edges are no integers of that shape, or, on the CPU, name a node outside 0 .. N-1.
        """
        return dot_product(z, edges)
