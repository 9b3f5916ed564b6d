"""A study: the variants that an overlay compares, and what is wrong with a list of them."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from fairgat.config.protocol import EpochRuleName, Model, Name, Names
from fairgat.errors import nearest

if TYPE_CHECKING:
    from fairgat.config.models import Config

# Counts of a graph that a study may vary (fairgat/data/statistics.py).
Quantity = Literal["group_homophily", "label_homophily", "label_gap"]


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
    dataset: Name | None = None
    """Another form of a data set, on which `methods` are compared with themselves."""
    methods: Names = []
    """The methods compared on another form of a data set."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Row":
        if (self.method is None) == (self.dataset is None) or bool(self.dataset) != bool(self.methods):
            raise ValueError("a row has either a `method`, or a `dataset` and its `methods`")
        return self


class Study(Model):
    """A comparison of variants with what they vary, pair by pair of runs; made by the target `study`.

    A method with several cells is compared at the one that `selection.rule` chooses.
    """

    name: Name
    """Its folder under studies/."""
    title: str
    """The heading of its table."""
    part: Literal["validation", "test"] = "validation"
    """Whose scores are compared; no choice is made by them."""
    metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """The metrics compared; accuracy and the task's fairness measures where absent."""
    figure_metrics: Annotated[list[str], Field(min_length=1)] | None = None
    """Those of `metrics` that the figure shows; all of them where absent."""
    epochs: Annotated[list[tuple[EpochRuleName, EpochRuleName]], Field(min_length=1)] = [("accuracy", "accuracy")]
    """Rules that choose the epochs of a variant and of what it is compared with, in node classification: each row is
    compared once for each pair."""
    rows: Annotated[list[Row], Field(min_length=1)]
    """The variants, in the table's order."""
    along: dict[Quantity, Annotated[Names, Field(min_length=2)]] = {}
    """Counts of the graphs, and the data sets of node classification that differ in each: the figure `along` shows the
    differences against them, as measured. It reads the theory's terms of the methods in `tables.theory`."""
    dose: Name | None = None
    """A hyperparameter that is a share of attention, such as `alpha_chi_max`: the figure `dose` shows every cell
    against it, with the accounts of the methods in `tables.account`; other methods stand at the share that they turn
    out to give."""
    attributes: bool = False
    """Whether to say, beside the forest plot, how each attribute's own gap compares with that over all groups where
    these combine several attributes: attributes.csv and a figure of that name."""
    measured_by: dict[Name, Name] = {}
    """With `attributes`: data sets, and another one with the same people by whose groups their methods are measured,
    too. It says what fairness for one attribute does to the combinations."""

    @model_validator(mode="after")
    def _fits(self) -> "Study":
        if unknown := set(self.figure_metrics or ()) - set(self.metrics or ()):
            raise ValueError(f"`figure_metrics` has {', '.join(sorted(unknown))}, which `metrics` does not list")
        for key in ("metrics", "figure_metrics", "epochs"):
            given = getattr(self, key) or []
            if len(set(given)) < len(given):
                raise ValueError(f"`{key}` has something twice, which would count twice")
        if self.measured_by and not self.attributes:
            raise ValueError("`measured_by` is shown with `attributes: true` only")
        if self.attributes and self.part != "test":
            raise ValueError("`attributes` is about test scores; set `part: test`")
        return self


def check_rows(config: "Config") -> list[str]:
    """Say which rows of the study would stay empty, or be counted twice."""
    if config.study is None:
        return []
    problems, seen, forms = [], set[tuple[str, str]](), set[tuple[str, str, str]]()
    for row in config.study.rows:
        if row.dataset:
            problems += _problems_of_form(config, row, forms)
            forms |= {(row.dataset, row.of, name) for name in row.methods}
        if row.method not in config.methods or row.of not in config.methods:
            continue
        method, of, where = config.methods[row.method], config.methods[row.of], f"study.rows.method: {row.method}"
        if row.method == row.of or (row.method, row.of) in seen:
            problems.append(f"{where} of {row.of}: a method is compared once, and with another one")
        elif (config.study.dose or config.study.attributes) and row.method in {name for name, _ in seen}:
            problems.append(f"{where} of {row.of}: with `dose` or `attributes` it is compared with one method only")
        elif other := method.same_as or of.same_as:
            problems.append(f"{where} of {row.of}: one of them is {other} (`same_as`); name that")
        elif not method.tasks:
            problems.append(f"{where} has `tasks: []`: it is only timed. Give it tasks, and a grid to search")
        elif not set(method.tasks) & set(of.tasks):
            problems.append(f"{where} of {row.of}: they have no task in common")
        seen.add((row.method, row.of))
    return problems


def _problems_of_form(config: "Config", row: Row, seen: set[tuple[str, str, str]]) -> list[str]:
    """Say what is wrong with another form of a data set; `seen` are (form, data set, method) of rows before."""
    where = f"study.rows.dataset: {row.dataset}"
    if row.dataset == row.of:
        return [f"{where} of {row.of}: a data set is compared with another form of it"]
    problems = []
    for name in row.methods:
        entry = config.methods.get(name)
        if (row.dataset, row.of, name) in seen or row.methods.count(name) > 1:
            problems.append(f"{where} of {row.of}: {name} is there twice")
        elif entry and entry.same_as:
            problems.append(f"{where}: {name} is {entry.same_as} (`same_as`); name that")
        elif entry and {row.dataset, row.of} & set(entry.without):
            problems.append(f"{where}: {name} is run `without` it, or without {row.of}")
    return problems


def check_dose(config: "Config") -> list[str]:
    """Say why the figure `dose` cannot be drawn."""
    if config.study is None or (dose := config.study.dose) is None:
        return []
    pairs = [
        (row.method, row.of) for row in config.study.rows if row.method in config.methods and row.of in config.methods
    ]
    run = [name for name in config.datasets if not config.not_run(name)]
    searched = {key for method, _ in pairs for name in run for key in config.grid(method, name)}
    several = dict.fromkeys(of for _, of in pairs for name in run if config.cells(of, name)[1:])
    problems = [f"study.dose: the variants are compared with one cell, and {name} has several" for name in several]
    if dose not in searched:
        near = f"; {nearest(dose, searched)}" if searched else ""
        problems.append(f"study.dose: no variant has {dose!r} in its grid{near}")
    return problems
