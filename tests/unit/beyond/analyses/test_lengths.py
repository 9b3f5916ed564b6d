"""The share of all squared length that the longest hundredth of the nodes has."""

import pytest
import torch

from beyond.analyses.lengths import share_of_longest


def test_rows_of_equal_length_have_equal_shares():
    assert share_of_longest(torch.ones(200, 3)) == pytest.approx(2 / 200)


def test_lengths_are_squared():
    embeddings = torch.ones(200, 3)
    embeddings[5, 0] = embeddings[6, 1] = 30.0

    longest = 2 * (30**2 + 2)
    others = 198 * 3
    assert share_of_longest(embeddings) == pytest.approx(longest / (longest + others))


def test_of_few_nodes_the_longest_counts():
    embeddings = torch.tensor([[3.0], [1.0], [0.0]])

    assert share_of_longest(embeddings) == pytest.approx(9 / 10)
