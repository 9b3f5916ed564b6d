"""The small graph of most tests of the layers."""

import pytest
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
