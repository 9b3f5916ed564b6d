"""`links-control`: which articles carry the length of the embeddings.

Step 3 scales them by their deviation. Needs the run's models, not only what is published:
`python -m beyond.analyses.lengths RESULTS` writes lengths.csv into its
studies/links-control/: for each run the share of all squared length that the longest
hundredth of the nodes has.
"""

import sys
from pathlib import Path

import pandas as pd
import torch

from beyond.analyses import common
from fairgat import frames, methods
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.files import recording
from fairgat.theory.runs import rebuild
from fairgat.training.record import RUN_JSON, Record

LONGEST = 0.01  # of the nodes


def share_of_longest(embeddings: torch.Tensor) -> float:
    """The share of the squared length of embeddings (N, hidden) that its longest rows have."""
    squared = embeddings.double().square().sum(1).sort(descending=True).values
    return float(squared[: max(1, round(LONGEST * len(squared)))].sum() / squared.sum())


def measured(results: Path, run: Record, folder: Path) -> float:
    """`share_of_longest` of a run's embeddings, from its model.npz."""
    graph = Graph.load(results / f"data/graphs/{run.dataset}.npz")
    split = splits.load(
        results / f"data/splits/{run.task}/{run.dataset}/split-{run.split}.npz"
    )
    module = common.module_of(run)
    settings = methods.settings(module, run.settings)
    model = folder / "model.npz"
    method = rebuild(
        module,
        settings,
        graph,
        split,
        run.trained_by,
        run.seed,
        model,
        load_npz(model),
    )
    with torch.no_grad():
        return share_of_longest(method.postprocess(method.embed()))


def main(results: Path) -> Path:
    """Measure every run of link prediction in a results folder."""
    torch.set_num_threads(1)
    rows = []
    for path in sorted(results.glob(f"runs/link_prediction/**/{RUN_JSON}")):
        run = Record.read(path)
        if run.failure is None:
            rows.append(
                (
                    run.dataset,
                    run.method,
                    run.cell,
                    run.split,
                    measured(results, run, path.parent),
                )
            )
    table = pd.DataFrame(
        rows, columns=["dataset", "method", "cell", "split", "share_of_longest"]
    )
    to = results / "studies/links-control/lengths.csv"
    with recording([to]):
        frames.write(to, table)
    return to


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
