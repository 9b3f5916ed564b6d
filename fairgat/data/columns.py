"""Make labels and features of the columns of a table that somebody wrote.

What is wrong with one is a DataError that names the line, and says what to write in the file or in config.yaml.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairgat.data.graph import UNLABELLED
from fairgat.data.options import REST, Columns, Value, flow, paste
from fairgat.data.reading import Column, Refused, Table, numbers
from fairgat.errors import nearest

MISSING = ("", "na", "n/a", "nan", "none", "null")  # how an empty cell is written, in any case
NEVER_NAMES = ("", "n/a", "nan", "null")  # those of them that nobody calls a group
MOST_CATEGORIES = 50  # a column of more different texts is hardly one of categories
MOST_GROUPS = 12
_UNIT = re.compile(r"([$€£¥]?)\s*(\S*\d\S*?)(?:\s*([%$€£¥])|\s+([^\W\d_]+))?")  # 70 kg, but not 1a
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def value_of(value: Value) -> Value:
    """Give what a cell is compared by: its number where it is one, so that 1 and 1.0 are one value, or else its text.

    Beyond 2^53, where several whole numbers are one float, numbers are compared as texts.
    """
    if "_" in str(value):  # Python reads 18_25 as 1825
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return number if abs(number) < 2**53 else str(value)


def other_case(unlisted: Iterable[Value], listed: Iterable[Value]) -> tuple[Value, Value] | None:
    """Find a value that differs from a listed one in case only; gives both."""
    folded = {str(value).casefold(): value for value in listed}
    return next(((value, folded[text]) for value in unlisted if (text := str(value).casefold()) in folded), None)


def labels(table: Table, options: Columns) -> np.ndarray:
    """Give each node its label, (R,): 1, 0, or UNLABELLED where the cell is empty or declared so."""
    assert options.label is not None  # the caller asks only for nodes with labels
    column = table.column(options.label)
    try:
        return _labels(column.texts, options)[column.codes]
    except Refused as error:
        text, wrong = error.text, error.wrong
    some = [each for each in column.texts[wrong].tolist() if each]
    candidates = []
    if len(some) <= MOST_GROUPS:
        candidates = [{"positive": [each]} for each in some if len(some) == 2 and not options.positive]
        for key, default in (("negative", 0), ("positive", 1)):
            given = getattr(options, key) or [default] * (default in map(value_of, column.texts))
            given = [value for value in given if value_of(value) not in map(value_of, some)]
            candidates.append({key: [*given, *some]})
        candidates += [{"unlabelled": [*options.unlabelled, *some[kept:]]} for kept in (0, 1)]
    working = _working(candidates, options, lambda changed: _labels(column.texts, changed))
    working = working or " Say so with `positive`, `negative` and `unlabelled`."
    raise table.error(f"{text}{working}", wrong[column.codes])


def _labels(texts: np.ndarray, options: Columns) -> np.ndarray:
    """Give each of the K texts its label."""
    values = [value_of(text) for text in texts]
    ones, zeros, none = (
        {value_of(value) for value in some} for some in (options.positive, options.negative, options.unlabelled)
    )
    declared = ones | zeros
    others = {str(value).lower() for value in set(values) - none if not isinstance(value, float)} - set(MISSING)
    gaps = [text for text in MISSING if text != "none" or others <= {"true", "false"}]  # else it may be an answer
    empty = [
        value in none or (text.lower() in gaps and value not in declared)
        for text, value in zip(texts, values, strict=True)
    ]
    rest = {value for value, no in zip(values, empty, strict=True) if not no} - declared
    if pair := other_case((value for value in values if value in rest), declared | none):
        key = next(key for key in ("positive", "negative", "unlabelled") if pair[1] in getattr(options, key))
        text = f"column {options.label!r} holds {pair[0]!r}, and `{key}` has {pair[1]!r}. Are they the same?"
        raise Refused(text, np.array([value == pair[0] for value in values]))
    if REST in declared:
        if absent := [value for value in (declared | none) - {REST} if value not in values]:
            raise Refused(
                f"the options list {some_of(absent[:1])}, and column {options.label!r} never holds it: whom it "
                f"means would be among all others; {nearest(str(absent[0]), texts)}. Correct it, or leave it out",
                np.ones(len(texts), bool),
            )
        (ones if REST in ones else zeros).update(rest)
    elif bool(ones) != bool(zeros):
        if len(rest) > 1:
            wrong = np.array([value in rest for value in values]) & ~np.array(empty)
            given, other = ("positive", "negative") if ones else ("negative", "positive")
            some = " and ".join(map(repr, texts[wrong][:5])) + (", ..." if wrong.sum() > 5 else "")
            raise Refused(
                f"besides the {given} values {some_of(declared)}, column {options.label!r} holds {some}. Which are "
                f"{other}, and which mean that the label is not known?",
                wrong,
            )
        (zeros if ones else ones).update(rest)
    ones, zeros = ones or {1.0}, zeros or {0.0}
    found = np.array(
        [UNLABELLED if no else 1 if v in ones else 0 if v in zeros else -2 for v, no in zip(values, empty, strict=True)]
    )
    if (found == -2).any():
        wrong = found == -2
        which = f"among the positive values {some_of(ones)} nor the negative {some_of(zeros)}"
        which = which if declared else "0 nor 1"
        some = ", ".join(map(repr, texts[wrong][:3])) + (", ..." if wrong.sum() > 3 else "")
        text = f"column {options.label!r} holds {some}: neither {which}. What does it mean?"
        raise Refused(text, wrong)
    known = sorted(set(found.tolist()) - {UNLABELLED})
    if len(known) < 2:
        which = f"every label is {known[0]}" if known else "nobody has a label"
        text = f"in column {options.label!r} {which}. Is `label` another column?"
        raise Refused(text, np.ones(len(texts), bool))
    return found.astype(np.int64)


def features(table: Table, names: Sequence[str], options: Columns) -> tuple[np.ndarray, dict[str, Any]]:
    """Make the (R, F) float64 features, and say how columns were read.

    A column without any number, or one among `categories`, becomes a column of zeros and ones for each of its texts;
    an empty cell has zeros in all of them.

    Returns:
        The features; and `names` (F) of them, and, by column, `one_hot` (how many columns its categories became),
        `units` (the sign that stood beside its numbers, such as %) and `filled` (its empty cells); `missing_nowhere`
        has the values declared as `missing` that no feature holds.
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    facts: dict[str, Any] = {"names": [], "one_hot": {}, "units": {}, "filled": {}}
    facts["missing_nowhere"] = options.missing
    for name in names:
        column = table.column(name)
        with table.refusing(column):
            parts.append((column.codes, _feature(name, column, options, facts)))
    result = np.empty((len(table), sum(part.shape[1] for _, part in parts)))
    start = 0
    for codes, part in parts:
        result[:, start : start + part.shape[1]] = part[codes]
        start += part.shape[1]
    return result, facts


