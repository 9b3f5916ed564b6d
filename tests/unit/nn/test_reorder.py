"""The numbering of the nodes."""

import numpy as np

from fairgat.data.graph import symmetrise
from fairgat.nn import bandwidth_order


def test_neighbours_get_near_numbers_and_hubs_come_last():
    nodes, hub = 400, 17
    rng = np.random.default_rng(0)
    line = rng.permutation(np.delete(np.arange(nodes), hub))
    spokes = np.stack([np.full(nodes - 1, hub), line])
    edges = symmetrise(np.concatenate([np.stack([line[:-1], line[1:]]), spokes], axis=1), nodes)
    order = bandwidth_order(edges, nodes)
    assert order.dtype == np.int64 and sorted(order) == list(range(nodes))
    assert order[-1] == hub
    rank = np.argsort(order)
    assert (np.abs(rank[line[:-1]] - rank[line[1:]]) == 1).all()


def test_without_edges():
    assert sorted(bandwidth_order(np.zeros((2, 0), dtype=np.int64), 3)) == [0, 1, 2]
