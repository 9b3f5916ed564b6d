"""The interface between the training loop and a method, and what most methods share."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fairgat.by_path import place_of
from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.errors import ConfigError
from fairgat.nn import CSRGraph, GATConv
from fairgat.tasks.base import Task
from fairgat.tasks.device import tensor
from fairgat.tasks.link_prediction import LinkTask
from fairgat.tasks.node_classification import NodeTask


class Adam(torch.optim.Adam):
    """PyTorch's Adam without the decorators that import its compiler and SymPy.

    These would take 1.5 s of CPU time in every training.
    """

    add_param_group = inspect.unwrap(torch.optim.Adam.add_param_group)
    zero_grad = inspect.unwrap(torch.optim.Adam.zero_grad)
    step = torch.no_grad()(inspect.unwrap(torch.optim.Adam.step))


class Method:
    """A model in training.

    Each epoch the loop calls `forward`, judges its output, and calls `update` with it.
    A method whose training step starts with the forward pass that evaluation needs thus
    pays for it once.

    A method that is not defined for every graph says so when it is made, with
    `NotDefined`.

    Attributes:
        task: what is learned; only its training set may be used to learn.
        settings: the method's validated `Settings`.
        model: the network; its parameters at the selected epoch are kept.
        starts_from_forward: whether a training step starts with the pass that
            evaluation needs. If not, `forward` only evaluates, and `update` ignores its
            argument.
        output_shape: the axes of `forward`'s output, which the task decides.
        epoch: the one in training, from 1, as the `update` here counts them.
        needs_debiased: whether `prepare` reads a debiased graph
            (`fairgat.methods.edits`).
        for_two_groups: the method's name, where it is not defined for more than two
            groups.
    """

    starts_from_forward = True
    output_shape: tuple[str, ...]
    # Epochs left whose output is compared with another pass of evaluation; in the first
    # of them a layer may give zeros.
    to_compare = 3
    epoch = 0
    needs_debiased = False
    for_two_groups = ""

    @classmethod
    def prepare(
        cls, graph: Graph, settings: Model, debiased: str | Path | None
    ) -> Graph:
        """Make the graph to train on; labels, groups and the numbering of nodes stay.

        Raises:
            CellCalledOff: the cell is not worth training.
        """
        return graph

    def __init__(self, task: Task, settings: Model) -> None:
        if self.for_two_groups:
            task.graph.require_two_groups(self.for_two_groups)
        self.task = task
        self.settings = settings
        self.model = self.build()
        self.optimizer = self.adam(self.model.parameters())

    def build(self) -> nn.Module:
        """Make the network, freshly initialised: a GAT unless a method has another."""
        return self.task.network(attention_layer(GATConv, self.task))

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take the parameters that a finished run has kept.

        What depends on them is found again.
        """
        self.model.load_state_dict(state)

    @property
    def csr(self) -> CSRGraph:
        """The graph that the network passes messages on."""
        return self.task.plain_csr

    def embed(self) -> Tensor:
        """Pass once over the training graph, in the mode that the model is in."""
        return self.model(self.task.features, self.csr)

    def loss(self, output: Tensor) -> Tensor:
        """Compute what is minimised, from a pass of the model.

        It is the task's loss, unless a method adds to it.
        """
        return self.task.loss(output)

    @property
    def continues_from_forward(self) -> bool:
        """Whether `update` continues from `forward`'s output.

        With dropout, evaluation needs a pass of its own.
        """
        return self.starts_from_forward and not self.task.training.dropout

    def forward(self) -> Tensor:
        """Give the output at the start of the epoch.

        These are (N,) logits, or (N, hidden) embeddings for link prediction.

        Raises:
            ConfigError: the output has another shape; two passes of evaluation differ,
                or one of training does though training is said to start with it.
        """
        evaluated = self._pass(training=False) if self.to_compare else None
        output = self._pass(training=self.continues_from_forward)
        if evaluated is not None:
            self.to_compare -= 1
            self._check(output, evaluated)
        return output

    def _pass(self, training: bool) -> Tensor:
        """Pass once in training, with gradients, or in evaluation."""
        self.model.train(training)
        with torch.set_grad_enabled(training):
            if training and self._replays:
                return self._replayed(self.task.features)
            return self.embed()

    @property
    def _replays(self) -> bool:
        """Whether passes can be replayed as a CUDA graph (`_replayed`).

        They can on a GPU, unless a method has an `embed` of its own: they are always
        the same kernels on the same tensors.
        """
        return self.task.features.is_cuda and type(self).embed is Method.embed

    @cached_property
    def _replayed(self) -> Callable[[Tensor], Tensor]:
        """The network on its graph, each of whose passes is launched as one CUDA graph.

        They are a pass forward and one backward.
        """
        network = _OnGraph(self.model, self.csr)
        return torch.cuda.make_graphed_callables(network, (self.task.features,))

    def _check(self, output: Tensor, expected: Tensor) -> None:
        """Check an output's shape, and that it is the same as another pass's."""
        module = place_of(type(self).__module__)
        nodes = self.task.graph.num_nodes
        if output.dim() != len(self.output_shape) or len(output) != nodes:
            wanted = f"{self.output_shape} with N = {nodes}".replace("'", "")
            got = tuple(output.shape)
            raise ConfigError(
                f"{module}: the network's output must have shape {wanted}, got {got}"
            )
        if not torch.allclose(output, expected, rtol=1e-3, atol=1e-4, equal_nan=True):
            raise ConfigError(
                f"{module}: two passes of the network differ. If only those of "
                "training do, as with dropout or batch normalisation, write "
                "`starts_from_forward = False` in the method's class"
            )

    def cuts(self, output: Tensor) -> np.ndarray | None:
        """Find what is subtracted from each group's logits, (K,), before 0 decides.

        None where nothing is. It must not read the model.
        """
        return None

    def postprocess(self, output: Tensor) -> Tensor:
        """Change the output of a reported epoch, after training, without the model."""
        return self.decided(output, self.cuts(output))

    def decided(self, output: Tensor, cuts: np.ndarray | None) -> Tensor:
        """Subtract its group's cut from each of (N,) logits."""
        if cuts is None:
            return output
        shifts = tensor(cuts)[self.task.sensitive]
        return (output.double() - shifts).to(output.dtype)

    @property
    def fixed(self) -> dict[str, Any]:
        """What the training graph decided and new people don't change, by attribute."""
        return {}

    def on(self, task: Task) -> "Method":
        """Make this method again, as it was trained, on a graph with new people."""
        # Before it is made: what is fixed decides its layers and its graph.
        method = type(self).__new__(type(self))
        vars(method).update(self.fixed)
        method.__init__(task, self.settings)
        method.load(self.model.state_dict())
        return method

    def update(self, output: Tensor | None) -> dict[str, float]:
        """Train for one epoch, starting from `forward`'s output; give losses to log."""
        self.epoch += 1
        if not self.continues_from_forward:
            self.model.train()
            output = self.embed()
        loss = self.loss(output)
        self.optimizer.zero_grad()
        loss.backward()
        if self.epoch == 1:
            self._check_trained()
        self.optimizer.step()
        return {"loss": loss.item()}

    def _check_trained(self) -> None:
        """Check that every module that has a gradient is in an optimizer of the method.

        Raises:
            ConfigError: one is not.
        """
        optimized = set()  # ids of parameters
        for optimizer in vars(self).values():
            if isinstance(optimizer, torch.optim.Optimizer):
                for group in optimizer.param_groups:
                    optimized.update(map(id, group["params"]))

        for name, module in vars(self).items():
            if not isinstance(module, nn.Module):
                continue
            with_gradient = [
                each for each in module.parameters() if each.grad is not None
            ]
            if not optimized.issuperset(map(id, with_gradient)):
                place = place_of(type(self).__module__)
                raise ConfigError(
                    f"{place}: nothing trains self.{name}: put it into self.model, or "
                    "override `update` and give it an optimizer, as "
                    "fairgat/methods/fairgnn.py does"
                )

    def adam(self, parameters: Iterable[nn.Parameter]) -> Adam:
        """Make the protocol's optimizer of some parameters."""
        training = self.task.training
        return Adam(
            parameters, lr=training.learning_rate, weight_decay=training.weight_decay
        )


