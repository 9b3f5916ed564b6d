"""What each table needs from the configuration, and nothing more: the narrow params of its rule.

Imports nothing heavy, as the workflow calls this while it builds its graph of jobs.
"""

from importlib import resources
from typing import Any

import yaml

from fairgat.config import Config, Task
from fairgat.errors import ConfigError

TASK_OF_TABLE = {
    "comparison": "node_classification",
    "ablation": "node_classification",
    "runtime": "node_classification",
    "link_prediction": "link_prediction",
    "theory": "node_classification",
}
# Figure → its kind (a function of figures.py) and its task; None where it draws both.
FIGURES = {
    "tradeoff_node_classification": ("tradeoff", "node_classification"),
    "tradeoff_link_prediction": ("tradeoff", "link_prediction"),
    "curves_node_classification": ("curves", "node_classification"),
    "curves_link_prediction": ("curves", "link_prediction"),
    "ablation": ("ablation", "node_classification"),
    "link_prediction": ("link_prediction", "link_prediction"),
    "runtime": ("runtime", "node_classification"),
    "published": ("published", None),
}


def table_settings(config: Config, table: str) -> dict[str, Any]:
    """The settings of one table.

    `datasets` are the blocks, in config order, each with `name`, `title`, `task` and `reason` (why it is not run, or
    None); `methods` the rows with `name`, `title` and `reason`. Tables of results also get the selection `rule`, the
    theory's `ddof`, the statistics table the grid of alpha_chi_max, the hyperparameter table each method's `grid` and
    `published` cell per data set.
    """
    task = TASK_OF_TABLE.get(table)
    settings: dict[str, Any] = {"datasets": [_dataset(config, name) for name in _datasets(config, task)]}
    if task:
        settings["methods"] = [_method(config, name, task) for name in config.tables.get(table, [])]
    if table in ("comparison", "ablation", "link_prediction", "theory"):
        settings["rule"] = config.selection.rule
    if table == "theory":
        settings["ddof"] = config.aggregation.ddof
    if table == "dataset_statistics":
        settings["alpha_chi_max"] = alpha_chi_max_grid(config)
    if table == "hyperparameters":
        settings["rule"] = config.selection.rule
        settings["methods"] = [
            _method(config, name, None)
            | {
                "tasks": list(config.methods[name].tasks),
                "grids": {dataset: _grid(config, name, dataset) for dataset in config.datasets},
                "published": config.methods[name].published,
            }
            for name in config.methods
        ]
    return settings


def alpha_chi_max_grid(config: Config) -> list[float]:
    """Every alpha_chi_max that some method searches on some data set: what the statistics are counted for, and what
    their table shows. As floats: one method's 1 is another's 1.0."""
    grids = [_grid(config, method, dataset) for method in config.methods for dataset in config.datasets]
    return sorted({float(value) for grid in grids for value in grid.get("alpha_chi_max", [])})


def audit_settings(config: Config) -> dict[str, Any]:
    """What the audit reads: the rendered selection `rule`, `ddof`, the `datasets` (title and reason) and `methods`
    (title) by name, and the `decisions` with their current values."""
    return {
        "rule": config.selection.rule,
        "ddof": config.aggregation.ddof,
        "datasets": {name: _dataset(config, name) for name in config.datasets},
        "methods": {name: _method(config, name, None) for name in config.methods},
        "decisions": [
            entry | {"value": _lookup(config, entry["setting"])}
            for entry in yaml.safe_load(resources.files(__package__).joinpath("decisions.yaml").read_text("utf-8"))
        ],
    }


def figures(config: Config) -> list[str]:
    """The figures that this run has data for: a data set of the task, and a method of the table with their name."""
    rows = config.tables

    def has_data(kind: str, task: Task) -> bool:
        known = config.methods_of(task)
        return bool(config.datasets_of(task)) and any(method in known for method in rows.get(kind, known))

    return [name for name, (kind, task) in FIGURES.items() if task is None or has_data(kind, task)]


