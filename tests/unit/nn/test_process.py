"""What the layers do to their process: imports, compiled kernels on disk, threads."""

import os
import subprocess
import sys

import torch
from graphs import random_graph

from fairgat.nn import FairGATConv, NodeClassifier

STEP = """
import sys, torch
from fairgat.nn import CSRGraph, FairGATConv
torch.manual_seed(0)
layer = FairGATConv(5, 8)
edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
out = layer(torch.randn(4, 5), CSRGraph.from_edge_index(edges, 4, torch.tensor([0, 1, 0, 1]))).relu()
out.sum().backward()
print(out.double().sum().item(), layer.lin.parametrizations.weight.original.grad.double().sum().item())
"""


# Every kernel, on rows that are long enough to be summed in vectors.
SUMS = """
import hashlib, torch
from fairgat.nn import CSRGraph, attention, normalise
draw = torch.Generator().manual_seed(0)
many, few = torch.randint(2000, (20_000,), generator=draw), torch.rand(20_000, generator=draw) ** 4 * 2000
ends = torch.stack([many, few.long()])
graph = CSRGraph.from_edge_index(torch.cat([ends, ends.flip(0)], 1), 2000, torch.arange(2000) % 2)
made = []
for heads in 1, 3:
    scores = [torch.randn(heads, 2000, generator=draw).requires_grad_() for _ in range(2)]
    alpha = attention.segment_softmax(*scores, graph, 0.5)
    made += [alpha, *torch.autograd.grad(alpha.square().sum(), scores, retain_graph=True)]
    for width in 16, 32, 64, 100, 128:
        x = torch.randn(2000, heads, width, generator=draw)
        for given in [alpha], [alpha, x.requires_grad_()]:  # without x's gradient by dot products alone
            z = attention.sum_of_neighbours(alpha, x if len(given) > 1 else x.detach(), graph)
            made += [z, *torch.autograd.grad(z.square().sum(), given, retain_graph=True)]
x = x.detach()[:, 0].requires_grad_()
z = normalise.standardise(x, 1.0)
made += [z, *torch.autograd.grad(z.pow(3).sum(), x)]
print(*(hashlib.sha1(each.detach().numpy().tobytes()).hexdigest() for each in made))
"""


def start(code, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_training_imports_nothing_that_it_can_do_without():
    heavy = ("torch_geometric", "pandas", "matplotlib", "sklearn", "snakemake", "torch._dynamo", "sympy")
    adam = "from fairgat.methods.base import Adam\nAdam(layer.parameters()).step()"
    code = f"import fairgat.training.job\n{STEP}\n{adam}\nprint([name for name in {heavy!r} if name in sys.modules])"
    out, error = start(code).communicate()
    assert out.splitlines()[-1] == "[]", out + error


def test_a_second_job_compiles_nothing_and_adds_up_the_same(tmp_path):
    answers, compiled = [], []
    for _ in range(2):
        answers.append(start(SUMS, NUMBA_CACHE_DIR=str(tmp_path)).communicate())
        compiled.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")})
    assert answers[0][0] and answers[0][0] == answers[1][0], answers
    assert compiled[0] and compiled[0] == compiled[1]


def test_the_same_bits_from_run_to_run_with_two_threads():
    edge_index, sensitive = random_graph(nodes=3000, edges=40_000)
    x = torch.randn(3000, 20, generator=torch.Generator().manual_seed(0))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        results = []
        for _ in range(3):
            torch.manual_seed(0)
            model = NodeClassifier(FairGATConv, 20, 32, spectral_norm=True, eta=1.0)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            for _ in range(5):
                optimizer.zero_grad()
                model(x, edge_index, sensitive)[::2].square().mean().backward()
                optimizer.step()
            results.append([p.detach().clone() for p in model.parameters()])
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_kernels_run_on_pytorchs_threads():
    """One pool of threads, and as many as PyTorch is told to use."""
    code = f"""
import os, torch, fairgat.nn
torch.set_num_threads(2)
torch.rand(1000, 1000).exp()
before = len(os.listdir("/proc/self/task"))
{STEP}
import numba
print(numba.threading_layer(), torch.get_num_threads(), len(os.listdir("/proc/self/task")) - before)"""
    out, error = start(code).communicate()
    layer, threads, more = out.splitlines()[-1].split()
    assert threads == "2", out + error
    assert more == "0" or layer != "omp", out + error


def test_the_users_choice_of_a_threading_layer_is_left_alone():
    code = STEP + "import numba\nprint(numba.threading_layer())"
    out, error = start(code, NUMBA_THREADING_LAYER="workqueue").communicate()
    assert out.splitlines()[-1] == "workqueue", out + error
