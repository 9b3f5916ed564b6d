r"""Attention over a CSR graph whose rows are cut into segments, with a softmax in each.

.. math::
    e_{ij} = \operatorname{LeakyReLU}(s_j + t_i), \qquad
    \alpha_{ij} = m_i^{seg(j)} \frac{\exp e_{ij}}{\sum_{k \in seg(j)} \exp e_{ik}}, \qquad
    z_i = \sum_j \alpha_{ij} c_j

GAT has one segment of mass 1 in each row. FairGAT has two: a row with both kinds of edges gives its inter-edges the
mass alpha_chi and its intra-edges the rest, and a row with one kind gives that kind all. With shares for K groups there
are up to K segments, whose masses are computed once per graph (`fairgat.nn.shares`).

The two functions of the reference are these equations, for any device and type, and make arrays of size E x C. Where
features are float32 on the CPU two operators take their place (`fairgat.nn.kernels`), which do not.
"""

import numpy as np
import torch
from torch import Tensor

from fairgat.nn import kernels
from fairgat.nn.cache import has_storage
from fairgat.nn.csr import CSRGraph
from fairgat.nn.parallel import available, launch


def reference_softmax(
    score_source: Tensor, score_target: Tensor, graph: CSRGraph, alpha_chi: float, slope: float, keep: Tensor | None
) -> Tensor:
    """`segment_softmax` in plain PyTorch."""
    source, target, mass = graph.source.long(), graph.target, graph.masses(alpha_chi, score_source.dtype)
    segment = torch.arange(mass.numel(), device=target.device).repeat_interleave(graph.segptr.diff())
    index = segment.expand(len(score_source), -1)  # (H, E)
    score = torch.nn.functional.leaky_relu(score_source[:, source] + score_target[:, target], slope)
    kept = torch.ones_like(segment, dtype=torch.bool) if keep is None else keep
    score = score.masked_fill(~kept, -torch.inf)
    top = score.new_full((len(score), mass.numel()), -torch.inf).scatter_reduce(1, index, score.detach(), "amax")
    weight = (score - top.gather(1, index).where(kept, 0)).exp()
    total = torch.zeros_like(top).scatter_add(1, index, weight)
    if keep is not None:  # a segment without edges leaves its mass to the others of its row
        left = torch.zeros(mass.numel(), dtype=torch.int64, device=kept.device).index_add(0, segment, kept.long())
        left = (left.view_as(mass) > 0).to(mass.dtype)
        mass = torch.where((mass * left).sum(1, keepdim=True) > 0, mass * left, left)
        mass = mass / mass.sum(1, keepdim=True).clamp_min(torch.finfo(mass.dtype).tiny)
    return mass.flatten()[segment] * weight / total.gather(1, index).where(kept, 1)


def reference_sum(alpha: Tensor, x: Tensor, graph: CSRGraph) -> Tensor:
    """`sum_of_neighbours` in plain PyTorch."""
    shared = x if x.dim() == 3 else x[:, None]
    message = alpha.t()[:, :, None] * shared[graph.source.long()]
    return message.new_zeros(graph.num_rows, *message.shape[1:]).index_add(0, graph.target, message)


def fused(*tensors: Tensor) -> bool:
    """Whether the operators take the reference's place: they have no rules for what torch.func makes of tensors."""
    own = all(each.device.type == "cpu" and each.dtype == torch.float32 and has_storage(each) for each in tensors)
    return own and available()


def segment_softmax(
    score_source: Tensor,
    score_target: Tensor,
    graph: CSRGraph,
    alpha_chi: float = 0.0,
    slope: float = 0.2,
    keep: Tensor | None = None,
) -> Tensor:
    """Attention coefficients.

    Args:
        score_source: s, (H, N).
        score_target: t, (H, M), with M rows of the graph, which are its nodes if it is a whole one.
        graph: whose rows are cut into segments.
        alpha_chi: attention that a row with both kinds of edges gives to its inter-edges, where the graph was made
            without shares.
        slope: of the LeakyReLU.
        keep: (E,) bool in the graph's order; edges that are False are not there, and a segment that loses all its edges
            leaves its mass to the others of its row, in proportion to theirs.

    Returns:
        alpha (H, E) in the graph's order.
    """
    if not fused(score_source, score_target):
        return reference_softmax(score_source, score_target, graph, alpha_chi, slope, keep)
    tptr, _, tedge, _ = _transposed(graph, score_source, score_target)
    segments = graph.rowptr, graph.segptr, graph.masses(alpha_chi, score_source.dtype)
    return torch.ops.fairgat.segment_softmax(
        score_source, score_target, *segments, graph.source, tptr, tedge, keep, slope
    )


