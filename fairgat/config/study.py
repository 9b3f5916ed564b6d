"""A study: the rows that an overlay compares, and what is wrong with a list of them."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from fairgat.config.protocol import EpochRuleName, Model, Name, Names

if TYPE_CHECKING:
    from fairgat.config.models import Config, Method

_MOVED = {
    "dose": "`accounts: true` publishes what analyses/dose.py draws",
    "along": "analyses/along.py draws it",
    "attributes": "analyses/attributes.py draws it",
}


class Row(Model):
    """One row of a study: a variant, and the method or data set that it changes in one decision."""

    title: str
    """What it is called."""
    changes: str
    """What it changes, in a sentence."""
    of: Name
    """The method that `method` is a variant of; with `dataset`, the data set that this one is another form of."""
    method: Name | None = None
    """A variant of a method, compared with it on every data set that is run."""
    as_good_as: Name | None = None
    """With `method`: another one of the study. The variant is compared at the cell whose mean AUC on validation is
    nearest to that of this one, and not at the cell that `selection.rule` chooses."""
    dataset: Name | None = None
    """Another form of a data set, on which `methods` are compared with themselves."""
    methods: Names = []
    """The methods compared on another form of a data set."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Row":
        if (self.method is None) == (self.dataset is None) or bool(self.dataset) != bool(self.methods):
            raise ValueError("a row has either a `method`, or a `dataset` and its `methods`")
        if self.as_good_as and not self.method:
            raise ValueError("`as_good_as` chooses the cell of a `method`")
        return self


class Study(Model):
    """A comparison of variants with what they vary, pair by pair of runs; made by the target `study`.

    A method with several cells is compared at the one that `selection.rule` chooses, unless its row says otherwise.
    """

    name: Name
    """Its folder under studies/."""
    title: str
    """The heading of its table."""
    part: Literal["validation", "test"] = "validation"
    """Whose scores are compared; no choice is made by them."""
    metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """The metrics compared; accuracy, AUC and the task's fairness measures where absent."""
    figure_metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """Those of `metrics` that the figure shows; all of them where absent."""
    epochs: Annotated[list[tuple[EpochRuleName, EpochRuleName]], Field(min_length=1)] = [("accuracy", "accuracy")]
    """Rules that choose the epochs of a variant and of what it is compared with, in node classification: each row is
    compared once for each pair."""
    rows: Annotated[list[Row], Field(min_length=1)]
    """The variants, in the table's order."""
    accounts: bool = False
    """Whether to publish the accounts of the logits of every cell of the methods in `tables.account`: accounts.csv."""
    measured_by: dict[Name, Name] = {}
    """Data sets, and another one with the same people, by whose groups their methods are measured, too: scores.csv has
    them there as METHOD@DATASET."""

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, content: Any) -> Any:
        for key in _MOVED.keys() & (content if isinstance(content, dict) else {}):
            raise ValueError(f"`{key}` is no key any more: {_MOVED[key]} from published scores (`make analyses`)")
        return content

    @model_validator(mode="after")
    def _fits(self) -> "Study":
        if unknown := set(self.figure_metrics or ()) - set(self.metrics or ()):
            raise ValueError(f"`figure_metrics` has {', '.join(sorted(unknown))}, which `metrics` does not list")
        for key in ("metrics", "figure_metrics", "epochs"):
            given = getattr(self, key) or []
            if len(set(given)) < len(given):
                raise ValueError(f"`{key}` has something twice, which would count twice")
        if self.measured_by and self.part != "test":
            raise ValueError("`measured_by` is about test scores; set `part: test`")
        return self


def check_rows(config: "Config") -> list[str]:
    """Say which rows of the study would stay empty, or be counted twice."""
    problems: list[str] = []
    seen: set[tuple[str | None, ...]] = set()
    for row in config.study.rows if config.study else ():
        if row.dataset:
            problems += _problems_of_form(config, row, seen)
            seen |= {(row.dataset, row.of, name) for name in row.methods}
        elif row.method in config.methods and row.of in config.methods:
            problems += [
                f"study.rows.method: {row.method} of {row.of}: {each}" for each in _of_variant(config, row, seen)
            ]
            seen.add((row.method, row.of))
    return problems


def _of_variant(config: "Config", row: Row, seen: set[tuple[str | None, ...]]) -> list[str]:
    """Say what is wrong with a variant of a method; `seen` are those of rows before."""
    method, of = config.methods[row.method or ""], config.methods[row.of]
    problems = []
    if row.method == row.of or (row.method, row.of) in seen:
        problems.append("a method is compared once, and with another one")
    if other := method.same_as or of.same_as:
        problems.append(f"one of them is {other} (`same_as`); name that")
    elif not method.tasks:
        problems.append("it has `tasks: []` and is only timed. Give it tasks, and a grid to search")
    elif not set(method.tasks) & set(of.tasks):
        problems.append("they have no task in common")
    return problems


def _problems_of_form(config: "Config", row: Row, seen: set[tuple[str | None, ...]]) -> list[str]:
    """Say what is wrong with another form of a data set; `seen` are those of rows before."""
    where = f"study.rows.dataset: {row.dataset}"
    if row.dataset == row.of:
        return [f"{where} of {row.of}: a data set is compared with another form of it"]

    def problem(name: str, entry: "Method | None") -> str | None:
        if (row.dataset, row.of, name) in seen or row.methods.count(name) > 1:
            return f"{where} of {row.of}: {name} is there twice"
        if entry and entry.same_as:
            return f"{where}: {name} is {entry.same_as} (`same_as`); name that"
        if entry and {row.dataset, row.of} & set(entry.without):
            return f"{where}: {name} is run `without` it, or without {row.of}"
        return None

    return list(filter(None, (problem(name, config.methods.get(name)) for name in row.methods)))
