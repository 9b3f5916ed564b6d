"""Cells and their paths."""

import pytest

from fairgat import cells
from fairgat.errors import ConfigError


@pytest.mark.parametrize(
    ("cell", "path"),
    [
        ({"eta": 1.0, "alpha_chi_max": 0.25}, "alpha_chi_max~0.25/eta~1.0"),
        ({"eta": 1, "center": True}, "center~True/eta~1"),
        ({}, "default"),
    ],
    ids=["sorted", "types", "no grid"],
)
def test_a_cell_is_a_path(cell, path):
    assert cells.to_path(cell) == path
    assert cells.from_path(path) == cell


def test_a_grid_has_every_combination_in_its_order():
    grid = {"a": [0.25, 0.5], "b": [0.75, 1]}

    paths = [cells.to_path(cell) for cell in cells.expand(grid)]

    assert paths == ["a~0.25/b~0.75", "a~0.25/b~1", "a~0.5/b~0.75", "a~0.5/b~1"]


def test_another_text_is_no_cell():
    with pytest.raises(ConfigError, match="not a cell"):
        cells.from_path("eta=1")
