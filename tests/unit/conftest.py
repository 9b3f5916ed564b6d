"""A small finished run, with every kind of file that tables and figures read."""

from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from small_results import LINK, NASTY, NODE, TABLES, TOO_DENSE, finish, metrics, scores

from fairgat import audit, config, frames, measures, paper
from fairgat.config import shown
from fairgat.files import write_json, write_text
from fairgat.plan import Plan

METHODS = {
    "gat": {
        "title": "GAT",
        "tasks": [NODE, LINK],
        "look": {"colour": "#000000", "marker": "s"},
    },
    "edits": {
        "title": "EDITS",
        "tasks": [NODE],
        "look": {"colour": "#009E73", "marker": "D"},
        "grid": {"threshold": [0.1, 0.3, 0.5]},
    },
    "nifty": {
        "title": "NIFTY",
        "tasks": [NODE],
        "look": {"colour": "#D55E00", "marker": "v"},
    },
    "fairgat": {
        "title": "FairGAT",
        "tasks": [NODE, LINK],
        "look": {"colour": "#0072B2", "marker": "o"},
        "grid": {"alpha_chi_max": [0.25, 0.75], "eta": [0.75, 1.0]},
        "published": {"recidivism": {"alpha_chi_max": 0.75, "eta": 1.0}},
    },
    "fairgat-steps-12": {
        "title": "Steps 1&2",
        "tasks": [NODE],
        "look": {"colour": "#6A0DAD", "marker": "<"},
        "module": "fairgat",
    },
}
DATASETS = {
    "pokec-z": {
        "task": NODE,
        "title": "Pokec-z",
        "enabled": False,
        "reason": "its 60 % of files & more aren't here",
    },
    "recidivism": {"task": NODE, "title": "Recidivism"},
    "odd": {"task": NODE, "title": NASTY},
    "cora": {"task": LINK, "title": "Cora"},
}
FIGURES = [
    "differences_node_classification",
    "differences_link_prediction",
    "tradeoff_node_classification",
    "tradeoff_link_prediction",
    "curves_node_classification",
    "curves_link_prediction",
    "ablation",
    "link_prediction",
    "runtime",
    "published",
    "theory",
    "account",
]
COUNTS = {
    "s0": 9317,
    "s1": 9559,
    "inter_edges": 298098,
    "intra_edges": 325642,
    "features": 18,
    "nodes": 2708,
    "groups": 7,
    "train_edges": 7392,
    "r_chi": {"0": 0.9, "1": 0.6},
    "cap": 0.66666,
    "label_homophily": None,
    "group_homophily": 0.5,
    "without_other_group": 0.25,
}
THEORY_TERMS = [
    "delta_in",
    "delta_out",
    "sigma_max",
    "sigma_effective",
    "alpha_chi",
    "alpha_chi_std",
    "tau",
    "delta_c",
    "delta_z",
    "bound",
    "bound_printed",
    "bound_sharp",
    "composed",
    "composed_printed",
    "composed_sharp",
    "statistical_parity",
]
THEORY_LAYERS = ("conv1", "conv2", "logit", "probability")


@pytest.fixture(scope="session")
def plan(tmp_path_factory) -> Plan:
    """The plan of a run that is finished."""
    content = {
        "results_dir": str(tmp_path_factory.mktemp("run") / "results"),
        "datasets": DATASETS,
        "methods": METHODS,
        "splits": {"count": 3},
        "tables": TABLES,
        "figures": FIGURES,
    }
    plan = Plan(config.load(content))

    finish(plan, runs(plan))
    for task in (NODE, LINK):
        write_histories(plan, task)
    for dataset in ("recidivism", "odd", "cora"):
        path = plan.path(f"data/graphs/{dataset}.stats.json")
        write_json(path, statistics_of(dataset))
    for path in plan.files("runtime"):
        write_json(path, runtime(Path(path).stem))
    for path in map(Path, plan.files("theory")):
        frames.write(path, theory(path.parent.name, path.stem))
    for path in map(Path, plan.files("account")):
        dataset, method = path.parent.name, path.stem
        cells = plan.config.cells(method, dataset)
        frames.write(path, account(dataset, method, cells))
    return plan


