"""The kernels for a GPU against the reference in float64.

On a GPU, or by Triton's interpreter (`make test-gpu`).
"""

import os

import pytest
import torch
from graphs import features, random_graph
from operators import passes, scores_and_features
from step3 import (
    DEVIATIONS,
    ETA,
    FORMS,
    RATIOS,
    assert_as_good_as_plain,
    far_features,
    with_gradients,
)

from fairgat.nn import (
    CSRGraph,
    FairGATConv,
    GATConv,
    balanced_shares,
    columns,
    operators,
    pointers,
)
from fairgat.nn.attention import reference_sum, segment_softmax, sum_of_neighbours

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
if not (INTERPRETED or torch.cuda.is_available()):
    pytest.skip(
        "no GPU, and not by Triton's interpreter, as `make test-gpu` runs them",
        allow_module_level=True,
    )

from fairgat.nn import gpu, gpu_normalise  # noqa: E402

HALVES = [torch.bfloat16, torch.float16]


@pytest.fixture(autouse=True, scope="module")
def own_operators():
    """By the interpreter, they run on the CPU, in place of the CPU's own."""
    if INTERPRETED:
        operators.DTYPES["cpu"] = operators.DTYPES["cuda"]
        own = {"matrix_factor": gpu_normalise.matrix_factor}
        own |= {"matrix_factor_backward": gpu_normalise.matrix_factor_gradient}
        operators.implement(own, "CPU")
        operators.implement(
            gpu.IMPLEMENTATIONS | gpu_normalise.IMPLEMENTATIONS,
            "CPU",
            allow_override=True,
        )


@pytest.fixture(params=[7] if INTERPRETED else [7, pointers.LONG], autouse=True)
def longest(request, monkeypatch):
    """The edges of a row that is not cut into parts."""
    monkeypatch.setattr(pointers, "LONG", request.param)
    monkeypatch.setattr(gpu, "LONG", request.param)


def close(found, exact, tolerance=5e-6):
    exact = exact.to(found.device)
    if exact.numel():
        assert (found.double() - exact).norm() <= tolerance * exact.norm().clamp_min(
            0.1
        )
    assert found.shape == exact.shape


def graph_of(edge_index, nodes, sensitive=None, shares=None):
    return CSRGraph.from_edge_index(
        edge_index.to(DEVICE), nodes, sensitive, shares=shares
    )


