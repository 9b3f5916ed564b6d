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
from fairgat.methods.base import Method
from fairgat.training import job
from fairgat.training.record import RUN_JSON, Record

METHODS = ("fairgat-steps-1", "step-1-matched", "fairgat", "fairgat-placebo")


def of_run(method: Method) -> dict[str, float]:
    """Measure a method on its training graph."""
    graph, task = method.csr, method.task
    source, target = graph.edge_index.numpy()
    true = task.graph.sensitive[source] != task.graph.sensitive[target]
    drawn, edge = kinds(graph), source != target
    share = method.model.conv1.alpha_chi
    return {
        **dose(graph, share),
        "alpha_chi": share,
        "edges_alike": float(np.mean(drawn[edge] == true[edge])),
        "inter_edges": float(np.mean(true[edge])),
        "inter_edges_alike": float(np.mean(drawn[edge & true])),
        "nodes": graph.num_nodes,
        "nodes_alone": alone(graph),
    }


def made(results: Path, run: Record) -> Method:
    """Make a run's method, as it was before its training."""
    graph = Graph.load(results / f"data/graphs/{run.dataset}.npz")
    name = f"{run.task}/{run.dataset}/split-{run.split}.npz"
    split = splits.load(results / "data/splits" / name)
    module = common.module_of(run)
    settings = methods.settings(module, run.settings)
    return job.build(module, settings, graph, split, run.trained_by, run.seed)


def main(results: Path) -> Path:
    """Measure every run of these methods in a results folder."""
    rows = []
    for method in METHODS:
        pattern = f"runs/link_prediction/*/{method}/**/{RUN_JSON}"
        for path in sorted(results.glob(pattern)):
            run = Record.read(path)
            about = {"dataset": run.dataset, "method": method, "split": run.split}
            rows.append(about | of_run(made(results, run)))
    frames.write(to := results / "studies/centring/matched.csv", pd.DataFrame(rows))
    return to


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
