"""What the layers do to their process: imports, compiled kernels, threads, memory."""

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
graph = CSRGraph.from_edge_index(edges, 4, torch.tensor([0, 1, 0, 1]))
out = layer(torch.randn(4, 5), graph).relu()
out.sum().backward()
print(out.double().sum().item(), layer.lin.weight.grad.double().sum().item())
"""


# Every kernel, on rows that are long enough to be summed in vectors.
SUMS = """
import hashlib, torch
from fairgat.nn import CSRGraph, attention, normalise
draw = torch.Generator().manual_seed(0)
many = torch.randint(2000, (20_000,), generator=draw)
few = torch.rand(20_000, generator=draw) ** 4 * 2000
ends = torch.stack([many, few.long()])
both_ways = torch.cat([ends, ends.flip(0)], 1)
graph = CSRGraph.from_edge_index(both_ways, 2000, torch.arange(2000) % 2)
made = []

def keep(out, given):
    made.append(out)
    made.extend(torch.autograd.grad(out.pow(3).sum(), given, retain_graph=True))

for heads in 1, 3:
    source = torch.randn(heads, 2000, generator=draw).requires_grad_()
    target = torch.randn(heads, 2000, generator=draw).requires_grad_()
    alpha = attention.segment_softmax(source, target, graph, 0.5)
    keep(alpha, [source, target])
    for width in 16, 32, 64, 100, 128:
        x = torch.randn(2000, heads, width, generator=draw)
        # Without x's gradient by dot products alone.
        keep(attention.sum_of_neighbours(alpha, x, graph), [alpha])
        x.requires_grad_()
        keep(attention.sum_of_neighbours(alpha, x, graph), [alpha, x])
x = x.detach()[:, 0].requires_grad_()
keep(normalise.standardise(x, 1.0), [x])
for each in made:
    print(hashlib.sha1(each.detach().numpy().tobytes()).hexdigest())
"""


def output_of(code, *arguments, **environment):
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAVY = (
    "torch_geometric",
    "pandas",
    "matplotlib",
    "sklearn",
    "snakemake",
    "torch._dynamo",
    "sympy",
)
TRAINING = f"""
import fairgat.training.job
{STEP}
from fairgat.methods.base import Adam
Adam(layer.parameters()).step()
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_training_imports_nothing_that_it_can_do_without():
    assert output_of(TRAINING).splitlines()[-1] == "[]"


def test_a_second_job_compiles_nothing_and_adds_up_the_same(tmp_path):
    sums, compiled = [], []
    for _ in range(2):
        sums.append(output_of(SUMS, NUMBA_CACHE_DIR=str(tmp_path)))
        files = tmp_path.rglob("*.nbc")
        compiled.append({path: path.stat().st_mtime_ns for path in files})

    assert sums[0] == sums[1]
    assert compiled[0] == compiled[1] != {}


POOL = f"""
import os, torch, fairgat.nn
torch.set_num_threads(2)
torch.rand(1000, 1000).exp()
before = len(os.listdir("/proc/self/task"))
{STEP}
import numba
more = len(os.listdir("/proc/self/task")) - before
print(numba.threading_layer(), torch.get_num_threads(), more)
"""


def test_kernels_run_on_pytorchs_threads():
    """One pool of threads, and as many as PyTorch is told to use."""
    layer, threads, more = output_of(POOL).splitlines()[-1].split()

    assert threads == "2"
    assert more == "0" or layer != "omp"


@pytest.fixture
def package(tmp_path):
    """The layers in a package whose folders take no file: `__pycache__` is one."""
    source = Path(fairgat.nn.__file__).parent
    folder = tmp_path / "fairgat"
    no_cache = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, folder / "nn", ignore=no_cache)
    shutil.copy(source.parent / "groups.py", folder)
    for each in (folder, folder / "nn"):
        (each / "__init__.py").touch()
        (each / "__pycache__").touch()
    return folder


def test_where_nothing_can_be_written_kernels_are_compiled_anew(package):
    """As for a user without a home."""
    first = f"import sys; sys.path.insert(0, {str(package.parent)!r})"
    code = f"{first}\n{STEP}\nimport fairgat\nprint(fairgat.__file__)"
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}

    *_, file = output_of(code, **nowhere).splitlines()

    assert file == str(package / "__init__.py")


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
    assert output_of(FORK, count) == "(True, 1) (True, 1)\n"


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
    out = output_of(THREADS, NUMBA_THREADING_LAYER="workqueue")
    assert out == "ended workqueue\n"


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
def test_freed_arrays_are_not_faulted_in_again_where_that_is_asked_for():
    """20 x 4 x 733 pages otherwise, or as glibc's thresholds will have it."""
    asked = "from fairgat.nn import keep_freed_memory; keep_freed_memory()"
    kept = int(output_of(FAULTS.format(call=asked)))
    usual = int(output_of(FAULTS.format(call="import fairgat.nn")))

    assert kept < 1000 < usual
