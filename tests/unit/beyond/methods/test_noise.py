"""GAT with noise on its embeddings."""

import further
import torch
from dense import LINK, make, small_graph

from fairgat.training.loop import fit

NOISE = further.method("noise")


def test_noise_on_the_embeddings_of_gat():
    """The same training; predictions are worse by noise of the size asked for, the same in each pass of a job."""
    graph = small_graph(nodes=400, edges=2000)
    plain, noisy, none = (
        fit(make("gat", graph, LINK)),
        *(fit(make(NOISE, graph, LINK, size=s)) for s in (0.5, 0)),
    )
    assert plain.history == noisy.history == none.history
    for rule, kept in plain.reported.items():
        torch.testing.assert_close(none.reported[rule].output, kept.output)
        noise = (noisy.reported[rule].output - kept.output) / kept.output.std(
            0, correction=0
        )
        assert abs(noise.mean()) < 0.05 and noise.std(0).sub(0.5).abs().max() < 0.1
        assert torch.equal(
            noisy.reported[rule].output,
            fit(make(NOISE, graph, LINK, size=0.5)).reported[rule].output,
        )