@pytest.fixture(scope="session")
def audited(plan) -> Plan:
    """The plan of a run that is finished and audited."""
    kinds = ("winners", "runs", "runtime")
    given = {kind: plan.files(kind) for kind in kinds}
    pages = audit.make(shown.audit_settings(plan.config), given)
    for name, text in pages.items():
        write_text(plan.path(f"audit/{name}"), text)
    return plan


def runs(plan: Plan):
    """Judged runs: later cells are less accurate and fairer, and some fail."""
    for run in [*plan.runs(NODE), *plan.runs(LINK)]:
        cells = plan.config.cells(run.method, run.dataset)
        number = cells.index(run.cell)
        accuracy = 0.9563 - 0.01 * number + 0.001 * run.split
        gap = 0.1 - 0.02 * number
        yield metrics(
            run.dataset,
            run.method,
            run.cell,
            run.split,
            scores(run.task, accuracy, gap),
            task=run.task,
            failure=failure(run, number),
        )


def failure(run, cell_number: int) -> str | None:
    """NIFTY fails, and two cells of EDITS, on every split; one of FairGAT on one."""
    if run.method == "nifty":
        return TOO_DENSE
    if run.method == "edits" and cell_number in (0, 1):
        return TOO_DENSE
    if (run.dataset, run.method, run.split) == ("cora", "fairgat", 2):
        return "it diverged" if cell_number == 0 else None
    return None


def write_histories(plan: Plan, task: str) -> None:
    """Four epochs of each run."""
    gap = measures.names(task, "chosen")[0]
    lines = [f"epoch,loss,validation_accuracy,validation_{gap}"]
    for epoch in range(1, 5):
        lines.append(f"{epoch},0.5,{0.1 * epoch},{0.01 * epoch}")
    for path in plan.outputs("history.csv", task):
        write_text(path, "\n".join(lines) + "\n")


def statistics_of(dataset: str) -> dict:
    """The content of .stats.json; the odd data set has three groups and no note."""
    counts, notes = COUNTS, ["F is 18 & not 17."]
    if dataset == "odd":
        counts = COUNTS | {"r_chi": {"0": 0.9, "1": 0.6, "2": 0.3}}
        notes = []
    published = paper.load()["statistics"].get(dataset)
    return {"dataset": dataset, "counts": counts, "paper": published, "notes": notes}


def runtime(dataset: str) -> dict:
    return {
        "dataset": dataset,
        "epoch_seconds": {"gat": [0.1, 0.2, 9.0], "fairgat": [0.3, 0.3, 0.3]},
        "threads": 1,
        "warmup": 3,
        "epochs": 3,
        "machine": {"processor": "AMD_x", "cores": 2, "system": "Linux"},
    }


def theory(dataset: str, method: str) -> pd.DataFrame:
    """Terms that all differ, and a little from split to split."""
    rows = []
    for split, layer in product(range(3), THEORY_LAYERS):
        values = [0.1 * k + 0.01 * split for k in range(len(THEORY_TERMS))]
        rows.append([dataset, method, split, layer, *values])
    columns = ["dataset", "method", "split", "layer", *THEORY_TERMS]
    return pd.DataFrame(rows, columns=columns)


def account(dataset: str, method: str, cells: list[str]) -> pd.DataFrame:
    """Round numbers that move with the cell's number; NIFTY failed, and has no rows."""
    rows = []
    for (number, cell), split in product(enumerate(cells), range(3)):
        for layer in ("conv1", "conv2", "logit"):
            for over in ("all", "label 1", "label 0"):
                row = {
                    "dataset": dataset,
                    "method": method,
                    "cell": cell,
                    "split": split,
                    "layer": layer,
                    "over": over,
                    "group": 1,
                    "gap": -1.0 - number,
                    "mixing": -0.4 - number - 0.01 * split,
                    "label_selection": -0.5,
                    "rest": 0.01 * split,
                    "nonlinearity": -0.1,
                    "factor": 0.5,
                    "between": -0.8,
                    "spread": 2,
                    "reach": 1.9,
                    "decided": -0.1,
                    "base_rates": -0.01,
                    "means": -0.04,
                    "remainder": -0.05,
                }
                rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.iloc[:0] if method == "nifty" else frame