class _OnGraph(nn.Module):
    """A network of nothing but the features: a CUDA graph takes nothing but tensors."""

    def __init__(self, model: nn.Module, csr: CSRGraph) -> None:
        super().__init__()
        self.model, self.csr = model, csr

    def forward(self, features: Tensor) -> Tensor:
        return self.model(features, self.csr)


class OnDrawnEdges(Method):
    """A method that passes messages along drawn edges in training.

    In evaluation it does along every edge.
    """

    starts_from_forward = False

    def drawn(self) -> Tensor:
        """(E',) bool, the edges that this step keeps.

        They are in the CSR graph's order, with self-loops.
        """
        raise NotImplementedError

    def embed(self) -> Tensor:
        keep = self.drawn() if self.model.training else None
        return self.model(self.task.features, self.csr, keep=keep)


class NodeMethod(Method):
    """Node classification: `forward` gives (N,) logits."""

    output_shape = ("N",)
    task: NodeTask


class LinkMethod(Method):
    """Link prediction: `forward` gives (N, hidden) embeddings."""

    output_shape = "N", "hidden"
    task: LinkTask


def glorot_linear(inputs: int, outputs: int) -> nn.Linear:
    """Make a linear layer with Glorot's initialisation and a bias of 0."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def attention_layer(
    conv: Callable[..., GATConv], task: Task, **options
) -> Callable[[int, int], GATConv]:
    """Make a factory of `conv` layers with the protocol's heads.

    It takes input and output width, and gives a layer.
    """
    heads, dropout = task.training.heads, task.training.dropout

    def layer(inputs: int, outputs: int) -> GATConv:
        return conv(inputs, outputs // heads, heads, dropout=dropout, **options)

    return layer
