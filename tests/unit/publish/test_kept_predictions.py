"""Published predictions give the published scores, by `load` and `judge`."""

from pathlib import Path

import numpy as np
import pytest

import fairgat
from fairgat.scores import runs

REFERENCE = Path(__file__).parents[3] / "results/reference"
KEPT = [
    file.parent for file in sorted(REFERENCE.glob("runs/**/split-0/predictions.npz"))
]

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not KEPT, reason="results/reference has no predictions"),
]


@pytest.fixture(scope="module")
def load(data_mirror, tmp_path_factory):
    """Load a data set on split 0, each once."""
    loaded = {}
    cache = tmp_path_factory.mktemp("cache")

    def once(name):
        if name not in loaded:
            loaded[name] = fairgat.load(name, mirror=data_mirror, cache=cache)
        return loaded[name]

    return once


@pytest.fixture(scope="module")
def published():
    """Read the scores of each task on split 0."""
    frames = {}
    for file in REFERENCE.glob("summary/*/runs.csv"):
        rows = runs.rows_under(runs.read(file), "validation")
        frames[file.parent.name] = rows[rows["split"] == 0]
    return frames


@pytest.mark.parametrize("run", KEPT, ids=lambda run: "/".join(run.parts[-5:-1]))
def test_they_give_the_published_scores_to_the_last_digit(run, load, published):
    task, dataset, method, *cell, _ = run.relative_to(REFERENCE / "runs").parts
    with np.load(run / "predictions.npz") as kept:
        logits = {name: kept[name][0] for name in kept}
    if task == "node_classification":
        given = logits["logits"]
    else:
        given = {part: logits[f"{part}_logits"] for part in ("validation", "test")}

    judged = fairgat.judge(load(dataset), given, kind="logits")

    rows = published[task]
    of_method = (rows["dataset"] == dataset) & (rows["method"] == method)
    of_cell = of_method & (rows["cell"] == "/".join(cell))
    expected = rows[of_cell].pivot(index="part", columns="metric", values="value")
    for part in ("validation", "test"):
        scores = judged[part]
        np.testing.assert_array_equal([*scores.values()], expected.loc[part, [*scores]])