def sum_of_neighbours(alpha: Tensor, x: Tensor, graph: CSRGraph) -> Tensor:
    """z (M, H, C) for alpha (H, E) and x (N, H, C), or (N, C) where all heads sum the same features."""
    if not fused(alpha, x):
        return reference_sum(alpha, x, graph)
    width = x.size(-1)
    padded = torch.nn.functional.pad(x, (0, -width % 16)) if width % 16 else x
    transposed = _transposed(graph, alpha, x)
    out = torch.ops.fairgat.sum_of_neighbours(alpha, padded, graph.rowptr, graph.source, *transposed)
    return out[..., :width] if width % 16 else out  # a slice has a gradient, which copies


def _transposed(graph: CSRGraph, *tensors: Tensor) -> tuple[Tensor | None, ...]:
    """The transposed graph where there will be a backward pass."""
    needed = torch.is_grad_enabled() and any(each.requires_grad for each in tensors)
    return graph.transposed() if needed else (None,) * 4


# ---------------------------------------------------------------------------------- the operators, float32 on the CPU


_library = torch.library.Library("fairgat", "DEF")


def operator(schema: str, fake, backward=None, setup=None):
    """Decorator: make a function the CPU's implementation of the operator `fairgat::schema`.

    Args:
        schema: name, arguments and results, as `torch.library.define` takes them.
        fake: gives empty results of the right shapes.
        backward, setup: the autograd formula, as for `torch.library.register_autograd`; it has no second derivative.
    """
    name = "fairgat::" + schema[: schema.index("(")]

    def register(function):
        _library.define(schema)
        _library.impl(name, function, "CPU")
        torch.library.register_fake(name, fake, lib=_library)
        if backward is not None:
            torch.library.register_autograd(name, _once(backward), setup_context=setup, lib=_library)
        return function

    return register


def _once(backward):
    """Refuse to be differentiated again; `once_differentiable` lets paths that lead around it pass."""

    def first(ctx, *grads):
        if torch.is_grad_enabled():  # under create_graph=True
            raise RuntimeError(
                "the layers have no second derivatives in float32 on the CPU: leave out create_graph=True, or convert "
                "layer and input by .double()"
            )
        return backward(ctx, *grads)

    return first


def _softmax_setup(ctx, inputs, output):
    score_source, score_target, rowptr, segptr, _, source, tptr, tedge, _, ctx.slope = inputs
    ctx.save_for_backward(output, score_source, score_target, rowptr, segptr, source, tptr, tedge)


def _softmax_backward(ctx, grad):
    grads = torch.ops.fairgat.segment_softmax_backward(grad, *ctx.saved_tensors, ctx.slope)
    return *grads, *(None,) * 8


@operator(
    "segment_softmax(Tensor score_source, Tensor score_target, Tensor rowptr, Tensor segptr, Tensor mass,"
    " Tensor source, Tensor? tptr, Tensor? tedge, Tensor? keep, float slope) -> Tensor",
    lambda s, t, rowptr, segptr, mass, source, *_: s.new_empty(s.size(0), source.size(0)),
    _softmax_backward,
    _softmax_setup,
)
def _softmax(score_source, score_target, rowptr, segptr, mass, source, tptr, tedge, keep, slope):
    alpha = score_source.new_empty(score_source.size(0), source.size(0))
    launch(
        kernels.softmax, rowptr.numpy(), segptr.numpy(), mass.numpy(), _unsigned(source),
        None if keep is None else _array(keep), _array(score_source), _array(score_target), np.float32(slope),
        alpha.numpy(),
    )  # fmt: skip
    return alpha


