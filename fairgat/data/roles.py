"""What is declared of a user's own data: its files, and the role of every column.

Nothing is guessed: what is not declared is refused. Ids, groups and labels are texts,
so that 007 and 7 are two ids. `own.py` makes the graph.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from fairgat.config import Model, PathText, regular
from fairgat.data.source import Scaling
from fairgat.files import stays_inside
from fairgat.texts import compared

REST = "*"
"""Among the values of a group or label: all that no other names, but an empty cell."""
MOST_GROUPS = 12


def _text(value: Any) -> Any:
    """Write a value as the file has it; refuse one that YAML reads otherwise."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(
            "write quotes around the value, as the file has it: YAML reads this one as "
            f"{value!r}"
        )
    return str(value)


def _value(value: Any) -> Any:
    return compared(_text(value))


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _merged(value: Any) -> Any:
    """Give groups by name, also where their values are listed, each a group."""
    if value is None or isinstance(value, dict):
        return value
    return {_value(each): [each] for each in _listed(value)}


def _at_path(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


Values = Annotated[
    tuple[Annotated[str, BeforeValidator(_value)], ...], BeforeValidator(_listed)
]
"""Values of cells, as they are compared; `Text` is a column."""


class OwnFile(Model):
    """A file of the user's own, or one that is published."""

    file: PathText | None = None
    """Its path, relative to where Snakemake runs. Of a file with a `url`, its path in a
    data mirror, by default the data set's name and nodes.csv, say."""
    url: Annotated[str, Field(pattern="^https?://")] | None = None
    """Where it is published, at an address whose content never changes."""
    sha256: (
        Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{64}$", to_lower=True)]
        | None
    ) = None
    """The SHA-256 of a published file, as `sha256sum` prints it."""
    git_blob: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    """Git's id of a published file in place of its SHA-256 (`git hash-object`)."""

    @model_validator(mode="after")
    def _known(self) -> "OwnFile":
        """Refuse a file that is not known by a path, or by an address and checksum."""
        if self.url and not (self.sha256 or self.git_blob):
            raise ValueError(
                "a file with a `url` needs its `sha256`: what is fetched is checked"
            )
        if not self.url and not self.file:
            raise ValueError(
                "give the path of a `file`, or the `url` and the `sha256` of one"
            )
        if self.url and self.file and not stays_inside(self.file):
            raise ValueError(
                f"{self.file} is its path in a data mirror: give a relative one, "
                "without .."
            )
        if self.file and not self.url:
            regular(self.file)
        return self

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.file or str(self.url)


class Delimited(OwnFile):
    """A file of rows and columns."""

    read: dict[str, Any] = {}
    """What `pandas.read_csv` is told of it: sep, encoding, decimal, thousands, comment,
    header, na_values, ..."""


class EdgeFile(OwnFile):
    """A file of edges without a direction: one that is listed twice is one edge."""

    link_if: Text | None = None
    """A column, or an attribute, that says what is an edge: not where it is 0, false,
    no or empty. Whatever else it is, amounts are not used; a negative one is an
    edge."""
    exclude: Texts = ()
    """Columns or attributes that say nothing that is used."""

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, given: Any) -> Any:
        """Say what `weight` is called now."""
        if isinstance(given, dict) and "weight" in given:
            raise ValueError(
                f"`weight` is now `link_if: {given['weight']}`, for it only says which "
                "rows are edges, and amounts are not used"
            )
        return given


class Edges(Delimited, EdgeFile):
    """A table of edges, one a row."""

    ends: Annotated[tuple[Text, Text], BeforeValidator(_listed)] | None = None
    """The columns of its two ends; by default the only two."""

    @model_validator(mode="after")
    def _fit(self) -> "Edges":
        """Refuse a column that is both ends, or has two roles."""
        ends = self.ends or ()
        _check_once("`ends`", [ends])
        _one_each({"ends": ends, "link_if": [self.link_if], "exclude": self.exclude})
        return self


AtPath = Annotated[EdgeFile, BeforeValidator(_at_path)]
NodesAtPath = Annotated[Delimited, BeforeValidator(_at_path)]
EdgesAtPath = Annotated[Edges, BeforeValidator(_at_path)]


