"""A study: the rows that an overlay compares."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from fairgat.config.protocol import EpochRuleName, Model, Name, Names
from fairgat.config.texts import Line


class Row(Model):
    """One row of a study: a variant, and what it changes in one decision."""

    title: Annotated[Line, Field(min_length=1)]
    """What it is called."""
    changes: Annotated[Line, Field(min_length=1)]
    """What it changes, in a sentence."""
    of: Name
    """The method that `method` is a variant of; with `dataset`, the data set that this
    one is another form of."""
    method: Name | None = None
    """A variant of a method, compared with it on every data set that is run."""
    dataset: Name | None = None
    """Another form of a data set, on which `methods` are compared with themselves."""
    methods: Names = []
    """The methods compared on another form of a data set."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Row":
        """Refuse a row that varies both the method and the data set, or neither."""
        of_a_method = bool(self.method) and not self.dataset and not self.methods
        of_a_dataset = bool(self.dataset and self.methods) and not self.method
        if not of_a_method and not of_a_dataset:
            raise ValueError(
                "a row has either a `method`, or a `dataset` and its `methods`"
            )
        return self


class Study(Model):
    """A comparison of variants with what they vary, pair by pair of runs.

    It is part of `all`, or made by the target `study`. A method with several cells is
    compared at the one that `selection.rule` chooses.
    """

    name: Name
    """Its folder under studies/."""
    title: Line
    """The heading of its table."""
    part: Literal["validation", "test"] = "validation"
    """Whose scores are compared; no choice is made by them."""
    metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """The metrics compared; accuracy, AUC and the task's fairness measures where
    absent. Of rules for the epoch other than `accuracy` only those are kept that tables
    show."""
    figure_metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """Those of `metrics` that the figure shows; all of them where absent."""
    epochs: Annotated[
        list[tuple[EpochRuleName, EpochRuleName]], Field(min_length=1)
    ] = [("accuracy", "accuracy")]
    """Rules that choose the epochs of a variant and of what it is compared with, in
    node classification: each row is compared once for each pair."""
    rows: Annotated[list[Row], Field(min_length=1)]
    """The variants, in the table's order."""
    accounts: bool = False
    """Whether to publish the accounts of the logits of every cell of the methods in
    `tables.account`: accounts.csv."""
    measured_by: dict[Name, Name] = {}
    """Data sets, and another one with the same people, by whose groups their methods
    are measured, too: scores.csv has them there as METHOD@DATASET."""

    @property
    def other_rules(self) -> bool:
        """Whether it compares epochs that other rules chose."""
        return any({*pair} != {"accuracy"} for pair in self.epochs)

    @model_validator(mode="after")
    def _fits(self) -> "Study":
        metrics, in_figure = self.metrics or [], self.figure_metrics or []
        if in_figure and not metrics:
            raise ValueError(
                "`figure_metrics` needs `metrics`, the list that it is part of"
            )
        unknown = sorted(set(in_figure).difference(metrics))
        if unknown:
            raise ValueError(
                f"`figure_metrics` has {', '.join(unknown)}, which `metrics` does not "
                "list"
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
