"""What the placebos of docs/plans/centring.md share with the true topics, by split.

Needs the runs, not only what is published:
`python -m beyond.analyses.matched_dose RESULTS` writes matched.csv into its
studies/centring/. For step 1 with the true topics, its
matched placebo, and FairGAT's shuffled topics at the share that FairGAT has: the share
of nodes with an inter-edge, and how much step 1 moves attention (`dose`); how often an
edge is of its true kind; and how many nodes no other node's degree equals.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from beyond.methods.matched import alone, dose, kinds
from fairgat import frames, methods
from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.files import recording
from fairgat.methods.base import Method
from fairgat.training import job
from fairgat.training.record import RUN_JSON, Record

METHODS = ("fairgat-steps-1", "step-1-matched", "fairgat", "fairgat-placebo")


def of_run(method: Method) -> dict[str, float]:
    """Measure a method on its training graph."""
    graph = method.csr
    sensitive = method.task.graph.sensitive
    source, target = graph.edge_index.numpy()
    is_edge = source != target  # and no self-loop
    is_inter = sensitive[source] != sensitive[target]
    counts_as_inter = kinds(graph)
    alike = counts_as_inter == is_inter

    alpha_chi = method.model.conv1.alpha_chi
    return {
        **dose(graph, alpha_chi),
        "alpha_chi": alpha_chi,
        "edges_alike": float(np.mean(alike[is_edge])),
        "inter_edges": float(np.mean(is_inter[is_edge])),
        "inter_edges_alike": float(np.mean(alike[is_edge & is_inter])),
        "nodes": graph.num_nodes,
        "nodes_alone": alone(graph),
    }


def untrained(results: Path, run: Record) -> Method:
    """Make a run's method, as it was before its training."""
    graph = Graph.load(results / f"data/graphs/{run.dataset}.npz")
    name = f"{run.task}/{run.dataset}/split-{run.split}.npz"
    split = splits.load(results / "data/splits" / name)
    module = common.module_of(run)
    settings = methods.settings(module, run.settings)
    return job.build(module, settings, graph, split, run.trained_by, run.seed)


def main(results: Path) -> Path:
    """Measure every run of METHODS in a results folder; give the path written."""
    rows = []
    for method in METHODS:
        pattern = f"runs/link_prediction/*/{method}/**/{RUN_JSON}"
        for record in sorted(results.glob(pattern)):
            run = Record.read(record)
            named = {"dataset": run.dataset, "method": method, "split": run.split}
            rows.append(named | of_run(untrained(results, run)))
    path = results / "studies/centring/matched.csv"
    with recording([path]):
        frames.write(path, pd.DataFrame(rows))
    return path


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
