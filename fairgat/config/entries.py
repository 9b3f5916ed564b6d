"""A data set and a method, as config.yaml describes them."""

from typing import Annotated, Any

from pydantic import Field, PrivateAttr, model_validator

from fairgat.config.pages import Look
from fairgat.config.protocol import Count, Model, Name, Names, Task, Value
from fairgat.config.texts import Line


class Entry(Model):
    """A data set or a method."""

    title: Line = ""
    """Its name in tables and figures; the key itself where absent."""
    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        """Its key in the configuration."""
        return self._name


class Dataset(Entry):
    """One data set."""

    task: Task
    """What is learned on it."""
    source: str | None = None
    """The module in fairgat/data/sources that reads it, or the path of a .py file;
    found by the data set's own name where absent."""
    options: dict[str, Any] = {}
    """What that source needs to know, such as the files of a data set of your own."""
    enabled: bool = True
    """Whether it is run."""
    reason: Line | None = None
    """Why it is not run; shown in every table."""
    stands_for: Name | None = None
    """The data set of the paper in whose place it is run, as in the demo: pages then
    compare with the paper."""
    splits_of: Name | None = None
    """The data set whose splits it shares: another form of the same files. Nodes are
    exchanged only where a part would lack a group, or with more than two groups a group
    and label."""
    split_count: Count | None = None
    """How many splits it has, in place of `splits.count`."""

    @model_validator(mode="after")
    def _reason(self) -> "Dataset":
        """Refuse a data set that is left out without a reason."""
        if not self.enabled and not self.reason:
            raise ValueError(
                "a data set with enabled: false needs a reason, which every table will "
                "show"
            )
        return self


class Method(Entry):
    """One row of the tables: a method's module, settings and the grid searched over."""

    module: str | None = None
    """The module in fairgat/methods that implements it, or the path of a .py file; the
    key itself where absent."""
    tasks: list[Task]
    """The tasks it takes part in; none where it is not trained and only its epochs are
    timed (`tables.runtime`)."""
    same_as: Name | None = None
    """The method that it is, where that is proved: it is not run, and tables and audit
    give it that method's scores."""
    look: Look | None = None
    """How figures draw it; in a colour of its own where absent."""
    note: Line | None = None
    """A note on its row in tables of scores and of times."""
    note_of_more_groups: Line | None = None
    """A note on its row in tables of scores, where the data have more than two
    groups."""
    debiased: bool = False
    """Whether it trains on a debiased graph, which the rule `debias` makes once per
    split."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """The seed of its trainings, in place of the experiment's: other initial weights on
    the same splits."""
    may_call_off: bool = False
    """Whether a cell may turn out not to be worth training, such as a threshold that
    makes the graph too dense."""
    settings: dict[str, Any] = {}
    """Settings that are the same in every cell. Where a key ends in `_of` and has keys
    itself, these are data sets, on which the key without `_of` has another value."""
    grid: dict[str, Annotated[list[Value], Field(min_length=1)]] = {}
    """Hyperparameters that are searched: every combination is a cell."""
    grids: dict[str, dict[str, Annotated[list[Value], Field(min_length=1)]]] = {}
    """Grids of single data sets, in place of `grid`."""
    without: Names = []
    """Data sets that it is not run on, such as those that are too large for it."""
    published: dict[str, dict[str, Value]] = {}
    """The cell that the paper reports for a data set (`selection.rule: paper`)."""

    @model_validator(mode="after")
    def _distinct_cells(self) -> "Method":
        for grid in (self.grid, *self.grids.values()):
            for name, values in grid.items():
                if len(set(values)) < len(values):  # 1 and 1.0 are the same
                    raise ValueError(
                        f"the values of {name} repeat themselves: {values}"
                    )
                texts = [value for value in values if isinstance(value, str)]
                if not all(map(_fits_a_path, texts)):
                    raise ValueError(
                        f"the values of {name} become paths: no empty text, no control "
                        f"character, and none of / ~ {{ }}: {values}"
                    )
        return self


def _fits_a_path(text: str) -> bool:
    return text != "" and text.isprintable() and not set(text) & set("/~{}")
