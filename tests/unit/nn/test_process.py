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

GRADIENTS = """
import hashlib, torch
from fairgat.nn import FairGATConv, NodeClassifier
torch.set_num_threads(1)
torch.manual_seed(0)
hub = torch.stack([torch.arange(3000), torch.zeros(3000).long()])
edges, groups = torch.cat([torch.randint(3000, (2, 60_000)), hub], 1), torch.randint(2, (3000,))
digest, x = hashlib.sha256(), torch.randn(3000, 17)
for model in (FairGATConv(17, 64), NodeClassifier(FairGATConv, 17, 64, spectral_norm=True, eta=1.0)):
    model(x, edges, groups).square().mean().backward()
    for weight in model.parameters():
        digest.update(weight.grad.numpy().tobytes())
print(digest.hexdigest())
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
    heavy = ("torch_geometric", "pandas", "matplotlib", "sklearn", "snakemake")
    code = f"import fairgat.training.job\n{STEP}\nprint([name for name in {heavy!r} if name in sys.modules])"
    out, error = start(code).communicate()
    assert out.splitlines()[-1] == "[]", out + error


def test_parallel_jobs_share_compiled_kernels(tmp_path):
    """Processes that start together on an empty cache all compile, and none trips over another's files."""
    together = [start(STEP, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    answers = [process.communicate() for process in together]
    assert {process.returncode for process in together} == {0}, answers
    compiled = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert compiled
    late = start(STEP, NUMBA_CACHE_DIR=str(tmp_path))
    answers.append(late.communicate())
    assert len({out for out, _ in answers}) == 1, answers
    assert compiled == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}  # found, not made again


def test_kernels_from_the_cache_add_up_as_compiled_ones_do(tmp_path):
    """Kernels share helpers: which of several compiled forms a process takes must not matter."""
    found = [start(GRADIENTS, NUMBA_CACHE_DIR=str(tmp_path)).communicate() for _ in range(2)]
    assert found[0][0] and found[0][0] == found[1][0], found


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
    """One pool of threads: Numba's OpenMP layer on the library that PyTorch has loaded, and PyTorch's number."""
    code = f"""{STEP}
import numba
print(numba.threading_layer(), torch.get_num_threads())
print(len({{line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line}}))"""
    out, error = start("import torch; torch.set_num_threads(1)\n" + code).communicate()
    layer, libraries = out.splitlines()[-2:]
    assert layer.split()[1] == "1", out + error
    if sys.platform == "linux" and layer.startswith("omp"):
        assert libraries == "1", out + error


def test_the_users_choice_of_a_threading_layer_is_left_alone():
    code = STEP + "import numba\nprint(numba.threading_layer())"
    out, error = start(code, NUMBA_THREADING_LAYER="workqueue").communicate()
    assert out.splitlines()[-1] == "workqueue", out + error
