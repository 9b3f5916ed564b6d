"""The two networks of the paper, built of either attention layer."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from fairgat.nn.batch import Batch
from fairgat.nn.columns import exact
from fairgat.nn.conv import GATConv, glorot_
from fairgat.nn.csr import CSRGraph
from fairgat.nn.normalise import check_eta, spectrally_normalised, standardise

Layer = Callable[[int, int], GATConv]  # (in_channels, out_channels) to a layer


class NodeClassifier(nn.Module):
    """Two attention layers with ReLU and a linear layer with one logit.

    See the paper, Implementation details.

    Args:
        layer: makes an attention layer from its input and output width, for instance
            `GATConv`.
        in_channels: F.
        hidden: width of both attention layers.
        spectral_norm: FairGAT's step 2 on the linear layer, unless step 3 follows: its
            weight is divided by its largest singular value.
        eta: step 3 on the linear layer's output Z, which is scaled to this standard
            deviation; None leaves it out.
        center: also subtract Z's mean.

    Raises:
        ValueError: eta is not positive and finite.
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
        check_eta(eta)
        self.conv1 = layer(in_channels, hidden)
        self.conv2 = layer(hidden, hidden)
        linear_type = SpectralLinear if spectral_norm and eta is None else nn.Linear
        self.linear = linear_type(hidden, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(1))
        glorot_(self.linear.weight)
        self.eta = eta
        self.center = center
        self.spectral_norm = spectral_norm

    def embed(
        self, x: Tensor, graph: CSRGraph | Tensor, *arguments, **options
    ) -> Tensor:
        """(N, hidden) representations after the second attention layer.

        Arguments and options are those of the layers' `forward`, of which
        `return_attention_weights` is for single layers.
        """
        h = self.conv1(x, graph, *arguments, **options).relu()
        return self.conv2(h, graph, *arguments, **options).relu()

    def classify(
        self, h: Tensor, batch: Tensor | None = None, batch_size: int | None = None
    ) -> Tensor:
        """(N,) logits of representations (N, hidden).

        With `batch`, as for `FairGATConv.forward`, step 3 takes each graph's own
        deviations.
        """
        z = self.linear(h).squeeze(1)
        if self.eta is not None:
            check_eta(self.eta)  # it may have been set since
            graphs = Batch.of(batch, batch_size, h)
            z = standardise(z, self.eta, self.center, graphs)
        return z + self.bias

    def forward(
        self, x: Tensor, graph: CSRGraph | Tensor, *arguments, **options
    ) -> Tensor:
        """(N,) logits of features x (N, F) on a graph; as `embed` and `classify`."""
        h = self.embed(x, graph, *arguments, **options)
        # Only what was given: a subclass may have a `classify` without batches.
        batch_options = {}
        for name in ("batch", "batch_size"):
            if name in options:
                batch_options[name] = options[name]
        return self.classify(h, **batch_options)


class SpectralLinear(nn.Linear):
    """A linear layer with step 2: its weight is divided by its spectral norm."""

    def forward(self, x: Tensor) -> Tensor:
        """(N, C) of x (N, F)."""
        return nn.functional.linear(x, spectrally_normalised(self.weight), self.bias)


class LinkEncoder(nn.Module):
    """Two attention layers, ReLU between them; a link's logit is its ends' dot product.

    So FairDrop's notebook has it. `layer`, `in_channels` and `hidden` are those of
    `NodeClassifier`.
    """

    def __init__(self, layer: Layer, in_channels: int, hidden: int) -> None:
        super().__init__()
        self.conv1 = layer(in_channels, hidden)
        self.conv2 = layer(hidden, hidden)

    def forward(
        self, x: Tensor, graph: CSRGraph | Tensor, *arguments, **options
    ) -> Tensor:
        """(N, hidden) embeddings of features x (N, F) on a graph."""
        h = self.conv1(x, graph, *arguments, **options).relu()
        return self.conv2(h, graph, *arguments, **options)

    @staticmethod
    def decode(z: Tensor, edges: Tensor) -> Tensor:
        """(m,) logits of the links edges (2, m) between embeddings z (N, hidden).

        Raises:
            IndexError: edges name a node outside 0 .. N-1.
        """
        # Its gradient is faster than that of z[edges], but sums in z's type.
        ends = nn.functional.embedding(edges, exact(z))
        source, target = ends.to(z.dtype)
        return torch.linalg.vecdot(source, target)
