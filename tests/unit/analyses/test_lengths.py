"""Who carries the length of embeddings."""

import pytest
import torch

from analyses.lengths import share_of_longest


def test_the_longest_hundredth_is_counted_by_squared_length():
    embeddings = torch.ones(200, 3)
    assert share_of_longest(embeddings) == pytest.approx(0.01)
    embeddings[[5, 6]] = torch.tensor([[0.0, 0.0, 30.0]])
    assert share_of_longest(embeddings) == pytest.approx(1800 / (1800 + 3 * 198))


def test_of_few_nodes_one_is_the_longest():
    assert share_of_longest(torch.tensor([[3.0], [1.0], [0.0]])) == pytest.approx(0.9)