def _feature(name: str, column: Column, options: Columns, facts: dict[str, Any]) -> np.ndarray:
    """Turn each of the K texts into its number, or into zeros and a one in the place of its category: (K, n)."""
    texts, gaps = column.texts, {value_of(value) for value in options.missing}
    declared = np.array([value_of(text) in gaps for text in texts])
    found = {value_of(text) for text in texts[declared]}
    facts["missing_nowhere"] = [value for value in facts["missing_nowhere"] if value_of(value) not in found]
    empty = (texts == "") | declared
    na = ~empty & np.array([text.lower() in MISSING for text in texts])
    values, unit = np.full(len(texts), np.nan), ""
    values[~(empty | na)], unit = numbers_of(texts[~(empty | na)], options)
    is_category = name in options.categories
    if not is_category and (np.isnan(values) & ~empty).sum() == (~empty).sum() > na.sum():
        _check_categories(name, column, empty, options)
        is_category = True
    if not is_category:  # elsewhere NA may be a name
        empty |= na
    if (gone := empty & ~declared).any() and not options.fill:
        raise Refused(
            f"column {name!r} is empty or NaN. Fill such cells with `fill: mean` or `fill: zero`, or leave the column "
            f"out with {_without(name, options)}",
            gone,
        )
    if empty.any():
        facts["filled"][name] = int(empty[column.codes].sum())
    if is_category:
        kept = np.flatnonzero(~empty)
        kept = kept[np.argsort(texts[kept])]
        facts["one_hot"][name] = len(kept)
        facts["names"] += [f"{name}={text}" for text in texts[kept]]
        return np.equal.outer(np.arange(len(texts)), kept).astype(np.float64)
    if unit:
        facts["units"][name] = unit
    _check_numbers(name, texts, values, empty, options)
    filled = 0.0
    if options.fill != "zero" and empty.any() and not empty.all():
        rows = values[column.codes]
        filled = rows[~empty[column.codes]].mean()
    values[empty] = filled
    facts["names"].append(name)
    return values[:, None]


def numbers_of(texts: np.ndarray, options: Columns) -> tuple[np.ndarray, str]:
    """Read texts as numbers, NaN where that fails, without a sign or unit that all of them have; and name it."""
    values = _parsed(texts, options.decimal, options.thousands)
    if not np.isnan(values).any():
        return values, ""
    unit, bare = "", texts.tolist()
    matches = [match for text in texts if (match := _UNIT.fullmatch(text))]
    if len(matches) == len(texts) and len(signs := {match[1] + (match[3] or match[4] or "") for match in matches}) == 1:
        unit, bare = signs.pop(), [match[2] for match in matches]
    grouped = [text for text in bare if _THOUSANDS.fullmatch(text)]
    if not options.thousands and any(text.count(",") > 1 or "." in text for text in grouped):  # 1,5 is not 15
        bare, unit = [text.replace(",", "") if text in set(grouped) else text for text in bare], f"{unit},"
    again = _parsed(bare, options.decimal, options.thousands)
    return (values, "") if np.isnan(again).any() else (again, unit)


