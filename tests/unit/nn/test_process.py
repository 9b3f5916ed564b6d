"""What the layers do to their process: imports, compiled kernels on disk, threads, freed memory."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairgat.nn

STEP = """
import sys, torch
from fairgat.nn import CSRGraph, FairGATConv
torch.manual_seed(0)
layer = FairGATConv(5, 8)
edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
out = layer(torch.randn(4, 5), CSRGraph.from_edge_index(edges, 4, torch.tensor([0, 1, 0, 1]))).relu()
out.sum().backward()
print(out.double().sum().item(), layer.lin.weight.grad.double().sum().item())
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
    heavy = (
        "torch_geometric",
        "pandas",
        "matplotlib",
        "sklearn",
        "snakemake",
        "torch._dynamo",
        "sympy",
    )
    adam = "from fairgat.methods.base import Adam\nAdam(layer.parameters()).step()"
    code = f"import fairgat.training.job\n{STEP}\n{adam}\nprint([name for name in {heavy!r} if name in sys.modules])"
    out, error = start(code).communicate()
    assert out.splitlines()[-1] == "[]", out + error


def test_a_second_job_compiles_nothing_and_adds_up_the_same(tmp_path):
    answers, compiled = [], []
    for _ in range(2):
        answers.append(start(SUMS, NUMBA_CACHE_DIR=str(tmp_path)).communicate())
        compiled.append(
            {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
        )
    assert answers[0][0] and answers[0][0] == answers[1][0], answers
    assert compiled[0] and compiled[0] == compiled[1]


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


def test_where_nothing_can_be_written_kernels_are_compiled_anew(tmp_path):
    """A user without a home, and a package whose folders take no file: `__pycache__` is a file here."""
    package = Path(fairgat.nn.__file__).parent
    shutil.copytree(
        package, tmp_path / "fairgat/nn", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(package.parent / "groups.py", tmp_path / "fairgat")
    for folder in (tmp_path / "fairgat", tmp_path / "fairgat/nn"):
        (folder / "__init__.py").touch()
        (folder / "__pycache__").touch()
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{STEP}\nimport fairgat\nprint(fairgat.__file__)"
    out, error = start(code, **nowhere).communicate()
    assert out.splitlines()[-1] == str(tmp_path / "fairgat/__init__.py"), out + error


FORK = """
import sys, torch
from fairgat.nn import FairGATConv
from multiprocessing import get_context
def compute(_):
    return torch.allclose(layer(x, edges, groups), expected), torch.get_num_threads()
torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
layer, x = FairGATConv(5, 16, heads=2), torch.randn(4, 5)
edges, groups = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), torch.tensor([0, 1, 0, 1])
expected = layer(x, edges, groups)
expected.sum().backward()
with get_context("fork").Pool(1) as pool:
    print(*pool.map(compute, range(2)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize("count", ["1", "2"])
def test_a_forked_worker_computes_on_one_thread(count):
    run = subprocess.run(
        [sys.executable, "-c", FORK, count], capture_output=True, text=True, timeout=300
    )
    assert run.stdout == "(True, 1) (True, 1)\n", run.stderr


THREADS = """
import threading, torch
from fairgat.nn import FairGATConv
torch.manual_seed(0)
layer, x = FairGATConv(5, 16), torch.randn(2000, 5)
edges, groups = torch.randint(2000, (2, 40_000)), torch.randint(2, (2000,))
def run():
    for _ in range(20):
        layer(x, edges, groups).sum().backward()
started = [threading.Thread(target=run) for _ in range(2)]
for each in started: each.start()
for each in started: each.join()
import numba
print("ended", numba.threading_layer())
"""


def test_threads_may_call_the_layer_whatever_numbas_threading_layer():
    out, error = start(THREADS, NUMBA_THREADING_LAYER="workqueue").communicate()
    assert out == "ended workqueue\n", error


FAULTS = """
import resource
import numpy as np
{call}

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.empty(3_000_000, np.uint8) for _ in range(4)]
        for array in arrays:
            array[::4096] = 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc")
def test_freed_arrays_are_not_faulted_in_again():
    """20 x 4 x 733 pages otherwise, or as glibc's thresholds will have it; and only where it is asked for."""
    calls = (
        "from fairgat.nn import keep_freed_memory; keep_freed_memory()",
        "import fairgat.nn",
    )
    kept, usual = (
        int(start(FAULTS.format(call=call)).communicate()[0]) for call in calls
    )
    assert kept < 1000 < usual
