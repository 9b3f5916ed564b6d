"""Write the cells of stage 2 of docs/plans/centring.md, which stage 1 has chosen.

`python -m beyond.analyses.centring_cells RESULTS` reads the selection.json of each
method and writes cells.yaml into RESULTS, an overlay for centring.yaml.
"""

import sys
from collections import defaultdict
from pathlib import Path

import yaml

from beyond.analyses.centring import GRAPHS
from fairgat import cells
from fairgat.errors import DataError
from fairgat.files import read_json, write_text

SPLITS = 10
TAKERS_OF_CELL = {
    "fairgat": ("fairgat", "fairgat-placebo", "fairgat-matched"),
    "fairgat-centred": (
        "fairgat-centred",
        "fairgat-centred-placebo",
        "fairgat-centred-matched",
    ),
    "fairgat-steps-1": ("fairgat-steps-1", "step-1-matched"),
    "fairdrop": ("fairdrop",),
}
"""The rows of stage 2 that take the cell of a method of stage 1."""
TAKER_OF_ETA = {"fairgat": "fairgat-steps-23", "fairgat-centred": "step-3-centred"}
"""The row that takes only the eta of a method's cell."""


def chosen(results: Path, method: str, graph: str) -> dict[str, cells.Value]:
    """Read the cell that the rule `fair` chose on splits 0 to 9.

    Raises:
        DataError: none was chosen, or over another number of splits.
    """
    folder = results / "runs/link_prediction" / graph / method
    selection = read_json(folder / "selection.json")
    counts = {entry["n_splits"] for entry in selection["cells"]}
    cell = selection["winners"]["fair"]["cell"]
    if counts != {SPLITS}:
        raise DataError(f"{folder}: cells are chosen over {SPLITS} splits")
    if cell is None:
        raise DataError(f"{folder}: no cell finished on every split")
    return cells.from_path(cell)


def overlay(results: Path) -> dict:
    """Make the grids of stage 2: one cell for each method and graph."""
    grids: dict[str, dict] = defaultdict(dict)
    for graph in GRAPHS:
        for method, takers in TAKERS_OF_CELL.items():
            cell = chosen(results, method, graph)
            grid = {key: [value] for key, value in cell.items()}
            for name in takers:
                grids[name][graph] = grid
            if method in TAKER_OF_ETA:
                grids[TAKER_OF_ETA[method]][graph] = {"eta": grid["eta"]}
    return {"methods": {name: {"grids": each} for name, each in grids.items()}}


def main(results: Path) -> Path:
    """Write cells.yaml; give its path."""
    heading = "# The cells that stage 1 of docs/plans/centring.md chose.\n"
    content = yaml.dump(overlay(results), sort_keys=False, Dumper=_Plain)
    path = results / "cells.yaml"
    write_text(path, heading + content)
    return path


class _Plain(yaml.SafeDumper):
    """Writes what is there twice in full."""

    def ignore_aliases(self, data) -> bool:
        return True


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
