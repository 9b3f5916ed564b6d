"""Several sensitive attributes as one."""

import numpy as np
import pandas as pd
import pytest
import torch
from graphs import features

from fairgat.nn import FairGATConv, balanced_shares, combined_groups

RACE = ["w", "b", "w", "b", "a"]
SEX = [1, 0, 1, 1, 0]


@pytest.mark.parametrize("of", [list, np.array, pd.Series])
def test_groups_are_the_combinations_that_occur(of):
    groups, names = combined_groups(race=of(RACE), sex=torch.tensor(SEX))
    assert groups.tolist() == [3, 1, 3, 2, 0]
    assert names == ["race=a, sex=0", "race=b, sex=0", "race=b, sex=1", "race=w, sex=1"]


def test_one_attribute_is_numbered_in_the_order_of_its_values():
    groups, names = combined_groups(old=[True, False, True])
    assert groups.dtype == torch.int64
    assert (groups.tolist(), names) == ([1, 0, 1], ["old=False", "old=True"])


def test_many_attributes_of_many_values_do_not_overflow():
    rng = np.random.default_rng(0)
    attributes = {f"a{number}": rng.permutation(10_000) for number in range(6)}
    groups, names = combined_groups(**attributes)
    assert torch.equal(groups, torch.from_numpy(attributes["a0"]))
    assert len(names) == 10_000


def test_nobody_has_no_groups():
    groups, names = combined_groups(race=np.zeros(0, int), sex=np.zeros(0, int))
    assert (groups.shape, names) == ((0,), [])


def test_a_layer_takes_them(edge_index, sensitive):
    groups, names = combined_groups(first=sensitive, second=torch.arange(30) % 3)
    shares = balanced_shares(groups, edge_index, 0.5)
    assert len(shares.groups) == len(names) == 6
    layer = FairGATConv(5, 8, alpha_chi=shares)
    assert layer(features(), edge_index, groups).shape == (30, 8)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "needs attributes"),
        ({"race": RACE, "sex": SEX[:4]}, r"sex has shape \(4,\)"),
        ({"race": [RACE]}, r"race has shape \(1, 5\)"),
        ({"race": ["a", None]}, "race is missing for 1 nodes"),
        ({"age": [20.5, 30.0]}, "age must be one group for each node"),
    ],
)
def test_what_is_no_attribute_is_refused(attributes, message):
    with pytest.raises(ValueError, match=message):
        combined_groups(**attributes)
