"""The protocol's settings, and the types that all settings share.

These are splits, training, selection, means and timing.
"""

import math
import os
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)

from fairgat import cells
from fairgat.files import irregular

Task = Literal["node_classification", "link_prediction"]
Divides = Literal["nodes", "edges"]
Device = Literal["cpu", "cuda", "auto"]
# How the epoch of a node classification run is chosen: ours, and released code's
# (fairgat/tasks/epochs.py).
EpochRuleName = Literal["accuracy", "least_loss", "accuracy_less_gaps", "qian", "last"]


def _value(value: Any) -> Any:
    """Read text as a number where it is one.

    `--config "methods={...}"` gives nothing but text.
    """
    if isinstance(value, str):
        value = cells.parse(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value}")
    return value


Value = Annotated[float | int | bool | str, BeforeValidator(_value)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
Name = Annotated[str, Field(pattern=NAME)]


def _listed(value: Any) -> Any:
    """Read a list in the comma-separated form of `--config skip=pokec-z,pokec-n`."""
    if not isinstance(value, str):
        return value
    parts = [part.strip() for part in value.split(",")]
    return [part for part in parts if part]


Names = Annotated[list[Name], BeforeValidator(_listed)]


def normal_path(path: Any) -> Any:
    """Write a path as Snakemake spells it.

    That is with `~` and `$NAME` expanded, and no slash at the end.

    Raises:
        ValueError: YAML has read it as a number or a date, or its characters mean
            something else to Snakemake.
    """
    if not isinstance(path, str):
        raise ValueError(
            f"expected a path, but YAML reads this as {path!r}; write ./ before the "
            "name"
        )
    expanded = os.path.expandvars(os.path.expanduser(path))
    for spelt in (path, expanded):
        if any(ord(letter) < 32 for letter in spelt):
            raise ValueError(f"a path must not hold control characters: {spelt!r}")
        if set(spelt) & set("{}"):
            raise ValueError(
                f"a path must not hold {{ or }}, which are Snakemake's: {spelt}"
            )
    if "$" in expanded:
        raise ValueError(
            f"a path may hold $ only before the name of a variable that is set: {path}"
        )
    if not path:
        return path
    if not expanded:
        raise ValueError(f"{path} is an empty text here, and a path is needed")
    return os.path.normpath(expanded)


def regular(path: str) -> str:
    """Refuse the path of what is no regular file: reading it may never end.

    Raises:
        ValueError: saying what it is.
    """
    what = irregular(path)
    if what:
        raise ValueError(f"{path} is {what}, and a file is needed")
    return path


PathText = Annotated[str, BeforeValidator(normal_path)]
Paths = Annotated[list[PathText], BeforeValidator(_listed)]


class Model(BaseModel):
    """A part of the configuration.

    Unknown keys, numbers that are not finite and defaults out of bounds are errors;
    instances are frozen.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        validate_default=True,
    )

    @field_validator("*", mode="wrap")
    @classmethod
    def _as_meant(
        cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        """Read `grid: null` as no grid, and take no flag as a number.

        `{}` laid over a mapping changes nothing, so there must be another way.
        """
        default = cls.model_fields[str(info.field_name)].default
        if value is None and isinstance(default, dict | list | tuple):
            return default
        if not _flags(value):
            return read(value)
        try:
            result = read(value)
        except ValidationError as error:
            if not _out_of_bounds(error):
                raise
            result = None
        if _flags(result) < _flags(value):
            raise ValueError(
                "expected a number, and YAML reads yes, on, no and off as true and "
                "false"
            )
        return result


def _flags(value: Any) -> int:
    """Count the flags that a value is, or that it lists."""
    values = value if isinstance(value, list | tuple) else [value]
    return sum(isinstance(each, bool) for each in values)


def _out_of_bounds(error: ValidationError) -> bool:
    """Say whether a value was read as a number, which has bounds."""
    kind = error.errors()[0]["type"]
    return kind.startswith(("greater_than", "less_than"))


class Splits(Model):
    """How nodes and edges are divided, the same for all methods."""

    count: Count = 5
    """Random splits per data set."""
    first: Annotated[int, Field(ge=0)] = 0
    """The number of the first one. A split depends on its number, not on how many are
    run: with 20, splits are others than those of a run of 20."""
    train: Fraction = 0.4
    """Share of the nodes trained on."""
    validation: Fraction = 0.3
    """Share of the nodes that select epochs and cells; the rest is the test set."""
    edge_validation: Fraction = 0.1
    """Share of the undirected edges held out for validation in link prediction."""
    edge_test: Fraction = 0.2
    """Share of the undirected edges held out for testing in link prediction."""

    def shares(self, divides: "Divides") -> dict[str, float]:
        """Give what a split depends on, which is not how many splits there are."""
        if divides == "nodes":
            return {"train": self.train, "validation": self.validation}
        return {"edge_validation": self.edge_validation, "edge_test": self.edge_test}

    def tested(self, divides: "Divides") -> float:
        """Give the share of the examples that are tested."""
        if divides == "nodes":
            return 1 - self.train - self.validation
        return self.edge_test

    def trained(self, divides: "Divides") -> float:
        """Give the share of the examples that are trained on."""
        if divides == "nodes":
            return self.train
        return 1 - self.edge_validation - self.edge_test

    def test_ratio(self, divides: "Divides") -> float:
        """Give the number of test examples for each one that is trained on."""
        return self.tested(divides) / self.trained(divides)

    @model_validator(mode="after")
    def _something_left(self) -> "Splits":
        """Refuse shares that leave no test nodes or no edges to train on."""
        if self.train + self.validation >= 1:
            raise ValueError(
                "train + validation must leave a share of the nodes for testing"
            )
        if self.edge_validation + self.edge_test >= 1:
            raise ValueError("edge_validation + edge_test must leave edges to train on")
        return self


class Training(Model):
    """The training of a task.

    Class variables are what the plan and the reports must know of that task. What is
    learned and how it is judged stands in fairgat/tasks/, in the module of its name.
    """

    task: ClassVar[Task]
    title: ClassVar[str]
    """In tables and figures."""
    divides: ClassVar[Divides]
    """What a split holds out."""
    binary: ClassVar[bool] = False
    """Whether it needs the labels 0 and 1."""
    measured: ClassVar[frozenset[str]] = frozenset()
    """What is measured on it beside the scores: `account`, `debiasing`, `runtime`,
    `theory`."""
    epoch_rules: ClassVar[tuple[str, ...]] = ()
    """Further rules for the epoch of a run, which studies compare with the
    protocol's."""

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

    @property
    def reported(self) -> str:
        """The protocol that stands for a run; empty where a task has only one."""
        return ""

    @model_validator(mode="after")
    def _divisible(self) -> "Training":
        """Refuse a width that the heads cannot share equally."""
        if self.hidden % self.heads:
            raise ValueError(
                f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})"
            )
        return self


