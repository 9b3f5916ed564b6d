"""Cells, the points of a method's grid, and their paths as Snakemake's Paramspace."""

import contextlib
import itertools
import re
from collections.abc import Mapping

from fairgat.errors import ConfigError

DEFAULT = "default"  # the only cell of a method without a grid
# What a cell may look like, for wildcard constraints.
PATTERN = r"default|[^/~]+~[^/~]+(?:/[^/~]+~[^/~]+)*"

Value = float | int | bool | str


def expand(grid: Mapping[str, list[Value]]) -> list[dict[str, Value]]:
    """List every combination of the grid's values, in the grid's order.

    An empty grid has one cell, which is empty.
    """
    combinations = itertools.product(*grid.values())
    return [dict(zip(grid, values, strict=True)) for values in combinations]


def to_path(cell: Mapping[str, Value]) -> str:
    """Write `{"alpha_chi_max": 0.75, "eta": 1.0}` as `alpha_chi_max~0.75/eta~1.0`.

    An empty cell is `default`. Keys are sorted, as configuration files that are merged
    in another order give them in another order.
    """
    parts = [f"{name}~{cell[name]}" for name in sorted(cell)]
    return "/".join(parts) or DEFAULT


def from_path(path: str) -> dict[str, Value]:
    """Read what `to_path` wrote.

    Raises:
        ConfigError: the text is not a cell.
    """
    if path == DEFAULT:
        return {}
    if not re.fullmatch(PATTERN, path):
        raise ConfigError(
            f"{path!r} is not a cell; one looks like alpha_chi_max~0.75/eta~1.0, or "
            "default"
        )
    cell = {}
    for part in path.split("/"):
        name, value = part.split("~")
        cell[name] = parse(value)
    return cell


def parse(text: str) -> Value:
    """Read a value as a path or the command line spells it."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def agrees(cell: Mapping[str, Value], published: Mapping[str, Value]) -> bool:
    """Say whether a cell has the published values of its hyperparameters.

    More hyperparameters may be published than the cell has.
    """
    return cell.items() <= published.items()
