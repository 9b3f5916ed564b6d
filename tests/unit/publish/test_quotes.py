"""Numbers of pages that are written by hand are those of the published files.

docs/quotes.csv has a line for each: `page`, its `words` with the number in braces, and
the `file`, `row` (COLUMN=VALUE; ...), `column` and `form` that it is from, or "none of
ours" for years, versions and the like. Code is left out.
"""

import csv
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]
NO_FILE = "none of ours"
NUMBER = re.compile(r"(?<![\w.])(?:\*\*[-+]?\d[\d.,]*\*\*|[-+]?\d+(?:[.,]\d+)*)")
with (ROOT / "docs/quotes.csv").open(encoding="utf-8", newline="") as lines:
    QUOTES = list(csv.DictReader(lines))
OURS = [quote for quote in QUOTES if quote["file"] != NO_FILE]


def percent(rows, column):
    return f"{100 * only(rows)[column]:.2f}"


def signed(rows, column):
    return f"{100 * only(rows)[column]:+.2f}"


def for_others(rows, column):
    """A difference ± half its interval for other people; bold if that leaves out 0."""
    row = only(rows)
    name = "corrected" if "corrected" in row else f"{column}_corrected"
    half = row[name]
    number = f"{100 * row[column]:+.2f}"
    if abs(row[column]) > half:
        number = f"**{number}**"
    return f"{number} ± {100 * half:.2f}"


def points(rows, column):
    return f"{only(rows)[column]:+.2f}"


def two_decimals(rows, column):
    return f"{only(rows)[column]:.2f}"


def changed(rows, column):
    """How many of these rows have another value in the column `other`."""
    is_other = rows[column] != rows["other"]
    return str(is_other.sum())


def number_of_rows(rows, _):
    return str(len(rows))


def total(rows, column):
    return f"{rows[column].sum():g}"


def first_printed(rows, column):
    """The first number in a cell of text, as it stands there."""
    return NUMBER.findall(only(rows)[column])[0]


def last_printed(rows, column):
    """The last number in a cell of text, as it stands there."""
    return NUMBER.findall(only(rows)[column])[-1]


def with_interval(rows, column):
    """The first three numbers in a cell of text: a median and its interval."""
    median, low, high, *_ = NUMBER.findall(only(rows)[column])
    return f"{median} ({low} to {high})"


FORMS = {
    "percent": percent,
    "signed": signed,
    "points": points,
    "two decimals": two_decimals,
    "changed": changed,
    "rows": number_of_rows,
    "for others": for_others,
    "total": total,
    "first printed": first_printed,
    "last printed": last_printed,
    "with interval": with_interval,
}


def only(rows):
    assert len(rows) == 1, rows
    return rows.iloc[0]


def parts(quote):
    """The words before the number, the number, and those after it."""
    return re.fullmatch(r"(.*)\{(.+)\}(.*)", quote["words"]).groups()


def shown(page):
    """The text of a page in one line, without code, comments and addresses of links."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.M | re.S)
    text = re.sub(r"\]\([^)]*\)|\[", "", text)
    return " ".join(text.split())


@pytest.mark.skipif(
    not (ROOT / "results/reference").exists(),
    reason="results/reference is missing: git checkout results/reference",
)
@pytest.mark.parametrize("quote", OURS, ids=[quote["words"] for quote in OURS])
def test_a_quoted_number_is_its_files(quote):
    rows = pd.read_csv(ROOT / quote["file"])
    for condition in quote["row"].split("; "):
        column, _, value = condition.partition("=")
        rows = rows[rows[column].astype(str) == value]
    _, number, _ = parts(quote)
    assert number == FORMS[quote["form"]](rows, quote["column"])


@pytest.mark.parametrize("page", sorted({quote["page"] for quote in QUOTES}))
def test_quotes_and_pages_have_the_same_numbers(page):
    text = shown(page)
    quoted = set()  # places of the signs of quoted numbers
    for quote in QUOTES:
        if quote["page"] != page:
            continue
        before, number, after = parts(quote)
        words = re.escape(before + number + after)
        found = [match.start() + len(before) for match in re.finditer(words, text)]
        assert found, f"{page} lacks what docs/quotes.csv quotes: {quote['words']}"
        for start in found:
            quoted.update(range(start, start + len(number)))

    unlisted = []
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if not quoted.issuperset(range(start, end)):
            unlisted.append(text[max(start - 30, 0) : end + 20])
    assert not unlisted, "docs/quotes.csv has no line for these numbers"
