"""Make the sensitive groups: of one attribute's values, or of the combinations of several.

What is wrong with a column is a DataError that names the line, and says what to write in the file or in config.yaml.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairgat.data.columns import (
    MISSING,
    MOST_GROUPS,
    NEVER_NAMES,
    check_points,
    numbers_of,
    other_case,
    some_of,
    value_of,
)
from fairgat.data.options import REST, Columns, Value, paste
from fairgat.data.reading import Column, Refused, Table
from fairgat.errors import nearest


def groups(table: Table, options: Columns) -> tuple[np.ndarray, list[dict[str, str]]]:
    """Give each node its sensitive group, (R,), and each group its attributes' values.

    With several attributes the groups are the combinations that occur, in the order of the first attribute's values,
    then of the second's.

    Returns:
        Numbers 0 .. S-1, -1 where a node has no group and may be left out; `{attribute: value}` for each group.
    """
    codes, values = [], []
    for attribute in options.sensitive:
        column = table.column(attribute)
        with table.refusing(column):
            found, names = _values(column, attribute, options)
        codes.append(found[column.codes])
        values.append(names)
    known = np.min(codes, axis=0) >= 0
    total = np.ravel_multi_index([each[known] for each in codes], [len(names) for names in values])
    occurring, numbers = np.unique(total, return_inverse=True)
    combinations = list(itertools.product(*values))
    named = [dict(zip(options.sensitive, combinations[number], strict=True)) for number in occurring]
    if len(named) < 2:
        raise table.error(
            f"in column {options.sensitive[0]!r} all nodes are in one group, or in none; fairness needs two. Is "
            "`sensitive` another?"
        )
    if len(named) > MOST_GROUPS and len(options.sensitive) > 1:
        sizes = ", ".join(f"{name} {len(each)}" for name, each in zip(options.sensitive, values, strict=True))
        raise table.error(
            f"{len(named)} combinations of {' and '.join(options.sensitive)} occur ({sizes} values), and groups should "
            f"be {MOST_GROUPS} at most. {_fewer(options, [each[known] for each in codes], values)}"
        )
    result = np.full(len(table), -1, dtype=np.int64)
    result[known] = numbers
    return result, named


def _fewer(options: Columns, codes: list[np.ndarray], values: list[list[str]]) -> str:
    """Suggest leaving out the attribute with the most values, or merging them, where that is enough."""
    largest = max(range(len(values)), key=lambda place: len(values[place]))
    others = [each for place, each in enumerate(codes) if place != largest]
    name, first = options.sensitive[largest], values[largest][0]
    ways = []
    if len(np.unique(others, axis=1).T) <= MOST_GROUPS:
        kept = [each for each in options.sensitive if each != name]
        ways.append(f"leave an attribute out, {paste('sensitive', kept)}")
    few = len(np.unique([*others, codes[largest] > 0], axis=1).T) <= MOST_GROUPS
    if few and name not in {**options.of_attributes("bins"), **options.of_attributes("groups")}:
        ways.append(f"merge values, {_suggested(options, name, {first: [first], 'others': REST})}, say")
    return f"You can {' or '.join(ways)}" if ways else "Leave attributes out of `sensitive`, or merge their values"


def _suggested(options: Columns, attribute: str, value: Any, key: str = "groups") -> str:
    """Suggest `groups` or `bins` of an attribute, by its name where there are several."""
    return paste(key, value if len(options.sensitive) == 1 else options.of_attributes(key) | {attribute: value})


def _values(column: Column, attribute: str, options: Columns) -> tuple[np.ndarray, list[str]]:
    """Number each of the K texts by the attribute's value that it is, -1 for none; and name the values."""
    texts, allowed = column.texts, "unknown_groups" in options.drop
    dropped = paste("drop", [*options.drop, "unknown_groups"])
    given, bins = (options.of_attributes(key).get(attribute) for key in ("groups", "bins"))
    is_missing, never = (np.isin([text.lower() for text in texts], some) for some in (MISSING, NEVER_NAMES))
    values, gaps = [value_of(text) for text in texts], {value_of(value) for value in options.missing}
    numeric = all(isinstance(value, float) for value, gap in zip(values, is_missing, strict=True) if not gap)
    numeric &= not is_missing.all()
    empty = is_missing if numeric or bins else never  # NA may be a name: of a continent, say
    if bins:
        empty = empty | np.array([value in gaps for value in values])
    listed = given.values() if isinstance(given, Mapping) else [given or []]
    empty = empty & ~np.isin(texts, [str(value) for some in listed for value in some])
    if empty.any() and not allowed:
        what = "empty, NaN or `missing`" if bins and gaps else "empty or NaN"
        raise Refused(f"column {attribute!r} is {what}. Leave such nodes out with {dropped}, or correct it", empty)
    if bins:
        numbers = np.full(len(texts), np.nan)
        numbers[~empty], _ = numbers_of(texts[~empty], options)
        check_points(attribute, texts, empty, options)
        if (wrong := np.isnan(numbers) & ~empty).any():
            raise Refused(f"column {attribute!r} is {texts[wrong][0]!r}, which is not a number, and has `bins`", wrong)
        edges = [f"{edge:g}" for edge in bins]
        middle = [f"{low} to below {high}" for low, high in itertools.pairwise(edges)]
        names = [f"below {edges[0]}", *middle, f"{edges[-1]} and above"]
        return np.where(empty, -1, np.digitize(numbers, bins)), names
    key = value_of if numeric else str
    if given is None:
        read = numbers_of(texts[~empty], options)[0] if numeric or options.decimal or options.thousands else None
        _check_number_of_groups(
            column, attribute, None if read is None or np.isnan(read).any() else read, empty, options
        )
        different = {key(text): text for text in sorted(texts[~empty], key=lambda text: (key(text), -len(text)))}
        given = list(different.values())
    lists = given if isinstance(given, Mapping) else {str(value): [value] for value in given}
    place = {key(value): number for number, some in enumerate(lists.values()) for value in some}
    rest = place.get(REST, -1)
    found = np.array([-1 if no else place.get(key(text), rest) for text, no in zip(texts, empty, strict=True)])
    held = set(map(key, texts))
    if rest >= 0 and (absent := [value for value in place if value != REST and value not in held]):
        raise Refused(
            f"`groups` lists {absent[0]!r}, and column {attribute!r} never holds it: whom it means would be in the "
            f"group of all others; {nearest(str(absent[0]), texts)}. Correct it, or leave it out",
            np.ones(len(texts), bool),
        )
    unknown = (found < 0) & ~empty
    if not allowed or rest >= 0:
        _check_case(attribute, [text for text in texts[~empty] if key(text) not in place], texts, lists, options)
    if unknown.any() and not allowed:
        more = list(dict.fromkeys(texts[unknown]))
        occurring = {name: [value for value in some if key(value) in held] for name, some in lists.items()}
        named = {name: some for name, some in occurring.items() if some}
        longer = named | {"others": REST} if isinstance(given, Mapping) else [*given, *more]
        leave = f", or leave such nodes out with {dropped}" if len(set(found[found >= 0].tolist())) > 1 else ""
        raise Refused(
            f"{attribute} is {texts[unknown][0]!r}, which is not among the groups {some_of(place)}. Add it, "
            f"{_suggested(options, attribute, longer)}{leave}",
            unknown,
        )
    return found, list(lists)


