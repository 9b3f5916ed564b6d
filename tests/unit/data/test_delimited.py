"""Delimited files are read as pandas reads them; what is no such file is said once."""

import gzip
import math

import pytest
from obtain import write

from fairgat.data.delimited import read
from fairgat.data.roles import Delimited
from fairgat.errors import DataError

NODES = "person,age,job\na,20,x\nb,30,y\n"
NUMBERED = ",person,age,job\n1,a,20,x\n2,b,30,y\n"


@pytest.fixture
def table(tmp_path):
    """Write a table, and read it with these options of pandas."""

    def make(content, name="n.csv", texts=(), **options):
        write(tmp_path / name, content)
        return read(tmp_path / name, Delimited(file=name, read=options), texts)

    return make


SPELLINGS = {
    "plain": (NODES, {}),
    "blanks": (NODES.replace(",", ", "), {}),
    "a mark of its encoding": ("\ufeff" + NODES, {}),
    "Windows' lines": (NODES.replace("\n", "\r\n"), {}),
    "old Macs' lines": (NODES.replace("\n", "\r"), {}),
    "semicolons": (NODES.replace(",", ";"), {"sep": ";"}),
    "with nothing said of types": (NODES, {"dtype": None}),
    "semicolons by their other name": (NODES.replace(",", ";"), {"delimiter": ";"}),
    "two signs between": (NODES.replace(",", "::"), {"sep": "::", "engine": "python"}),
    "another encoding": (NODES.encode("utf-16"), {"encoding": "utf-16"}),
    "a line of Excel's": ("sep=,\n" + NODES, {"skiprows": 1}),
    "a comment": ("# by hand\n" + NODES, {"comment": "#"}),
    "a header below": ("by hand\n" + NODES, {"header": 1}),
    "no header": ("a,20,x\nb,30,y\n", {"names": ["person", "age", "job"]}),
    "numbered rows": (NUMBERED, {"index_col": 0}),
    "some columns": (NUMBERED, {"usecols": [1, 2, 3]}),
    "a comma in numbers": (
        "person;age;job\na;20,0;x\nb;30;y\n",
        {"sep": ";", "decimal": ",", "thousands": "."},
    ),
}


@pytest.mark.parametrize(("content", "options"), SPELLINGS.values(), ids=SPELLINGS)
def test_one_table_is_read_however_it_is_written(table, content, options):
    frame = table(content, **options).frame

    assert frame["person"].tolist() == ["a", "b"]
    assert frame["age"].tolist() == [20, 30]
    assert frame["age"].dtype.kind in "if"
    assert frame["job"].tolist() == ["x", "y"]
    assert list(frame.columns) == ["person", "age", "job"]
    assert list(frame.index) == [1, 2]


def test_dates_may_be_read_as_such(table):
    frame = table("person,born\na,2000-01-31\nb,\n", parse_dates=["born"]).frame

    assert frame["born"].dtype.kind == "M"
    assert list(frame["person"]) == ["a", "b"]


def test_a_date_that_is_empty_is_no_number(table):
    made = table("person,born\na,2000-01-31\nb,\n", parse_dates=["born"])
    assert math.isnan(made.numbers("born")[1])


@pytest.mark.parametrize("types", [{"id": int, "age": float}, "float"])
def test_types_of_other_columns_leave_texts_as_they_are(table, types):
    made = table("id,age\n007,20\n", texts=["id"], dtype=types)
    assert made.frame.iloc[0].tolist() == ["007", 20.0]
    assert made.frame["age"].dtype == float


def test_a_column_of_texts_is_one_whatever_it_holds(table):
    frame = table("7,x\n007,y\n", header=None, texts=["0"]).frame
    assert frame["0"].tolist() == ["7", "007"]


@pytest.mark.parametrize("types", [{}, {"dtype": "int"}])
def test_all_columns_may_be_of_texts(table, types):
    frame = table("a,b\n1,01\n", texts=None, **types).frame
    assert frame.iloc[0].tolist() == ["1", "01"]


def test_a_blank_line_is_an_empty_cell_where_there_is_one_column(table):
    made = table("sex\nf\n\nm\n", texts=["sex"])
    assert made.texts("sex").tolist() == ["f", "", "m"]


def test_a_blank_line_among_several_columns_is_none_of_their_rows(table):
    assert len(table("\n" + NODES.replace("b,", "\nb,") + "\n").frame) == 2


def test_a_packed_file_is_read(table):
    packed = gzip.compress(NODES.encode())
    assert len(table(packed, "n.csv.gz").frame) == 2


def test_a_column_may_be_called_as_pandas_names_a_second_one(table):
    frame = table("job,job.1\nx,y\n").frame
    assert list(frame) == ["job", "job.1"]


