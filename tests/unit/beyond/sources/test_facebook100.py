"""Facebook100's .mat files: what is a feature, who is left out."""

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from beyond.sources import facebook100

# Status, gender, major, second major, dorm, year, high school; 0: not known.
PEOPLE = [
    [1, 2, 30, 0, 5, 2006, 70],
    [1, 0, 40, 0, 5, 2007, 71],
    [2, 1, 0, 9, 5, 2006, 72],
    [1, 1, 30, 0, 6, 2005, 70],
]
FRIENDS = [(0, 1), (0, 2)]
FEATURES = [
    "status 1",
    "status 2",
    "major 30",
    "second 9",
    "dorm 5",
    "dorm 6",
    "year 2005",
    "year 2006",
    "school 70",
    "school 72",
]


@pytest.fixture
def graph(tmp_path):
    """The graph of four people, of whom the gender of the second is not known."""
    friends = np.zeros((4, 4))
    for one, other in FRIENDS:
        friends[one, other] = friends[other, one] = 1
    people = np.array(PEOPLE, dtype=np.uint16)
    savemat(tmp_path / "Reed98.mat", {"A": csc_array(friends), "local_info": people})
    return facebook100.load("reed98", tmp_path, facebook100.Options(), 0)


def test_people_of_unknown_gender_are_left_out(graph):
    assert graph.sensitive.tolist() == [1, 0, 0]
    assert graph.groups == ({"gender": "1"}, {"gender": "2"})
    assert graph.edge_index.tolist() == [[0, 1], [1, 0]]


def test_what_is_not_known_is_no_feature(graph):
    found = []
    for row in graph.features:
        has = [name for name, value in zip(FEATURES, row, strict=True) if value]
        found.append(has)

    assert found == [
        ["status 1", "major 30", "dorm 5", "year 2006", "school 70"],
        ["status 2", "second 9", "dorm 5", "year 2006", "school 72"],
        ["status 1", "major 30", "dorm 6", "year 2005", "school 70"],
    ]
