"""Every data set that a configuration ships gives the same arrays and group names, byte for byte.

`frozen.yaml` holds the SHA-256 of each. Where one changes, so do all scores on it, the published ones, too.
"""

import hashlib
import json
from pathlib import Path

import pytest
import yaml
from obtain import obtain

from fairgat.config import Dataset, read_file
from fairgat.data import datasets

ROOT = Path(__file__).parents[3]
FROZEN = yaml.safe_load(Path(__file__).with_name("frozen.yaml").read_text())


def shipped() -> dict[str, Dataset]:
    """Each declared data set by its name; an overlay that only changes another one's splits declares none."""
    entries: dict[str, Dataset] = {}
    overlays = [*ROOT.glob("configs/*.yaml"), *ROOT.glob("beyond/studies/*.yaml")]
    for path in [ROOT / "config.yaml", *sorted(overlays)]:
        for name, given in (read_file(path).get("datasets") or {}).items():
            if (
                "task" in given and given.get("source") != "tables"
            ):  # of one's own files
                entry = Dataset.model_validate(given)
                assert entries.setdefault(name, entry).options == entry.options, (
                    f"{path} has another {name}"
                )
    return entries


def digest(graph) -> str:
    """The SHA-256 of a graph's arrays, with their types and shapes, and of its groups' names."""
    result = hashlib.sha256()
    for array in (graph.features, graph.labels, graph.sensitive, graph.edge_index):
        result.update(str((array.dtype, array.shape)).encode() + array.tobytes())
    result.update(json.dumps(graph.groups, ensure_ascii=False).encode())
    return result.hexdigest()


SHIPPED = shipped()


def test_every_shipped_data_set_is_frozen():
    assert set(SHIPPED) <= set(FROZEN)


@pytest.mark.parametrize("name", [name for name in FROZEN if FROZEN[name]])
def test_the_arrays_and_groups_are_those_published(name, request, tmp_path):
    entry = SHIPPED.get(name) or Dataset(task="link_prediction")
    mirror = (
        request.getfixturevalue("data_mirror")
        if datasets.files_of(name, entry)
        else None
    )
    assert digest(obtain(name, entry, tmp_path / name, mirror)) == FROZEN[name]
