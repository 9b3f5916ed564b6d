"""Hyperparameter cells: one point of a method's grid, and its path in Snakemake's Paramspace form."""

import contextlib
import itertools
import re
from collections.abc import Mapping

from fairgat.errors import ConfigError

DEFAULT = "default"  # the only cell of a method without a grid
PATTERN = r"default|[^/~]+~[^/~]+(?:/[^/~]+~[^/~]+)*"  # what a cell may look like, for wildcard constraints

Value = float | int | bool | str


def expand(grid: Mapping[str, list[Value]]) -> list[dict[str, Value]]:
    """List every combination of the grid's values, in the grid's order; one empty cell for an empty grid."""
    return [
        dict(zip(grid, values, strict=True))
        for values in itertools.product(*grid.values())
    ]


def to_path(cell: Mapping[str, Value]) -> str:
    """Write `{"alpha_chi_max": 0.75, "eta": 1.0}` as `alpha_chi_max~0.75/eta~1.0`; `default` for an empty cell.

    By name: configuration files that are merged in another order give the keys in another order.
    """
    return "/".join(f"{name}~{cell[name]}" for name in sorted(cell)) or DEFAULT


def from_path(path: str) -> dict[str, Value]:
    """Read what `to_path` wrote.

    Raises:
        ConfigError: the text is not a cell.
    """
    if path == DEFAULT:
        return {}
    if not re.fullmatch(PATTERN, path):
        raise ConfigError(
            f"{path!r} is not a cell; one looks like alpha_chi_max~0.75/eta~1.0, or default"
        )
    return {
        name: parse(value)
        for name, value in (part.split("~") for part in path.split("/"))
    }


def parse(text: str) -> Value:
    """Read a value as a path or the command line spells it."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def agrees(cell: Mapping[str, Value], published: Mapping[str, Value]) -> bool:
    """Say whether a cell has the published values of its hyperparameters; others may be published, too."""
    return all(
        name in published and published[name] == value for name, value in cell.items()
    )
