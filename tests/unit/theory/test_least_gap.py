"""The share at which mixing cancels the other parts of a gap."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from fairgat.theory.account import attention_account, least_gap


def test_the_share_with_the_least_gap():
    """Fair attention of equal weights on fixed features: only mixing changes with the share, and by a line."""
    rng = np.random.default_rng(7)
    sensitive, labels = rng.permutation(np.arange(40) % 2), rng.integers(2, size=40)
    edges = (rng.random((40, 40)) < 0.3) | np.eye(40, dtype=bool)
    edges[0] = sensitive == sensitive[0]  # who has no neighbour in the other group keeps all attention
    intra, inter = edges & (sensitive == sensitive[:, None]), edges & (sensitive != sensitive[:, None])
    c = np.where(sensitive == 1, 3.0, -2.0)[:, None]  # the same within each group: selection depends on no share
    read = 0.3 * rng.normal(size=40)

    def at(share):
        both = np.where(inter.any(1), share, 0)[:, None]
        dense = (1 - both) * intra / intra.sum(1, keepdims=True) + both * inter / np.maximum(inter.sum(1), 1)[:, None]
        logits = (dense @ c)[:, 0] + read
        whole, *_ = attention_account("x", c, np.abs(c), [csr_matrix(dense)], sensitive, labels, np.ones(1), logits)
        return asdict(whole)

    curve = {share: abs(at(share)["gap"]) for share in np.linspace(0, 1, 1001)}
    share, gap = least_gap(pd.DataFrame([at(0.1), at(0.4)]))
    assert share == pytest.approx(min(curve, key=curve.get), abs=1e-3) and 0 < share < 1
    assert gap == pytest.approx(0, abs=1e-9) == at(share)["gap"]


@pytest.mark.parametrize(("gap", "expected"), [(5.5, (1, 4.8)), (-4.5, (0, -4.0)), (0.1, (0.5, 0))])
def test_mixing_reaches_as_far_as_shares_go(gap, expected):
    found = least_gap(pd.DataFrame([{"gap": gap, "mixing": 0.5, "between": 1.0, "reach": 1.2}]))
    assert found == pytest.approx(expected)


def test_more_groups_have_no_such_share():
    assert np.isnan(least_gap(pd.DataFrame([{"gap": 1.0, "mixing": 0.5, "between": np.nan, "reach": np.nan}]))).all()