# heads, width, groups, shared features, edges with scores, share of edges kept
CASES = {
    "GAT": (1, 5, 1, False, False, None),
    "heads, of edges": (3, 20, 1, False, True, None),
    "two groups, shared features": (2, 5, 2, True, False, None),
    "two groups, edges dropped": (2, 1, 2, False, True, 0.5),
    "four groups": (1, 20, 4, False, True, None),
    "four groups, edges dropped": (2, 5, 4, True, True, 0.5),
    "most edges dropped": (1, 5, 2, False, False, 0.1),
    "wide features": (2, 200, 1, False, False, None),
    "wider ones than a program takes": (1, 1030, 1, False, False, None),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_operators(case, share):
    """Values and gradients."""
    heads, width, groups, shared, edges, left = case
    edge_index, sensitive = random_graph(12, 40, groups)
    shares = balanced_shares(sensitive, edge_index, 0.5) if groups > 2 else None
    graph = graph_of(edge_index, 12, sensitive if groups > 1 else None, shares)
    keep = None if left is None else (torch.rand(graph.num_edges) < left).to(DEVICE)
    given = scores_and_features(graph, heads, width, shared, edges)
    for found, exact in zip(
        *passes(graph, given, [torch.float32, torch.float64], share, keep), strict=True
    ):
        close(found, exact)


@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision_has_the_rounding_of_its_inputs_and_no_more(dtype):
    """Sums are in float32: a row of 272 ones would end at 256 in bfloat16."""
    hub = torch.stack([1 + torch.arange(271) % 9, torch.zeros(271, dtype=torch.long)])
    graph = graph_of(hub, 10, torch.arange(10) % 2)
    given = [
        None if each is None else each.to(dtype)
        for each in scores_and_features(graph, 2, 20)
    ]
    for found, exact in zip(*passes(graph, given, [dtype, torch.float64]), strict=True):
        close(found, exact, 0.02)
    ones = torch.ones(1, graph.num_edges, device=DEVICE, dtype=dtype)
    assert (
        sum_of_neighbours(ones, torch.ones(10, 1, device=DEVICE, dtype=dtype), graph)[
            0
        ].item()
        == 272
    )


def test_a_hub_one_node_and_none():
    many = 60 if INTERPRETED else 5000
    hub = torch.stack([torch.arange(many), torch.full((many,), 7)])
    for edge_index, nodes in (
        (torch.cat([hub, hub.flip(0)], 1), many),
        (hub[:, :0], 1),
        (hub[:, :0], 0),
    ):
        graph = graph_of(edge_index, nodes, torch.arange(nodes) % 2)
        given = scores_and_features(graph, 1, 20)
        for found, exact in zip(
            *passes(graph, given, [torch.float32, torch.float64]), strict=True
        ):
            close(found, exact)


def test_offsets_beyond_int32():
    """Rows 2^30 numbers apart: the last two begin beyond 2^31.

    What is not written takes no memory on the CPU.
    """
    far = torch.empty(3 * 2**30 + 4, dtype=torch.float16, device=DEVICE).as_strided(
        (4, 1, 4), (2**30, 4, 1)
    )
    near = torch.arange(16.0, device=DEVICE).view(4, 1, 4)
    far.copy_(near)
    graph = graph_of(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), 4)
    alpha = torch.rand(1, graph.num_edges).to(DEVICE, torch.float16)
    exact = reference_sum(alpha.double(), near.double(), graph)
    close(sum_of_neighbours(alpha, far, graph), exact, 1e-3)
    grad = torch.randn(4, 1, 4).to(DEVICE, torch.float16)
    dots = torch.ops.fairgat.dot_products(
        grad, far, graph.rowptr, graph.source, graph.cuts()
    )
    expected = (
        (grad.double()[graph.target] * near.double()[graph.source.long()]).sum(2).t()
    )
    close(dots, expected, 1e-3)
    both = torch.ops.fairgat.sum_of_neighbours_backward(
        grad, alpha, near.half(), *graph.transposed()
    )
    close(both[0], expected, 1e-3)


def test_not_a_number_is_not_lost():
    graph = graph_of(random_graph()[0], 30)
    s, t, _, _ = scores_and_features(graph, 1, 5)
    s[0, 3] = torch.nan
    exact = segment_softmax(s.double(), t.double(), graph).isnan()
    assert (
        torch.equal(segment_softmax(s, t, graph).isnan(), exact)
        and exact.any()
        and not exact.all()
    )


def test_two_runs_are_equal_bit_for_bit():
    nodes, edges = (10, 60) if INTERPRETED else (2000, 40_000)
    edge_index, sensitive = random_graph(nodes, edges)
    graph = graph_of(edge_index, nodes, sensitive)
    given = scores_and_features(graph, 2, 20)
    first, second = passes(graph, given, [torch.float32] * 2)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("make", [GATConv, FairGATConv])
@pytest.mark.parametrize(
    "options", [{}, {"heads": 3}, {"heads": 2, "concat": False}], ids=str
)
@pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)
def test_layers(make, options, widths):
    edge_index, sensitive = random_graph(12, 40)
    arguments = (
        [edge_index.to(DEVICE)]
        if make is GATConv
        else [edge_index.to(DEVICE), sensitive.to(DEVICE)]
    )
    results = []
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(0)
        layer = make(*widths, **options).to(DEVICE, dtype)
        x = features(widths[0], nodes=12).detach().to(DEVICE, dtype).requires_grad_()
        out = layer(x, *arguments)
        out.square().sum().backward()
        results.append([out, x.grad, *(each.grad for each in layer.parameters())])
    for found, exact in zip(*results, strict=True):
        close(found, exact, 2e-5)


