"""What may be set for a file and for the columns of a table of nodes, wherever it is from; and suggestions to paste."""

import codecs
import itertools
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from fairgat.config import Model, PathText
from fairgat.data.source import Scaling

REST = "*"
"""Among the values of a group, or of a label: all values that the others do not name."""


def flow(value: Any) -> str:
    """Write a value as YAML in one line that reads back as it is."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if not isinstance(value, str):
        return yaml.safe_dump(value, width=float("inf")).removesuffix("...\n").strip()
    try:
        read = yaml.safe_load(f"[{value}]")
    except (yaml.YAMLError, ValueError, RecursionError):  # the 30th of February; 5000 digits; 5000 brackets
        read = None
    if isinstance(read, list) and len(read) == 1 and type(read[0]) in (str, int) and str(read[0]) == value:
        return value
    style = "'" if value.isprintable() else '"'
    return yaml.safe_dump(value, default_style=style, allow_unicode=True, width=float("inf")).strip()


def composed(text: str) -> str:
    """Write accented letters in one way, as one character each (NFC)."""
    return unicodedata.normalize("NFC", text)


def paste(key: str, value: Any) -> str:
    """Suggest `key: value`, to be pasted into the data set's options."""
    return f"`{key}: {flow(value)}`"


def _quoted(value: Any, info: ValidationInfo) -> Any:
    """Refuse what YAML makes of yes, no and null where the file holds texts, and show how to write it."""
    some = value if isinstance(value, list | tuple) else [value]
    if any(each is None or isinstance(each, bool) for each in some):
        codes = [each for each in some if isinstance(each, str)]  # of countries, say
        upper = bool(codes) and all(each.isupper() for each in codes)
        yes_no = [("YES", "NO")] if upper else [("yes", "no"), ("True", "False")]
        words = [{True: yes, False: no, None: "NULL" if upper else "null"} for yes, no in yes_no]
        fixed = [[row[each] if each is None or isinstance(each, bool) else each for each in some] for row in words]
        ways = " or ".join(dict.fromkeys(paste(str(info.field_name), values) for values in fixed))
        raise ValueError(
            "put yes, no, true and false between quotation marks, as the file writes them; YAML reads NO, no, off and "
            f"false as false, and YES, yes, on and true as true: {ways}, say"
        )
    return value


def _name(value: Any, info: ValidationInfo) -> Any:
    """Read a column's name, which YAML may take for a number."""
    name = str(value) if type(_quoted(value, info)) is int else value
    return composed(name) if isinstance(name, str) else name


def _names(value: Any, info: ValidationInfo) -> Any:
    some = value if isinstance(value, list | tuple) else [value]
    names = tuple(_name(each, info) for each in _quoted(some, info))
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return names


def _values(value: Any, info: ValidationInfo) -> list[Any]:
    """Read one value of a cell, or a list of them."""
    some = _quoted(value if isinstance(value, list | tuple) else [value], info)
    return [composed(each.strip()) if isinstance(each, str) else each for each in some]