@operator(
    "segment_softmax_backward(Tensor grad, Tensor alpha, Tensor score_source, Tensor score_target, Tensor rowptr,"
    " Tensor segptr, Tensor source, Tensor tptr, Tensor tedge, float slope) -> (Tensor, Tensor)",
    lambda grad, alpha, s, t, *_: (s.new_empty(s.shape), t.new_empty(t.shape)),
)
def _softmax_gradient(grad, alpha, score_source, score_target, rowptr, segptr, source, tptr, tedge, slope):
    grad_source, grad_target = (each.new_empty(each.shape) for each in (score_source, score_target))
    grad_score = alpha.new_empty(alpha.shape).numpy()
    launch(
        kernels.softmax_gradient, rowptr.numpy(), segptr.numpy(), _unsigned(source), _array(score_source),
        _array(score_target), np.float32(slope), _array(alpha), _array(grad), grad_score, grad_target.numpy(),
    )  # fmt: skip
    launch(kernels.sum_by_source, tptr.numpy(), _unsigned(tedge), grad_score, grad_source.numpy())
    return grad_source, grad_target


def _sum_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _sum_backward(ctx, grad):
    alpha, x, rowptr, source, *transposed = ctx.saved_tensors
    if ctx.needs_input_grad[1]:
        grads = torch.ops.fairgat.sum_of_neighbours_backward(grad, alpha, x, *transposed)
    else:  # no array of x's size, and no pass by source
        grads = torch.ops.fairgat.dot_products(grad, x, rowptr, source), None
    return *grads, *(None,) * 6


@operator(
    "sum_of_neighbours(Tensor alpha, Tensor x, Tensor rowptr, Tensor source, Tensor? tptr, Tensor? ttarget,"
    " Tensor? tedge, Tensor? position) -> Tensor",
    lambda alpha, x, rowptr, *_: x.new_empty(rowptr.size(0) - 1, alpha.size(0), x.size(-1)),
    _sum_backward,
    _sum_setup,
)
def _sum(alpha, x, rowptr, source, *_):
    out = x.new_empty(rowptr.size(0) - 1, alpha.size(0), x.size(-1))
    for head, size, at, to in _blocks(alpha.size(0), x):
        launch(
            kernels.aggregate, rowptr.numpy(), _unsigned(source), _array(alpha)[head], _flat(x), at,
            _flat(out), to, size,
        )  # fmt: skip
    return out


@operator(
    "sum_of_neighbours_backward(Tensor grad, Tensor alpha, Tensor x, Tensor tptr, Tensor ttarget, Tensor tedge,"
    " Tensor position) -> (Tensor, Tensor)",
    lambda grad, alpha, x, *_: (alpha.new_empty(alpha.shape), x.new_empty(x.shape)),
)
def _sum_gradient(grad, alpha, x, tptr, ttarget, tedge, position):
    grad_x, grad_weight = x.new_empty(x.shape), alpha.new_empty(alpha.shape)
    weight = _take(alpha, tedge)
    for head, size, at, to in _blocks(alpha.size(0), x):
        add_x, add_weight = x.dim() == 2 and head > 0, to > head * x.size(-1)
        launch(
            kernels.aggregate_gradient, tptr.numpy(), _unsigned(ttarget), weight.numpy()[head], _flat(x), at,
            _flat(grad), to, size, _flat(grad_x), add_x, grad_weight.numpy()[head], add_weight,
        )  # fmt: skip
    return _take(grad_weight, position), grad_x


def _take(values: Tensor, index: Tensor) -> Tensor:
    """values[:, index], row by row, which is faster."""
    out = torch.empty_like(values)
    for row, into in zip(values, out, strict=True):
        torch.index_select(row, 0, index, out=into)
    return out


@operator(
    "dot_products(Tensor grad, Tensor x, Tensor rowptr, Tensor source) -> Tensor",
    lambda grad, x, rowptr, source: grad.new_empty(grad.size(1), source.size(0)),
)
def _dot_products(grad, x, rowptr, source):
    out = grad.new_empty(grad.size(1), source.size(0))
    x = x if x.dim() == 3 else x[:, None]
    launch(kernels.dot_products, rowptr.numpy(), _unsigned(source), _array(x), _array(grad), out.numpy())
    return out


def _blocks(heads: int, x: Tensor):
    """(head, size, first column in x, first column in the sums) of the blocks that kernels take."""
    width = x.size(-1)
    shared = x.dim() == 2
    for head in range(heads):
        for start, size in kernels.blocks(width):
            to = np.uint64(head * width + start)
            yield head, np.uint64(size), np.uint64(start) if shared else to, to


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


def _flat(tensor: Tensor) -> np.ndarray:
    """(N, H * C)."""
    return _array(tensor.flatten(1))


def _unsigned(indices: Tensor) -> np.ndarray:
    """int32 as uint32, of which Numba knows that they aren't negative."""
    return indices.numpy().view(np.uint32)
