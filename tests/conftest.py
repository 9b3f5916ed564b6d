"""Fixtures that several test files share."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

# What tests train is so small that threads mostly wait for each other: with two,
# test_job.py takes twice the CPU time.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def data_mirror() -> Path:
    """The folder with the real data files; tests that ask for it skip without it."""
    given = os.environ.get("FAIRGAT_DATA_MIRROR")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(
            f"the real data files are not at hand: no folder {folder} "
            "(set FAIRGAT_DATA_MIRROR)"
        )
    return folder


@pytest.fixture
def double() -> Iterator[None]:
    """PyTorch makes float64 tensors: a test then compares formulas and not rounding."""
    torch = pytest.importorskip("torch")
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """`torch.set_num_threads`, undone afterwards."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
