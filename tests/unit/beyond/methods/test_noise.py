"""GAT with noise on its embeddings."""

import further
import pytest
import torch
from dense import LINK, make, small_graph

from fairgat.training.loop import fit


@pytest.fixture(scope="module")
def graph():
    return small_graph(nodes=400, edges=2000)


@pytest.fixture(scope="module")
def plain(graph):
    """GAT, trained."""
    return fit(make("gat", graph, LINK))


@pytest.fixture
def noisy(graph):
    """Train GAT with noise of a size."""

    def train(size):
        return fit(make(further.method("noise"), graph, LINK, size=size))

    return train


def test_noise_changes_predictions_and_not_training(plain, noisy):
    result = noisy(0.5)

    assert result.history == plain.history
    for rule, kept in plain.reported.items():
        scale = kept.output.std(0, correction=0)
        noise = (result.reported[rule].output - kept.output) / scale
        assert abs(noise.mean()) < 0.05
        torch.testing.assert_close(
            noise.std(0), torch.full((6,), 0.5), rtol=0, atol=0.1
        )


def test_noise_of_size_0_is_none(plain, noisy):
    for rule, kept in noisy(0).reported.items():
        torch.testing.assert_close(kept.output, plain.reported[rule].output)


def test_the_noise_of_a_job_is_always_the_same(noisy):
    first, again = noisy(0.5), noisy(0.5)

    for rule, kept in first.reported.items():
        assert torch.equal(kept.output, again.reported[rule].output)