def _check_case(
    attribute: str, unlisted: list[str], texts: np.ndarray, lists: Mapping[str, list[Value]], options: Columns
) -> None:
    """Refuse a text that differs in case only from one that `groups` lists: it would be another value."""
    if pair := other_case(unlisted, (value for some in lists.values() for value in some)):
        text, listed = pair
        one = {name: [*some, text] if listed in some else some for name, some in lists.items()}
        apart = {name: [*some, text] if REST in some else some for name, some in lists.items()}
        if apart == lists:
            apart[str(text)] = [text]
        raise Refused(
            f"{attribute} is {text!r}, and `groups` has {listed!r}. Are they one group, "
            f"{_suggested(options, attribute, one)}, or not, {_suggested(options, attribute, apart)}?",
            texts == text,
        )


def _check_number_of_groups(
    column: Column, attribute: str, numbers: np.ndarray | None, empty: np.ndarray, options: Columns
) -> None:
    """Refuse to make a group of every text where there are many, or where they differ in case only.

    Args:
        numbers: those that the texts which are not empty stand for; None where they are no numbers.
    """
    texts = column.texts[~empty]
    alike: dict[str, list[str]] = {}
    for text in sorted(texts):
        alike.setdefault(text.casefold(), []).append(text)
    if numbers is None and len(alike) < len(texts) and len(alike) > 1:
        example = next(some for some in alike.values() if len(some) > 1)
        raise Refused(
            f"column {attribute!r} holds {some_of(example)}. Are they one group, "
            f"{_suggested(options, attribute, alike)}, or several, {_suggested(options, attribute, sorted(texts))}?",
            np.isin(column.texts, example),
        )
    count = len(texts) if numbers is None else len(np.unique(numbers))
    if count <= MOST_GROUPS:
        return
    if numbers is not None:
        every = np.full(len(column.texts), np.nan)
        every[~empty] = numbers
        rows = every[column.codes]
        cuts = np.unique([float(f"{cut:.3g}") for cut in np.nanquantile(rows, [1 / 3, 2 / 3])])
        cuts = cuts[(cuts > np.nanmin(rows)) & (cuts <= np.nanmax(rows))]
        cuts = cuts if len(cuts) else np.array([np.nanmax(rows)])
        bins = [int(cut) if cut == int(cut) else float(cut) for cut in cuts]
        advice = f"Cut it into ranges, {_suggested(options, attribute, bins, 'bins')}, say"
    else:
        common = texts[np.argmax(np.bincount(column.codes, minlength=len(column.texts))[~empty])]
        advice = f"Merge values, {_suggested(options, attribute, {common: [common], 'others': REST})}, say"
    raise Refused(
        f"column {attribute!r} holds {count} different values, and groups should be {MOST_GROUPS} at most. {advice}, "
        "or list all that should be groups in `groups`",
        ~empty,
    )