class NodeTraining(Training):
    """Node classification: two attention layers and a linear layer.

    See the paper's appendix Hyperparameters.
    """

    task = "node_classification"
    title = "Node classification"
    divides = "nodes"
    binary = True
    measured = frozenset({"account", "debiasing", "runtime", "theory"})
    epoch_rules = get_args(EpochRuleName)[1:]

    epochs: Count = 500
    weight_decay: Annotated[float, Field(ge=0)] = 0.0005


class LinkTraining(Training):
    """Link prediction: two attention layers and a dot product (FairDrop's notebook)."""

    task = "link_prediction"
    title = "Link prediction"
    divides = "edges"

    epochs: Count = 100
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    negatives: Annotated[float, Field(gt=0)] = 0.5
    """Sampled non-edges per directed training edge and epoch."""
    cutoffs: Annotated[list[Fraction], Field(min_length=1)] = [
        0.45,
        0.5,
        0.55,
        0.6,
        0.65,
        0.7,
        0.75,
    ]
    """Candidates for the cut-off on the link probability."""
    protocol: Literal["validation", "fairdrop"] = "validation"
    """`validation`: epoch by validation AUC, cut-off by validation accuracy.
    `fairdrop`: the last epoch, cut-off by accuracy on the test set, as FairDrop's
    notebook does it."""

    @property
    def reported(self) -> str:
        return self.protocol


class Tasks(Model):
    """The protocol of each task."""

    threads: Count = 1
    """CPU threads of one training job. Fixed here, so that results don't depend on
    `--cores`."""
    device: Device = "cpu"
    """Where methods train, are timed and measured: `cuda` is a GPU, `auto` a GPU where
    there is one. A GPU's scores have other last digits; the published run is a CPU's.
    EDITS debiases on the CPU, in NumPy."""
    theory_every: Annotated[int, Field(ge=0)] = 0
    """Epochs between two measurements of Theorem 1's terms in history.csv of node
    classification; 0 for none."""
    node_classification: NodeTraining = NodeTraining()
    """Of node classification."""
    link_prediction: LinkTraining = LinkTraining()
    """Of link prediction."""

    def of(self, task: Task) -> Training:
        """Give the protocol of one task."""
        return getattr(self, task)

    @property
    def protocols(self) -> list[str]:
        """The protocols whose scores the tables show, each once."""
        reported = [self.of(task).reported for task in TASKS]
        return list(dict.fromkeys(reported))


TASKS: dict[Task, type[Training]] = {
    training.task: training for training in (NodeTraining, LinkTraining)
}


class Selection(Model):
    """Which cell stands for a method, by its mean validation scores over the splits."""

    rule: Literal["fair", "accuracy", "paper"] = "fair"
    """`fair`: among cells within `tolerance` of the method's best validation accuracy,
    the fairest. `accuracy`: the most accurate. `paper`: the published hyperparameters.
    All are computed; this one is rendered."""
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """Accuracy that `fair` may give up, as a fraction."""


class Aggregation(Model):
    """How the splits become mean ± standard deviation."""

    ddof: Literal[0, 1] = 1
    """1: the sample standard deviation (divides by n - 1), 0: the population one."""


class Margins(Model):
    """How far from the paper's mean ours may lie and still agree with it, as fractions.

    The margin of a result is half the range that the paper's own methods span in its
    measure and table, and at most:
    """

    accuracy: Fraction = 0.01
    """That of accuracy."""
    fairness: Fraction = 0.02
    """That of every fairness measure."""


class Audit(Model):
    """How ours is compared with the paper."""

    margins: Margins = Margins()
    """A result agrees if the 95 % interval of its difference from the paper's lies
    within its margin."""


class Runtime(Model):
    """How the runtime table is measured."""

    warmup: Annotated[int, Field(ge=0)] = 3
    """Epochs before the clock starts."""
    epochs: Count = 60
    """Timed epochs; the median counts."""
    threads: Count = 1
    """CPU threads of the timed process."""