def figure_settings(config: Config, figure: str) -> dict[str, Any]:
    """The settings of one figure: its `kind` and `task`, the `datasets` that are run (panels), the `methods` (colours)
    and the selection `rule`."""
    kind, task = FIGURES[figure]
    methods = config.tables.get(kind, list(config.methods))
    return {
        "kind": kind,
        "task": task,
        "rule": config.selection.rule,
        "datasets": [
            entry for entry in (_dataset(config, name) for name in _datasets(config, task)) if not entry["reason"]
        ],
        "methods": [entry for entry in (_method(config, name, task) for name in methods) if not entry["reason"]],
    }


def sensitivity_settings(config: Config) -> list[dict[str, Any]]:
    """What the sensitivity study compares: one block per data set on which some variant in sensitivity.yaml is run.

    A block has `name`, `title`, `task` and its `rows`: each method as it is, then its variants, which are another
    method or the same one on another form of the data set. A row has the `dataset` and `method` of its runs, `title`,
    `changes` (in words, None for a method as it is) and `of`, the method that it is compared with.

    Raises:
        ConfigError: a row's method has a grid of several cells.
    """
    study = yaml.safe_load(resources.files(__package__).joinpath("sensitivity.yaml").read_text("utf-8"))
    others = {entry["method"] for entry in study["methods"]} | {entry["dataset"] for entry in study["datasets"]}
    run = {name for task in set(TASK_OF_TABLE.values()) for name in config.datasets_of(task)}
    blocks = []
    for dataset in (name for name in config.datasets if name in run - others):
        entry = config.datasets[dataset]
        methods = config.methods_of(entry.task)
        # In the order of only_methods: Snakemake puts an overlay's entries before config.yaml's.
        methods = [name for name in config.only_methods if name in methods] or methods
        rows = []
        for method in (name for name in methods if name not in others):
            variants = [
                _row(dataset, v["method"], method, v)
                for v in study["methods"]
                if v["of"] == method and v["method"] in methods
            ] + [
                _row(v["dataset"], method, method, v)
                for v in study["datasets"]
                if v["of"] == dataset and method in v["methods"] and v["dataset"] in run
            ]
            rows += [_row(dataset, method, method, _method(config, method, entry.task)), *variants]
        if any(row["changes"] for row in rows):
            blocks.append({"name": dataset, "title": entry.title or dataset, "task": entry.task, "rows": rows})
    several = sorted({row["method"] for b in blocks for row in b["rows"] if len(_cells(config, row)) > 1})
    if several:
        raise ConfigError(f"a variant is compared at one cell, but the grid has more for {', '.join(several)}")
    return blocks


def same_splits(config: Config) -> dict[str, str]:
    """Data sets of the sensitivity study that are another form of one, and that one, whose splits they share."""
    study = yaml.safe_load(resources.files(__package__).joinpath("sensitivity.yaml").read_text("utf-8"))
    return {entry["dataset"]: entry["of"] for entry in study["datasets"] if entry["dataset"] in config.datasets}


def _row(dataset: str, method: str, of: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "method": method,
        "of": of,
        "title": entry["title"],
        "changes": entry.get("changes"),
    }


def _cells(config: Config, row: dict[str, Any]) -> list[str]:
    return config.cells(row["method"], row["dataset"])


def _lookup(config: Config, path: str | None) -> str | None:
    """The value of a setting such as `selection.rule`, as text; None where the configuration lacks it."""
    value: Any = config
    for key in path.split(".") if path else [""]:
        value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
    return None if value is None else str(value)


def _datasets(config: Config, task: str | None) -> list[str]:
    return [name for name, entry in config.datasets.items() if task in (None, entry.task)]


def _dataset(config: Config, name: str) -> dict[str, Any]:
    entry = config.datasets[name]
    return {"name": name, "title": entry.title or name, "task": entry.task, "reason": config.not_run(name)}


def _method(config: Config, name: str, task: str | None) -> dict[str, Any]:
    entry = config.methods[name]
    reason = None
    if config.only_methods and name not in config.only_methods:
        reason = "left out with only_methods"
    elif task and task not in entry.tasks:
        reason = f"not a method for {task.replace('_', ' ')}"
    return {"name": name, "title": entry.title or name, "reason": reason}


def _grid(config: Config, method: str, dataset: str) -> dict[str, list]:
    entry = config.methods[method]
    return {name: list(values) for name, values in entry.grids.get(dataset, entry.grid).items()}