def _parsed(texts: Iterable[str], decimal: str | None, thousands: str | None) -> np.ndarray:
    """Read numbers; NaN where a sign stands where it has no place, as in 1.5.2001 or in 1,5 with thousands."""
    decimal = decimal or ("," if thousands == "." else ".")
    if thousands:
        sign = re.escape(thousands)
        grouped = re.compile(rf"[+-]?\d{{1,3}}({sign}\d{{2,3}})*{sign}\d{{3}}(?!\d)[^{sign}]*")
        texts = [text.replace("\u00a0", " ").replace("\u202f", " ") for text in texts]
        texts = [text.replace(thousands, "") if grouped.fullmatch(text) else text for text in texts]
    if decimal == ",":
        texts = [text.replace(".", "?").replace(",", ".") for text in texts]
    return numbers(texts)


def _thousands_or_fractions(texts: np.ndarray) -> str | None:
    """Find a number that may be read in two ways: 12.500 beside 999, where no other point says which is meant."""
    pointed = [text for text in texts if "." in text]
    if not 0 < len(pointed) < len(texts) or any(len(text.lstrip("+-")) > 3 for text in texts if "." not in text):
        return None
    return pointed[0] if all(re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) for text in pointed) else None


def _check_categories(name: str, column: Column, empty: np.ndarray, options: Columns) -> None:
    """Refuse to take any column of texts for categories: it may hold names, or numbers written in another way."""
    texts = np.sort(column.texts[~empty])
    if options.decimal == "," and not np.isnan(numbers(texts)).any():
        raise Refused(
            f"column {name!r} holds {texts[0]!r}, a number with a point, and `decimal` is ','. Write all numbers in "
            f"one way, or, if these are categories, {paste('categories', [*options.categories, name])}",
            ~empty,
        )
    if working := _numbers_otherwise(texts, options):
        raise Refused(
            f"column {name!r} holds {texts[0]!r}; write numbers with a point, as 1.5, or say how they are "
            f"written:{working}",
            ~empty,
        )
    if len(texts) > MOST_CATEGORIES or MOST_GROUPS < len(texts) == (~empty[column.codes]).sum():
        raise Refused(
            f"column {name!r} holds {len(texts)} different texts, such as {texts[0]!r}. Leave it out with "
            f"{_without(name, options)}, or, if these are categories, write "
            f"{paste('categories', [*options.categories, name])}",
            ~empty,
        )


def _numbers_otherwise(texts: np.ndarray, options: Columns) -> str:
    """Suggest ways to write numbers by which all of these texts are some."""

    def check(changed: Columns) -> None:
        if np.isnan(values := numbers_of(texts, changed)[0]).any():
            raise Refused("not numbers", np.isnan(values))

    candidates = [{"decimal": ","}, *({"thousands": sign} for sign in (",", ".", "'", " "))]
    return _working(candidates, options, check)


def _check_numbers(name: str, texts: np.ndarray, values: np.ndarray, empty: np.ndarray, options: Columns) -> None:
    """Refuse texts that are not numbers, numbers that are too large, and those that may be read in two ways."""
    unread = np.isnan(values) & ~empty
    wrong = ~empty & ~(np.abs(values) <= np.finfo(np.float32).max)
    if unread.any():
        some = texts[unread].tolist()
        advice = "Correct it"
        if len(some) <= MOST_GROUPS:
            advice += f", declare what means an empty cell with {paste('missing', [*options.missing, *some])}"
        if otherwise := _numbers_otherwise(texts[~empty], options):
            advice += f", write{otherwise}"
        advice += f", write {paste('categories', [*options.categories, name])}, or leave it out with "
        advice += _without(name, options)
        raise Refused(f"column {name!r} holds {some[0]!r}, which is not a number. {advice}", unread)
    if wrong.any():
        text = f"column {name!r} is {texts[wrong][0]}, which is infinite or too large. {_without(name, options)}"
        raise Refused(f"{text} leaves it out", wrong)
    check_points(name, texts, empty, options)


def check_points(name: str, texts: np.ndarray, empty: np.ndarray, options: Columns) -> None:
    """Refuse numbers with points that may be read in two ways."""
    if not (options.decimal or options.thousands) and (example := _thousands_or_fractions(texts[~empty])):
        raise Refused(
            f"column {name!r} holds {example!r}, and numbers without a point. Are these thousands, "
            f"{paste('thousands', '.')}, or fractions, {paste('decimal', '.')}?",
            texts == example,
        )


def _without(name: str, options: Columns) -> str:
    """Suggest how to leave a column out of the features."""
    if options.features is None:
        return paste("exclude", [*options.exclude, name])
    return paste("features", [other for other in options.features if other != name])


def _working(candidates: Sequence[Mapping[str, Any]], options: Columns, check: Callable[[Columns], object]) -> str:
    """Write those of the changes to the options with which `check` refuses nothing, at most four."""
    working = []
    for change in candidates:
        try:
            check(options.model_copy(update=change))
        except Refused:
            continue
        working += [paste(key, value) for key, value in change.items()]
    working = list(dict.fromkeys(working))[:4]
    return f" {' or '.join(working)}" if working else ""


def some_of(values: Iterable[Value]) -> str:
    listed = [flow(value if isinstance(value, str) else f"{value:g}") for value in values]
    return ", ".join(listed[:10]) + (", ..." if len(listed) > 10 else "") or "(none declared)"
