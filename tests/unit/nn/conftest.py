"""The small graph of most tests of the layers."""

import pytest
import torch
from graphs import random_graph
from torch import Tensor


@pytest.fixture
def edge_index() -> Tensor:
    """(2, E) edges of 30 nodes (`random_graph`)."""
    return random_graph()[0]


@pytest.fixture
def sensitive() -> Tensor:
    """(30,) groups of their nodes."""
    return random_graph()[1]


@pytest.fixture
def compiler() -> None:
    """PyTorch's compiler as new: it compiles a function only so many times."""
    torch.compiler.reset()
