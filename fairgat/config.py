"""The models of config.yaml: the one place where its settings, their defaults and their documentation live.

`load` turns a mapping into a `Config`, or raises a `ConfigError` that names each wrong key by its path, says what was
expected there and which valid name is nearest. What a method or a data source understands under `settings`, `grid`
and `options` is declared beside that method or source (adding one is one file) and checked by
`fairgat.methods.check` and `fairgat.data.datasets.check`.
"""

import math
import os
import re
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from fairgat import cells
from fairgat.errors import ConfigError, nearest

Task = Literal["node_classification", "link_prediction"]


def _value(value: Any) -> Any:
    """Text is read as a number where it is one: `--config "methods={...}"` gives nothing but text."""
    value = cells.parse(value) if isinstance(value, str) else value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value}")
    return value


Value = Annotated[float | int | bool | str, BeforeValidator(_value)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
Name = Annotated[str, Field(pattern=NAME)]
# A list, or the comma-separated form that `--config skip=pokec-z,pokec-n` gives.
Names = Annotated[
    list[Name],
    BeforeValidator(lambda v: [part.strip() for part in v.split(",") if part.strip()] if isinstance(v, str) else v),
]


def _normal(path: Any) -> Any:
    """Without a slash at the end, and the like, which Snakemake would not match with the paths of its files."""
    return os.path.normpath(path) if isinstance(path, str) and path else path


class Model(BaseModel):
    """Unknown keys are errors, so are numbers that are not finite, and values are never changed after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)


class Dataset(Model):
    """One data set."""

    task: Task
    """What is learned on it."""
    title: str | None = None
    """Its name in tables and figures; the key itself where absent."""
    source: str | None = None
    """The module in fairgat/datasets that reads it; found by the data set's own name where absent."""
    options: dict[str, Any] = {}
    """What that source needs to know, such as the files of a data set of your own."""
    enabled: bool = True
    """Whether it is run."""
    reason: str | None = None
    """Why it is not run; shown in every table."""

    @model_validator(mode="after")
    def _reason(self) -> "Dataset":
        if not self.enabled and not self.reason:
            raise ValueError("a data set with enabled: false needs a reason, which every table will show")
        return self


class Method(Model):
    """One row of the tables: a method's module, its fixed settings and the grid searched over."""

    title: str | None = None
    """Its name in tables and figures; the key itself where absent."""
    module: str | None = None
    """The module in fairgat/methods that implements it; the key itself where absent."""
    tasks: list[Task]
    """The tasks it takes part in."""
    settings: dict[str, Any] = {}
    """Settings that are the same in every cell."""
    grid: dict[str, Annotated[list[Value], Field(min_length=1)]] = {}
    """Hyperparameters that are searched: every combination is a cell."""
    grids: dict[str, dict[str, Annotated[list[Value], Field(min_length=1)]]] = {}
    """Grids of single data sets, in place of `grid`."""
    published: dict[str, dict[str, Value]] = {}
    """The cell that the paper reports for a data set (`selection.rule: paper`)."""

    @model_validator(mode="after")
    def _distinct_cells(self) -> "Method":
        for grid in (self.grid, *self.grids.values()):
            for name, values in grid.items():
                if len(set(values)) < len(values):  # 1 and 1.0 are the same
                    raise ValueError(f"the values of {name} repeat themselves: {values}")
                if any(isinstance(value, str) and set(value) & set("/~") for value in values):
                    raise ValueError(f"the values of {name} become paths and must not hold / or ~: {values}")
        return self


class Splits(Model):
    """How nodes and edges are divided, the same for all methods."""

    count: Count = 5
    """Random splits per data set."""
    train: Fraction = 0.4
    """Share of the nodes trained on."""
    validation: Fraction = 0.3
    """Share of the nodes that select epochs and cells; the rest is the test set."""
    edge_validation: Fraction = 0.1
    """Share of the undirected edges held out for validation in link prediction."""
    edge_test: Fraction = 0.2
    """Share of the undirected edges held out for testing in link prediction."""

    @model_validator(mode="after")
    def _something_left(self) -> "Splits":
        if self.train + self.validation >= 1:
            raise ValueError("train + validation must leave a share of the nodes for testing")
        if self.edge_validation + self.edge_test >= 1:
            raise ValueError("edge_validation + edge_test must leave edges to train on")
        return self


class Training(Model):
    """What both tasks share."""

    epochs: Count
    """Passes over the whole graph."""
    learning_rate: Annotated[float, Field(gt=0)] = 0.005
    """Of Adam."""
    weight_decay: Annotated[float, Field(ge=0)]
    """L2 factor of Adam."""
    hidden: Count = 128
    """Width of both attention layers."""
    heads: Count = 1
    """Attention heads per layer; `hidden` is divided among them."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout on the attention coefficients. The paper uses none."""

    @model_validator(mode="after")
    def _divisible(self) -> "Training":
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return self


class NodeTraining(Training):
    """Node classification: two attention layers and a linear layer (paper, appendix Hyperparameters)."""

    epochs: Count = 500
    weight_decay: Annotated[float, Field(ge=0)] = 0.0005


class LinkTraining(Training):
    """Link prediction: two attention layers and a dot product (FairDrop's notebook)."""

    epochs: Count = 100
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    negatives: Annotated[float, Field(gt=0)] = 0.5
    """Sampled non-edges per directed training edge and epoch."""
    cutoffs: Annotated[list[Fraction], Field(min_length=1)] = [0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75]
    """Candidates for the cut-off on the link probability."""
    protocol: Literal["validation", "fairdrop"] = "validation"
    """`validation`: epoch by validation AUC, cut-off by validation accuracy.
    `fairdrop`: the last epoch, cut-off by accuracy on the test set, as FairDrop's notebook does it."""


class Tasks(Model):
    """The protocol of each task."""

    threads: Count = 1
    """CPU threads of one training job. Fixed here, so that results don't depend on `--cores`."""
    theory_every: Annotated[int, Field(ge=0)] = 0
    """Epochs between two measurements of Theorem 1's terms in history.csv of node classification; 0 for none."""
    node_classification: NodeTraining = NodeTraining()
    """Of node classification."""
    link_prediction: LinkTraining = LinkTraining()
    """Of link prediction."""


class Selection(Model):
    """Which cell stands for a method, by its mean over the splits; only validation scores are looked at."""

    rule: Literal["fair", "accuracy", "paper"] = "fair"
    """`fair`: among cells within `tolerance` of the method's best validation accuracy, the fairest.
    `accuracy`: the most accurate. `paper`: the published hyperparameters. All are computed; this one is rendered."""
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """Accuracy that `fair` may give up, as a fraction."""


class Aggregation(Model):
    """How the splits become mean ± standard deviation."""

    ddof: Literal[0, 1] = 1
    """1: the sample standard deviation (divides by n - 1), 0: the population one."""


class Runtime(Model):
    """How the runtime table is measured."""

    warmup: Annotated[int, Field(ge=0)] = 3
    """Epochs before the clock starts."""
    epochs: Count = 60
    """Timed epochs; the median counts."""
    threads: Count = 1
    """CPU threads of the timed process."""


class Tables(Model):
    """Which methods are rows of which table, in this order."""

    comparison: Names = []
    """Node classification against the baselines."""
    ablation: Names = []
    """FairGAT without one of its steps."""
    runtime: Names = []
    """Seconds per epoch."""
    link_prediction: Names = []
    """Link prediction."""
    theory: Names = []
    """Methods whose trained models the theory is measured on: node classification."""


class Config(Model):
    """The whole experiment."""

    results_dir: Annotated[str, Field(min_length=1), BeforeValidator(_normal)] = "results"
    """Where everything is written."""
    data_mirror: str | None = None
    """A folder with the original data files, tried before any download; laid out as docs/data.md says."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Every random number follows from it."""
    only_datasets: Names = []
    """Run these data sets alone."""
    only_methods: Names = []
    """Run these methods alone."""
    skip: Names = []
    """Leave these data sets out; the tables show them as not run."""
    datasets: dict[Name, Dataset]
    """The data sets."""
    splits: Splits = Splits()
    """The splits."""
    training: Tasks = Tasks()
    """The protocol."""
    methods: dict[Name, Method]
    """The methods."""
    selection: Selection = Selection()
    """Choice of cells."""
    aggregation: Aggregation = Aggregation()
    """Mean and deviation."""
    runtime: Runtime = Runtime()
    """Timing."""
    tables: Tables = Tables()
    """Rows of the tables."""

    @model_validator(mode="after")
    def _names_exist(self) -> "Config":
        problems = []
        for path, names, known in [
            ("only_datasets", self.only_datasets, self.datasets),
            ("skip", self.skip, self.datasets),
            ("only_methods", self.only_methods, self.methods),
            *((f"tables.{table}", names, self.methods) for table, names in self.tables),
            *((f"methods.{name}.grids", method.grids, self.datasets) for name, method in self.methods.items()),
            *((f"methods.{name}.published", method.published, self.datasets) for name, method in self.methods.items()),
        ]:
            kind = "data set" if known is self.datasets else "method"
            problems += [
                f"{path}: {name!r} is not a {kind}; {nearest(name, known)}" for name in names if name not in known
            ]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def module(self, method: str) -> str:
        """The module in fairgat/methods that implements `method`."""
        return self.methods[method].module or method

    def cells(self, method: str, dataset: str) -> list[str]:
        """Every cell of `method` on `dataset`, as paths."""
        entry = self.methods[method]
        return [cells.to_path(cell) for cell in cells.expand(entry.grids.get(dataset, entry.grid))]

    def training_settings(self, method: str, dataset: str) -> dict[str, Any]:
        """The settings of `method` on `dataset`: of `debias: epochs_of:` that one's alone, so that it is no other's."""
        settings = dict(self.methods[method].settings)
        if isinstance(debias := settings.get("debias"), Mapping) and "epochs_of" in debias:
            own = {"epochs": debias["epochs_of"][dataset]} if dataset in debias["epochs_of"] else {}
            settings["debias"] = {key: value for key, value in debias.items() if key != "epochs_of"} | own
        return settings

    def cells_to_time(self, method: str, dataset: str, all_cells: bool) -> dict[str, Any]:
        """Module of a timed method, and its cells (path to settings) in the order to try: the published one first.

        Args:
            all_cells: give the others as well, for a method whose first ones may not train on this data set.
        """
        entry, settings = self.methods[method], self.training_settings(method, dataset)
        grid = cells.expand(entry.grids.get(dataset, entry.grid))
        published = entry.published.get(dataset)
        grid.sort(key=lambda cell: published is None or not cells.agrees(cell, published))
        chosen = grid if all_cells else grid[:1]
        return {"module": self.module(method), "cells": {cells.to_path(cell): settings | cell for cell in chosen}}

    def not_run(self, dataset: str) -> str | None:
        """Why `dataset` is left out of this run; None when it runs."""
        entry = self.datasets[dataset]
        if not entry.enabled:
            return entry.reason
        if dataset in self.skip:
            return "left out with skip"
        if self.only_datasets and dataset not in self.only_datasets:
            return "left out with only_datasets"
        return None

    def datasets_of(self, task: Task) -> list[str]:
        """The data sets of `task` that are run, in config order."""
        return [name for name, entry in self.datasets.items() if entry.task == task and not self.not_run(name)]

    def methods_of(self, task: Task) -> list[str]:
        """The methods of `task` that are run, in config order."""
        return [
            name
            for name, entry in self.methods.items()
            if task in entry.tasks and (not self.only_methods or name in self.only_methods)
        ]


def load(mapping: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """Validate a mapping read from config.yaml.

    Raises:
        ConfigError: naming every wrong key by its path, what was expected and the nearest valid name.
    """
    try:
        return Config.model_validate(mapping)
    except ValidationError as error:
        lines = [_explain(item) for item in error.errors()]
        raise ConfigError(f"{origin} is not valid:\n" + "\n".join(f"  {line}" for line in lines)) from None


def explain(error: ValidationError, prefix: str, model: type[BaseModel]) -> list[str]:
    """One line per problem that pydantic found in `model`, each with the key's path under `prefix`."""
    return [_explain(item, model, prefix) for item in error.errors()]


def load_files(*paths: str | Path) -> Config:
    """Read config files, later ones over earlier ones (key by key, as Snakemake's --configfile), and validate.

    Raises:
        ConfigError: a file is missing, cannot be read, is not YAML, or the whole is not valid.
    """
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ConfigError(f"{path} does not exist") from None
        except OSError as error:  # a folder, no permission
            raise ConfigError(f"{path} cannot be read: {error.strerror}; give a file like config.yaml") from None
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from None
        except (yaml.YAMLError, ValueError) as error:  # the latter for the 30th of February
            raise ConfigError(f"{path} is not YAML: {error}") from None
        if not isinstance(content, dict):
            raise ConfigError(f"{path} must hold keys and values, as config.yaml does")
        _merge(merged, content)
    return load(merged, " + ".join(str(path) for path in paths))


def _merge(into: dict, new: Mapping) -> None:
    for key, value in new.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _explain(item: Mapping[str, Any], model: type[BaseModel] = Config, prefix: str = "") -> str:
    location = [part for part in item["loc"] if part != "[key]"]
    path = ".".join([prefix] * bool(prefix) + [str(part) for part in location]) or "(top level)"
    if item["type"] == "extra_forbidden":
        return f"{path}: unknown key; {nearest(str(location[-1]), _fields(model, location[:-1]))}"
    if item["type"] == "missing":
        return f"{path}: this key is missing"
    if item["type"] == "value_error":
        text = str(item["ctx"]["error"])
        return text.replace("\n", "\n  ") if not location else f"{path}: {text}"
    message = re.sub(r"^\w+ should (be|have) ", "", item["msg"])
    text = f"{path}: expected {message}, got {item['input']!r}"
    if item["type"] == "literal_error":
        known = [part.strip().strip("'") for part in item["ctx"]["expected"].replace(" or ", ", ").split(",")]
        text += f"; {nearest(str(item['input']), known)}"
    return text


def _fields(model: type[BaseModel], location: list) -> list[str]:
    """The names that the model at `location` knows."""
    kind: Any = model
    for part in location:
        kind = kind.model_fields[part].annotation if _is_model(kind) else typing.get_args(kind)[-1]
        while typing.get_origin(kind) in (Annotated, typing.Union, types.UnionType):
            kind = typing.get_args(kind)[0]
    return list(kind.model_fields) if _is_model(kind) else []


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
