"""Every data set that a configuration ships gives the same arrays, byte for byte.

`frozen.yaml` holds the SHA-256 of each, and of its groups' names. Where one changes, so
do all scores on it, the published ones, too.
"""

import hashlib
import json
from pathlib import Path

import pytest
from obtain import obtain

from fairgat.config import Dataset, read_file, read_yaml
from fairgat.data import datasets

ROOT = Path(__file__).parents[3]
FROZEN = read_yaml(Path(__file__).with_name("frozen.yaml"))


def shipped() -> dict[str, Dataset]:
    """Each declared data set by its name, but those of one's own files.

    An overlay that only changes another one's splits declares none.
    """
    entries: dict[str, Dataset] = {}
    overlays = [*ROOT.glob("configs/*.yaml"), *ROOT.glob("beyond/studies/*.yaml")]
    for path in [ROOT / "config.yaml", *sorted(overlays)]:
        for name, given in (read_file(path).get("datasets") or {}).items():
            if "task" not in given or given.get("source") == "tables":
                continue
            entry = Dataset.model_validate(given)
            first = entries.setdefault(name, entry)
            assert first.options == entry.options, f"{path} has another {name}"
    return entries


def digest(graph) -> str:
    """The SHA-256 of a graph's arrays, their types and shapes, and its groups."""
    result = hashlib.sha256()
    for array in (graph.features, graph.labels, graph.sensitive, graph.edge_index):
        form = str((array.dtype, array.shape))
        result.update(form.encode())
        result.update(array.tobytes())
    groups = json.dumps(graph.groups, ensure_ascii=False)
    result.update(groups.encode())
    return result.hexdigest()


SHIPPED = shipped()


def test_every_shipped_data_set_is_frozen():
    assert set(SHIPPED) <= set(FROZEN)


@pytest.mark.parametrize("name", [name for name in FROZEN if FROZEN[name]])
def test_the_arrays_and_groups_are_those_published(name, request, tmp_path):
    entry = SHIPPED.get(name) or Dataset(task="link_prediction")
    mirror = None
    if datasets.files_of(name, entry):
        mirror = request.getfixturevalue("data_mirror")

    graph = obtain(name, entry, tmp_path / name, mirror)

    assert digest(graph) == FROZEN[name]
