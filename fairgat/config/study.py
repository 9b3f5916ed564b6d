"""A study: the rows that an overlay compares, and what is wrong with a list of them."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from fairgat.config.protocol import EpochRuleName, Model, Name, Names
from fairgat.config.texts import Line

if TYPE_CHECKING:
    from fairgat.config.models import Config


class Row(Model):
    """One row of a study: a variant, and the method or data set that it changes in one decision."""

    title: Annotated[Line, Field(min_length=1)]
    """What it is called."""
    changes: Annotated[Line, Field(min_length=1)]
    """What it changes, in a sentence."""
    of: Name
    """The method that `method` is a variant of; with `dataset`, the data set that this one is another form of."""
    method: Name | None = None
    """A variant of a method, compared with it on every data set that is run."""
    dataset: Name | None = None
    """Another form of a data set, on which `methods` are compared with themselves."""
    methods: Names = []
    """The methods compared on another form of a data set."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Row":
        if (self.method is None) == (self.dataset is None) or bool(
            self.dataset
        ) != bool(self.methods):
            raise ValueError(
                "a row has either a `method`, or a `dataset` and its `methods`"
            )
        return self


class Study(Model):
    """A comparison of variants with what they vary, pair by pair of runs; part of `all`, or made by the target `study`.

    A method with several cells is compared at the one that `selection.rule` chooses.
    """

    name: Name
    """Its folder under studies/."""
    title: Line
    """The heading of its table."""
    part: Literal["validation", "test"] = "validation"
    """Whose scores are compared; no choice is made by them."""
    metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """The metrics compared; accuracy, AUC and the task's fairness measures where absent. Of rules for the epoch other
    than `accuracy` only those are kept that tables show."""
    figure_metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """Those of `metrics` that the figure shows; all of them where absent."""
    epochs: Annotated[
        list[tuple[EpochRuleName, EpochRuleName]], Field(min_length=1)
    ] = [("accuracy", "accuracy")]
    """Rules that choose the epochs of a variant and of what it is compared with, in node classification: each row is
    compared once for each pair."""
    rows: Annotated[list[Row], Field(min_length=1)]
    """The variants, in the table's order."""
    accounts: bool = False
    """Whether to publish the accounts of the logits of every cell of the methods in `tables.account`: accounts.csv."""
    measured_by: dict[Name, Name] = {}
    """Data sets, and another one with the same people, by whose groups their methods are measured, too: scores.csv has
    them there as METHOD@DATASET."""

    @property
    def other_rules(self) -> bool:
        """Whether it compares epochs that other rules chose."""
        return any({*pair} != {"accuracy"} for pair in self.epochs)

    @model_validator(mode="after")
    def _fits(self) -> "Study":
        if self.figure_metrics and not self.metrics:
            raise ValueError(
                "`figure_metrics` needs `metrics`, the list that it is part of"
            )
        if unknown := set(self.figure_metrics or ()) - set(self.metrics or ()):
            raise ValueError(
                f"`figure_metrics` has {', '.join(sorted(unknown))}, which `metrics` does not list"
            )
        for key in ("metrics", "figure_metrics", "epochs"):
            given = getattr(self, key) or []
            if len(set(given)) < len(given):
                raise ValueError(
                    f"`{key}` has something twice, which would count twice"
                )
        if self.measured_by and self.part != "test":
            raise ValueError("`measured_by` is about test scores; set `part: test`")
        return self


def check_rows(config: "Config") -> list[str]:
    """Say which rows of the study would stay empty, or be counted twice."""
    problems, seen = [], set[tuple[str | None, str, str]]()
    for row in config.study.rows if config.study else ():
        for name in row.methods or [row.method or ""]:
            comparison = (row.dataset, row.of, name)
            problem = (
                f"{name} is there twice"
                if comparison in seen
                else _problem(config, row, name)
            )
            seen.add(comparison)
            if problem:
                problems.append(
                    f"study.rows: {row.dataset or row.method} of {row.of}: {problem}"
                )
    return problems


def _problem(config: "Config", row: Row, name: str) -> str | None:
    """Say why a comparison would be empty; `name` is the variant, or a method on another form of a data set."""
    base_name = name if row.dataset else row.of
    if row.of == (row.dataset or name):
        return "it is compared with itself"
    if name not in config.methods or base_name not in config.methods:
        return None  # said already
    method, base = config.methods[name], config.methods[base_name]
    if other := method.same_as or base.same_as:
        return f"one of the methods is {other} (`same_as`); name that"
    if not set(method.tasks) & set(base.tasks):
        return "the methods have no task in common; see their `tasks`"
    if {row.dataset, row.of} & set(method.without):
        return f"{name} is run `without` one of them"
    return None