class Roles(Model):
    """What the columns of the nodes are, and what is made of them."""

    sensitive: Annotated[Texts, Field(min_length=1)]
    """Column of the sensitive attribute, or several: their combinations are groups."""
    groups: Annotated[dict[Text, Values], BeforeValidator(_merged)] | None = None
    """Values of a single attribute in the order of the groups, or merged by name: {f:
    [F, female], m: "*"}, where "*" is every other value. By default all, in order."""
    bins: Annotated[tuple[float, ...], Field(min_length=1)] | None = None
    """Or where to cut a single attribute of numbers: [30, 60] makes the groups below
    30, 30 to below 60, and above."""
    label: Text | None = None
    """Column of the label. Link prediction needs none; then groups are the labels."""
    positive: Values = ("1",)
    """The values that are label 1. `"*"`: all but those of `negative`, `unlabelled`."""
    negative: Values = ("0",)
    """The values that are label 0; or `"*"`."""
    unlabelled: Values = ()
    """The values that mean that the label is not known; "" is an empty cell. Such nodes
    stay in the graph, and are neither trained nor measured on."""
    features: Texts | None = None
    """Columns of numbers, or `categories`; by default all without another role."""
    exclude: Texts = ()
    """Columns that are no features."""
    categories: Texts = ()
    """Features that become a column of zeros and ones for each of their values."""
    fill: Literal["zero", "mean"] | None = None
    """What takes the place of an empty cell of a feature; by default it is refused. In
    `categories`, no value."""
    graph_features: tuple[Literal["degree", "constant"], ...] = ()
    """Features made of the graph: the number of neighbours; 1, whatever the scaling."""
    drop: tuple[Literal["self_loops", "unknown_ids", "unknown_groups"], ...] = ()
    """What is left out instead of being refused: edges from a node to itself, edges
    that name nobody, nodes of none of the groups."""
    labelled_only: bool = False
    """Whether unlabelled nodes are left out of the graph."""
    largest_component: bool = False
    """Whether only the largest connected component of what is left is kept."""
    scaling: Scaling = "min_max"
    """How features are scaled."""

    @model_validator(mode="after")
    def _fit(self) -> "Roles":
        """Refuse roles that contradict each other, or values that are named twice."""
        if (self.groups or self.bins) and len(self.sensitive) > 1:
            raise ValueError(
                "`groups` and `bins` are for a single attribute: recode several in the "
                "file"
            )
        if self.groups and self.bins:
            raise ValueError(
                "`groups` and `bins` both say what the groups are: leave one out"
            )
        if self.bins and list(self.bins) != sorted(set(self.bins)):
            raise ValueError(f"`bins` must rise, got {list(self.bins)}")
        _check_once("the values of `groups`", (self.groups or {}).values())
        _check_once("the values of labels", self.label_values().values())
        _check_once("`sensitive`", [self.sensitive])
        self.roles()
        return self

    def roles(self) -> dict[str, str]:
        """Give the role of each column that is named, by its option.

        Raises:
            ValueError: one has two roles.
        """
        named: dict[str, Iterable[str | None]] = {
            "id": [getattr(self, "id", None)],
            "label": [self.label],
            "sensitive": self.sensitive,
            "exclude": self.exclude,
            "features": [*(self.features or ()), *self.categories],
        }
        return _one_each(named)

    def label_values(self) -> dict[int, tuple[str, ...]]:
        """Give what is declared to be each label."""
        return {1: self.positive, 0: self.negative, -1: self.unlabelled}


def _one_each(named: Mapping[str, Iterable[str | None]]) -> dict[str, str]:
    """Give the role of each column, of the columns of each role.

    Raises:
        ValueError: one has two roles.
    """
    roles: dict[str, str] = {}
    for role, names in named.items():
        for name in filter(None, names):
            other = roles.setdefault(name, role)
            if other != role:
                raise ValueError(
                    f"column {name!r} is in both `{other}` and `{role}`: it has one "
                    "role"
                )
    return roles


def _check_once(key: str, lists: Iterable[tuple[str, ...]]) -> None:
    values = list(itertools.chain.from_iterable(lists))
    for value in sorted(values):
        if values.count(value) > 1:
            raise ValueError(f"{value!r} is listed twice in {key}")