def _groups(value: Any, info: ValidationInfo) -> Any:
    """Read values in order, or by the name of their group, or either of these by attribute."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {_name(key, info): _groups(each, info) for key, each in value.items()}
    return _values(value, info)


def _by_name(value: Any, info: ValidationInfo) -> Any:
    return {_name(key, info): each for key, each in value.items()} if isinstance(value, Mapping) else value


Value = str | int | float
Text = Annotated[str, BeforeValidator(_name)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_names)]
Values = Annotated[list[Value], BeforeValidator(_values)]


class Columns(Model):
    """What the columns of a table of nodes are, what is made of them and what is left out."""

    sensitive: Annotated[Texts, Field(min_length=1)]
    """Column of the sensitive attribute, or a list of several: the combinations that occur are the groups. They are
    not features."""
    label: Text | None = None
    """Column of the label, which is not a feature. Link prediction needs none; without it the groups are the labels."""
    positive: Values = []
    """The values that are label 1; by default 1."""
    negative: Values = []
    """The values that are label 0; by default 0, or with `positive` the one other value."""
    unlabelled: Values = []
    """The values that mean that the label is not known, as an empty cell does. Such nodes stay in the graph; they are
    neither trained nor measured on."""
    groups: Annotated[Any, BeforeValidator(_groups)] = None
    """The values of the sensitive attribute in the order of the groups 0, 1, ..., or by the name of their group:
    `{f: [F, female], m: "*"}`, where "*" is every other value. By default all that occur, sorted. With several
    attributes, either of these for some of them: `{sex: {...}}`."""
    bins: Annotated[Any, BeforeValidator(_by_name)] = None
    """Where to cut a sensitive attribute of numbers: `[30, 60]` makes three groups: below 30, from 30 to below 60, and
    60 and above. With several attributes by attribute: `{age: [30, 60]}`."""
    features: Texts | None = None
    """The feature columns; by default every other column. One of texts becomes a column for each text."""
    exclude: Texts = ()
    """Columns that are not features."""
    categories: Texts = ()
    """Columns that hold categories, although they are coded as numbers, or are more than 50."""
    missing: Values = []
    """Values of features that mean that they are not known; the mean takes their place, or what `fill` says. A node
    whose sensitive attribute has one of them, and `bins`, has no group."""
    fill: Literal["zero", "mean"] | None = None
    """What takes the place of an empty cell of numbers; by default it is an error."""
    decimal: Literal[".", ","] | None = None
    """What features of numbers have where English has a point; a point, or a comma where `thousands` is a point."""
    thousands: Literal[",", ".", "'", " "] | None = None
    """What stands between the thousands of features, as in 1,234,567."""
    graph_features: tuple[Literal["degree", "constant"], ...] = ()
    """Features made of the graph: the number of neighbours; 1 for every node, whatever the scaling."""
    drop: tuple[Literal["self_loops", "unknown_ids", "unknown_groups", "duplicates"], ...] = ()
    """What to leave out instead of raising an error: self_loops, unknown_ids (edges); unknown_groups (nodes). An edge
    that is listed again always is the same edge; older configurations name `duplicates`."""
    labelled_only: bool = False
    """Leave the unlabelled nodes out of the graph."""
    largest_component: bool = False
    """Keep the largest connected component of what is left."""
    scaling: Scaling = "min_max"
    """How features are scaled."""

    @model_validator(mode="after")
    def _roles(self) -> "Columns":
        if self.decimal and self.decimal == self.thousands:
            raise ValueError(f"`decimal` and `thousands` are both {self.decimal!r}")
        taken = dict.fromkeys(self.sensitive, "sensitive")
        taken |= {name: role for role in ("label", "id") if (name := getattr(self, role, None)) is not None}
        features = self.features or ()
        for name in features:
            if name in self.exclude:
                raise ValueError(f"`features` and `exclude` both have {name!r}; take it out of one of them")
            if name in taken:
                rest = [other for other in features if other not in taken]
                raise ValueError(
                    f"`features` has {name!r}, which is the `{taken[name]}`: a method would be told what it should "
                    f"find out or be blind to. Write {paste('features', rest)}"
                )
        return self

    @model_validator(mode="after")
    def _made_of_values(self) -> "Columns":
        for key, example in (("groups", ["a", "b"]), ("bins", [30, 60])):
            given = getattr(self, key)
            by_name = isinstance(given, Mapping) and set(given) <= set(self.sensitive)
            if given is not None and len(self.sensitive) > 1 and not by_name:
                way = paste(key, {self.sensitive[0]: example})
                raise ValueError(f"`{key}` needs the attribute's name where there are several: {way}, say")
        groups = self.of_attributes("groups")
        for attribute, each in groups.items():
            _check_groups(attribute, each)
        for attribute, bins in self.of_attributes("bins").items():
            if attribute in groups:
                raise ValueError(f"{attribute!r} has both `groups` and `bins`; one of them makes its groups")
            numbers = isinstance(bins, list) and bins and all(type(edge) in (int, float) for edge in bins)
            if not numbers or not all(low < high for low, high in itertools.pairwise(bins)):
                raise ValueError(f"`bins` are rising numbers, such as [30, 60], got {bins!r}")
        return self

    def of_attributes(self, key: str) -> dict[str, Any]:
        """Give `groups` or `bins` by attribute."""
        given = getattr(self, key)
        if given is None:
            return {}
        return given if len(self.sensitive) > 1 else {self.sensitive[0]: given}


def _check_groups(attribute: str, groups: Any) -> None:
    lists = list(groups.values()) if isinstance(groups, Mapping) else [groups]
    nested = not isinstance(groups, Mapping) and any(isinstance(each, list) for each in groups or ())
    if groups is None or nested or any(isinstance(each, Mapping) for each in lists):
        raise ValueError("`groups` are lists of values, by the name of their group: {f: [F, female], m: [M, male]}")
    named = [each for some in lists for each in some]
    if len(set(map(str, named))) < len(named):
        raise ValueError(f"`groups` of {attribute!r} name a value twice")
    if len(lists) < 2 and len(named) < 2:
        raise ValueError(f"`groups` of {attribute!r} are fewer than two; fairness needs two")


class Form(Model):
    """How a file is written; to be given only where it is not found from the content."""

    separator: str | None = None
    """What separates two cells: one character; a blank stands for any white space."""
    encoding: str | None = None
    """By default UTF-8 or UTF-16, or else Windows-1252."""
    comment: str | None = None
    """What lines of comment begin with; "" if there are none. By default # or %, where the file begins with it."""

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or not value.isascii() or value in '"\r\n\0'):
            raise ValueError(f"expected one character, such as ',' or ';' (a tab: \"\\t\"), got {value!r}")
        return value

    @field_validator("encoding")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        try:
            return value and codecs.lookup(value).name
        except LookupError:
            raise ValueError(
                f"expected an encoding that Python knows, such as utf-8 or cp1252, got {value!r}"
            ) from None


class FileOptions(Form):
    """A file, and its form."""

    file: PathText
    """Its path, relative to where Snakemake runs. It may be packed by gzip, bzip2, xz or zip."""
    header: bool | None = None
    """Whether the first row names the columns, which are called 0, 1, ... if not. By default the nodes have one unless
    the options name columns by number, and the edges where the first row names no nodes."""

    def with_header(self, key: str, header: bool) -> str:
        """Suggest the option that says whether there is a header."""
        return paste(key, self.model_dump(exclude_unset=True) | {"header": header})


AtPath = Annotated[FileOptions, BeforeValidator(lambda value: {"file": value} if isinstance(value, str) else value)]