NO_TEXT = "is not a delimited text file"
NOT_READ = "pandas does not read it: "
REFUSED = {
    "a line of Excel's": ("sep=;\n" + NODES, {}, f"{NO_TEXT}: it begins with b'sep=;"),
    "a matrix": ("%%MatrixMarket matrix coordinate real\n4 4 2\n", {}, NO_TEXT),
    "NumPy's": (b"\x93NUMPY\x01\x00v\x00{'descr'", {}, NO_TEXT),
    "packed": (gzip.compress(b"X\n", mtime=0), {}, NO_TEXT),
    "JSON": ('[{"person": "a"}]', {}, NO_TEXT),
    "a zero byte": (
        NODES.replace("x", "x\0"),
        {},
        rf"{NO_TEXT}: byte 22, in line 2, is 0x00\. Save it",
    ),
    "a byte of control far below": (
        NODES + "c,40,z\n" * 1000 + "d,50,\x01\n",
        {},
        f"{NO_TEXT}: byte 7035, in line 1004, is 0x01",
    ),
    "a carriage return": (
        NODES.replace("x", "x\ry"),
        {},
        "byte 22, in line 2, is a carriage return alone",
    ),
    "a carriage return in quotes": (
        NODES.replace("x", '"x\ry"'),
        {},
        "byte 23, in line 2, is a carriage return alone",
    ),
    "UTF-16": (
        NODES.encode("utf-16"),
        {},
        rf"{NO_TEXT}.*`read: \{{encoding: utf-16\}}`",
    ),
    "Latin 1": (
        NODES.replace("x", "é").encode("latin-1"),
        {},
        f"{NOT_READ}.*codec can't decode.*encoding: cp1252",
    ),
    "empty": ("", {}, f"{NOT_READ}No columns"),
    "only a header": ("person,age\n", {}, "there are no rows below the header"),
    "a cell too many": (
        NODES.replace("b,30", "b,30,31"),
        {},
        f"{NOT_READ}.*Expected 3 fields in line 3, saw 4",
    ),
    "a cell too many in all rows": (
        "person,age,job\na,20,x,9\nb,30,y,9\n",
        {},
        f"{NOT_READ}Length of header or names",
    ),
    "no name": (NODES.replace("age", ""), {}, "column 2 has no name"),
    "one name twice": (NODES.replace("job", "age"), {}, "two columns are called 'age'"),
    "one name twice, in row 0": (
        NODES.replace("job", "age"),
        {"header": 0},
        "two columns are called 'age'",
    ),
    "an unknown option": (
        NODES,
        {"sepp": ";"},
        f"{NOT_READ}.*unexpected keyword argument 'sepp'",
    ),
    "an option for parts": (
        NODES,
        {"chunksize": 2},
        "with this `read`, pandas gives no",
    ),
}


@pytest.mark.parametrize(("content", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_is_refused_once(table, content, options, said):
    with pytest.raises(DataError, match=rf"^n\.csv:? {said}"):
        table(content, **options)


@pytest.mark.parametrize(
    ("content", "options", "sep"),
    [
        (NODES.replace(",", ";"), {}, ","),
        (NODES, {"sep": ";"}, ";"),
        (NODES, {"delimiter": ";"}, ";"),
    ],
    ids=["semicolons", "commas", "commas, by the other name of `sep`"],
)
def test_a_file_of_one_column_says_how_it_was_read(table, content, options, sep):
    made = table(content, **options)

    said = (
        f"no column 'age'; .* It has one column, read with `sep: '{sep}'`; see `read`"
    )
    with pytest.raises(DataError, match=said):
        made.column("age")


@pytest.mark.parametrize("read", [{"keep_default_na": False}, {"na_filter": False}])
def test_numbers_among_texts_are_read_with_their_marks(table, read):
    content = "id;income\na;2.433,5\nb;950\nc;\n"
    made = table(content, sep=";", decimal=",", thousands=".", **read)

    found = made.numbers("income").tolist()
    assert found == pytest.approx([2433.5, 950, math.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("text", "marks", "number"),
    [
        ("1,234", {"thousands": ","}, 1234),
        ("-12,34,567.5", {"thousands": ","}, -1234567.5),
        ("12,5", {"thousands": ","}, math.nan),
        ("1,2345", {"thousands": ","}, math.nan),
        ("1,,234", {"thousands": ","}, math.nan),
        ("1.5,234", {"thousands": ","}, math.nan),
        ("12.5", {"thousands": ".", "decimal": ","}, math.nan),
        ("1.234,5", {"thousands": ".", "decimal": ","}, 1234.5),
        ("1\u202f234,5", {"thousands": " ", "decimal": ","}, 1234.5),
        ("1\xa0234", {"thousands": "\u202f"}, 1234),
        ("1'234", {"thousands": "'"}, 1234),
        ("1.234", {"thousands": "."}, 1234),
        ("12.5", {"thousands": "."}, math.nan),
    ],
)
def test_thousands_are_marked_where_they_stand(table, text, marks, number):
    """In any other place the mark is more likely one of decimals: 12,5 is not 125."""
    made = table(f"id;income\na;{text}\nb;7\n", sep=";", **marks)
    found = made.numbers("income").tolist()
    assert found == pytest.approx([number, 7], nan_ok=True)


@pytest.mark.parametrize("thousands", ["", ", ", 1])
def test_thousands_have_one_mark(table, thousands):
    with pytest.raises(DataError, match="`thousands` is one character"):
        table(NODES, thousands=thousands)


@pytest.mark.parametrize("engine", ["c", "python"])
def test_a_point_makes_no_number_where_the_decimal_mark_is_a_comma(table, engine):
    content = "id;income\na;999\nb;1.234\nc;12,5\n"
    made = table(content, sep=";", decimal=",", engine=engine)

    found = made.numbers("income").tolist()
    assert found == pytest.approx([999, math.nan, 12.5], nan_ok=True)