@pytest.mark.parametrize("otherwise", [False, True])
@pytest.mark.parametrize("shape", [(300, 40), (1, 1), (0, 4)])
def test_columns(shape, otherwise):
    """Factors and gradients; one column has a large mean, and one does not vary."""
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    x[:, 0] = 0.1
    if shape[1] > 1:
        x[:, 1] += 10
    other, weights, bias = (
        torch.randn(shape[1], dtype=torch.float64) for _ in range(3)
    )
    results = []
    for dtype in (torch.float32, torch.float64):
        own, others, shift = (
            each.to(DEVICE, dtype, copy=True).requires_grad_()
            for each in (x, other, bias)
        )
        given = own, 0.75, others if otherwise else None
        if dtype == torch.float64:
            factor, _, mean = columns.column_factor(*given)
        else:
            factor, means, _ = torch.ops.fairgat.column_factor(own, given[2], 0.75)
            mean = means.sum(0)
        out = (factor * weights.to(DEVICE, dtype)).sum() + columns.scale_and_shift(
            own, factor, shift
        ).square().sum()
        (out + mean.pow(3).sum()).backward()
        results.append(
            [factor, mean, own.grad, shift.grad, *([others.grad] if otherwise else [])]
        )
    for found, exact in zip(*results, strict=True):
        close(found, exact, 1e-5)


def by_kernel(x, eta, otherwise):
    return torch.ops.fairgat.column_factor(x, otherwise, eta)[0]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("otherwise", [False, True])
def test_columns_of_a_product(shared, otherwise):
    torch.manual_seed(0)
    x = torch.randn(50, 1 if shared else 2, 37, dtype=torch.float64)
    weight, other = (
        torch.randn(2, 40, 37, dtype=torch.float64),
        torch.randn(2, 40, dtype=torch.float64),
    )
    weight[0, 3] = 0
    results = []
    for dtype in (torch.float32, torch.float64):
        own, matrix, others = (
            each.to(DEVICE, dtype, copy=True).requires_grad_()
            for each in (x, weight, other)
        )
        mean, cov = columns.covariance(own)
        if dtype == torch.float64:
            factor, *_ = columns.matrix_factor(
                matrix, mean, cov, 0.75, others if otherwise else None
            )
        else:
            factor = torch.ops.fairgat.matrix_factor(
                matrix, mean, cov, others if otherwise else None, 0.75
            )[0]
        factor.pow(3).sum().backward()
        results.append(
            [factor, own.grad, matrix.grad, *([others.grad] if otherwise else [])]
        )
    for found, exact in zip(*results, strict=True):
        close(found, exact, 1e-5)


def step(x, weight):
    """Step 3 of x (N, F), or of its product with a weight, by the kernels."""
    if weight is None:
        return x * by_kernel(x, ETA, None)
    mean, cov = columns.covariance(x[:, None])
    made = torch.ops.fairgat.matrix_factor(weight[None], mean, cov, None, ETA)
    return (x @ weight.t()) * made[0][0]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("form", FORMS)
def test_step_3_far_from_zero(form, ratio):
    assert_as_good_as_plain(step, far_features(ratio).to(DEVICE), form)


@pytest.mark.parametrize("deviation", DEVIATIONS)
@pytest.mark.parametrize("form", FORMS)
def test_step_3_of_small_deviations(form, deviation):
    assert_as_good_as_plain(step, far_features(1, deviation).to(DEVICE), form)


@pytest.mark.parametrize("mean", [0.0, 0.1, 12345.678])
@pytest.mark.parametrize("form", FORMS)
def test_step_3_of_columns_that_do_not_vary(form, mean):
    x = torch.full((301, 6), mean, device=DEVICE)
    weight = None if form == "columns" else torch.eye(12, 6, device=DEVICE)
    out, gradient, *_ = with_gradients(step, x, weight)
    torch.testing.assert_close(out[:, :6], ETA * x)
    directions = torch.randn(out.shape, generator=torch.Generator().manual_seed(5))
    torch.testing.assert_close(gradient, ETA * directions[:, :6].to(DEVICE))


@pytest.mark.parametrize("form", FORMS)
def test_sums_of_what_does_not_vary_may_have_more_rounding(form):
    """Where step 3 has found that a column does not vary, and only there."""
    x = far_features(1e5).to(DEVICE)
    summed = torch.tensor([0.0, 1.0] * 3, device=DEVICE)
    if form == "columns":
        inverse = torch.ops.fairgat.column_factor(x, None, ETA, summed)[2]
    else:
        moments = columns.covariance(x[:, None])
        given = torch.eye(6, device=DEVICE)[None], *moments, None, ETA, summed[None]
        inverse = torch.ops.fairgat.matrix_factor(*given)[1][0]
    torch.testing.assert_close(inverse, summed, rtol=0.01, atol=0)
