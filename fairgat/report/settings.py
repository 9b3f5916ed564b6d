"""Take from the configuration what tables, figures, the audit and studies read: the narrow params of their rules.

Imports nothing heavy, because the rules call it while Snakemake reads them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from fairgat.config import TASKS, Config, Task
from fairgat.errors import ConfigError, nearest
from fairgat.plan import declared
from fairgat.tasks import measures


def table_settings(config: Config, name: str) -> dict[str, Any]:
    """The settings of a table.

    `task` is the table's own; `datasets` are the blocks, in config order, each with `name`, `title`, `task` and
    `reason` (why it is not run, or None); `methods` the rows with `name`, `title` and `reason`; `searched` are all
    methods, with their `tasks`, the `grids` of every data set and the `published` cells. `rule` and `protocols` say
    which of the winners are shown, `ddof` how deviations are computed.
    """
    task = declared("tables", name).task
    searched = [
        _method(config, method, None)
        | {
            "tasks": list(config.methods[method].tasks),
            "grids": {dataset: config.grid(method, dataset) for dataset in config.datasets},
            "published": config.methods[method].published,
        }
        for method in config.methods
    ]
    return _shown(config, task, config.tables.get(name, [])) | {"searched": searched}


def figure_settings(config: Config, name: str) -> dict[str, Any]:
    """The settings of a figure: as a table's, with only those data sets (panels) and methods (colours) that are run.

    A figure that is named after a table has that table's methods, another one has all.
    """
    task = declared("figures", name).task
    settings = _shown(config, task, config.tables.get(name, config.methods))
    return settings | {key: [e for e in settings[key] if not e["reason"]] for key in ("datasets", "methods")}


def audit_settings(config: Config) -> dict[str, Any]:
    """The settings of the audit: `rule`, `protocols`, `ddof`, `margins` (fractions), `datasets` (title, reason) and
    `methods` (title) by name, and the `decisions` with their current values."""
    settings = _shown(config, None, config.methods)
    decisions = (Path(__file__).parents[1] / "audit/decisions.yaml").read_text(encoding="utf-8")
    return settings | {
        "margins": config.audit.margins.model_dump(),
        "datasets": {entry["name"]: entry for entry in settings["datasets"]},
        "methods": {entry["name"]: entry for entry in settings["methods"]},
        "decisions": [entry | {"value": _lookup(config, entry["setting"])} for entry in yaml.safe_load(decisions)],
    }


def study_settings(config: Config) -> dict[str, Any]:
    """The settings of the study: `name`, `title`, `part`, `metrics`, `figure_metrics`, `protocols`, `ddof`, `blocks`,
    one for each data set on which some variant is run, `along`, the data sets among them by the quantity that they
    differ in, `dose`, a hyperparameter to draw cells against, and `attributes`, whether their gaps are shown.

    A block has `name`, `title`, `task` and its `rows`: each method as it is, then its variants, which are another
    method or the same one on another form of the data set. A row has the `dataset` and `method` of its runs, `title`,
    `changes` (in words, None for a method as it is), `of`, the method that it is compared with, and the rules that
    choose `epochs`, its own, and `of_epochs`, those of the method that it is compared with; where there are several,
    `rules` says them in words.

    Raises:
        ConfigError: there is no study, or no variant of it is run.
    """
    study = config.study
    if study is None:
        raise ConfigError("there is no study to make: give one with --configfile configs/sensitivity.yaml")
    for name in study.metrics or ():
        if not measures.is_declared(name):
            known = [measure.name for each in TASKS for measure in measures.of_task(each) if not measure.by]
            raise ConfigError(f"study.metrics: {name!r} is not a measure; {nearest(name, known)}")
    others = {row.method or row.dataset for row in study.rows}
    blocks = []
    for dataset in (name for name in config.datasets if name not in others and not config.not_run(name)):
        entry = config.datasets[dataset]
        methods = config.methods_on(dataset)
        # In the order of only_methods: Snakemake puts an overlay's entries before config.yaml's.
        methods = [name for name in config.only_methods if name in methods] or methods
        pairs = study.epochs if TASKS[entry.task].epoch_rules else [("accuracy", "accuracy")]
        rows = []
        for method in (name for name in methods if name not in others):
            base = {"dataset": dataset, "method": method, "of": method}
            title = config.methods[method].title or method
            for rule in dict.fromkeys(rule for _, rule in pairs):
                rows.append(base | {"title": title, "changes": None, "epochs": rule, "of_epochs": rule})
            for row in study.rows:
                found = None
                if row.method in methods and row.of == method:
                    found = base | {"method": row.method, "title": row.title, "changes": row.changes}
                if row.dataset and row.of == dataset and method in row.methods and not config.not_run(row.dataset):
                    found = base | {"dataset": row.dataset, "title": row.title, "changes": row.changes}
                if found:
                    rows += [found | {"epochs": mine, "of_epochs": its} for mine, its in pairs]
        for row in rows:
            rules = " / ".join(dict.fromkeys([row["epochs"], row["of_epochs"]])).replace("_", " ")
            row["rules"] = f" ({rules})" if len(pairs) > 1 else ""
        if any(row["changes"] for row in rows):
            blocks.append({"name": dataset, "title": entry.title or dataset, "task": entry.task, "rows": rows})
    if not blocks:
        raise ConfigError(f"nothing of the study {study.name} is run: see only_datasets, only_methods and skip")
    computed = {"protocols": config.training.protocols, "ddof": config.aggregation.ddof, "ratios": _ratios(config)}
    drawn = {block["name"] for block in blocks}
    kept = {key: [name for name in names if name in drawn] for key, names in study.along.items()}
    computed["along"] = {key: names for key, names in kept.items() if names}
    asked = study.model_dump(include={"name", "title", "part", "metrics", "figure_metrics", "dose", "attributes"})
    return asked | {"blocks": blocks} | computed


def explorer_settings(config: Config) -> dict[str, Any]:
    """The settings of explore.html: titles of the `datasets` of each task and of the `methods` that are run, and the
    `rule` and `protocols` that the tables show."""
    named = titles(config)
    methods = config.only_methods or config.methods
    return {
        "datasets": {task: {name: named[name] for name in config.datasets_of(task)} for task in TASKS},
        "methods": {name: named[name] for name in methods},
        "rule": config.selection.rule,
        "protocols": config.training.protocols,
    }


def titles(config: Config) -> dict[str, str]:
    """The title of each data set and method, by name."""
    return {name: entry.title or name for part in (config.datasets, config.methods) for name, entry in part.items()}


def _shown(config: Config, task: Task | None, methods: Iterable[str]) -> dict[str, Any]:
    return {
        "task": task,
        "datasets": [_dataset(config, n) for n, entry in config.datasets.items() if task in (None, entry.task)],
        "methods": [_method(config, name, task) for name in methods],
        "rule": config.selection.rule,
        "protocols": config.training.protocols,
        "ddof": config.aggregation.ddof,
        "ratios": _ratios(config),
    }


def _ratios(config: Config) -> dict[str, float]:
    """Test examples for each one that is trained on, by task."""
    return {name: config.splits.test_ratio(training.divides) for name, training in TASKS.items()}


def _dataset(config: Config, name: str) -> dict[str, Any]:
    entry = config.datasets[name]
    return {"name": name, "title": entry.title or name, "task": entry.task, "reason": config.not_run(name)}


def _method(config: Config, name: str, task: str | None) -> dict[str, Any]:
    entry = config.methods[name]
    reason = None
    if config.only_methods and name not in config.only_methods:
        reason = "left out with only_methods"
    elif task and task not in entry.tasks:
        reason = f"not a method for {TASKS[task].title.lower()}"
    return {"name": name, "title": entry.title or name, "reason": reason}


def _lookup(config: Config, path: str | None) -> str | None:
    """The value of a setting such as `selection.rule`, as text; None where the configuration lacks it."""
    value: Any = config
    for key in path.split(".") if path else [""]:
        value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
    return None if value is None else str(value)
