"""Delimited files are read as pandas reads them; what is no such file is said once."""

import gzip

import pytest

from fairgat.data.delimited import read
from fairgat.data.roles import Delimited
from fairgat.errors import DataError

NODES = "person,age,job\na,20,x\nb,30,y\n"


@pytest.fixture
def table(tmp_path):
    def make(content, name="n.csv", texts=(), **options):
        (tmp_path / name).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
        return read(tmp_path / name, Delimited(file=name, read=options), texts)

    return make


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (NODES, {}),
        (NODES.replace(",", ", "), {}),
        ("\ufeff" + NODES, {}),
        (NODES.replace("\n", "\r\n"), {}),
        (NODES.replace("\n", "\r"), {}),
        (NODES.replace(",", ";"), {"sep": ";"}),
        (NODES.replace(",", "::"), {"sep": "::", "engine": "python"}),
        (NODES.encode("utf-16"), {"encoding": "utf-16"}),
        ("sep=,\n" + NODES, {"skiprows": 1}),
        ("# by hand\n" + NODES, {"comment": "#"}),
        ("by hand\n" + NODES, {"header": 1}),
        (NODES.split("\n", 1)[1], {"names": ["person", "age", "job"]}),
        (
            "".join(
                f"{row or ''},{line}\n" for row, line in enumerate(NODES.splitlines())
            ),
            {"index_col": 0},
        ),
        (
            "".join(
                f"{row or ''},{line}\n" for row, line in enumerate(NODES.splitlines())
            ),
            {"usecols": [1, 2, 3]},
        ),
        (
            NODES.replace("20", "2.0,0").replace(",", ";").replace("2.0;0", "2.0,0"),
            {"sep": ";", "decimal": ",", "thousands": "."},
        ),
    ],
)
def test_read_goes_to_pandas(table, content, options):
    frame = table(content, **options).frame
    assert frame.to_dict("list") == {
        "person": ["a", "b"],
        "age": [20, 30],
        "job": ["x", "y"],
    }
    assert list(frame.index) == [1, 2]


def test_dates_may_be_read_as_such(table):
    frame = table("person,born\na,2000-01-31\nb,\n", parse_dates=["born"]).frame
    assert frame["born"].dtype.kind == "M" and list(frame["person"]) == ["a", "b"]


def test_a_column_of_texts_is_one_whatever_it_holds(table):
    assert table("7,x\n007,y\n", header=None, texts=["0"]).frame.to_dict("list") == {
        "0": ["7", "007"],
        "1": ["x", "y"],
    }
    assert table("a,b\n1,01\n", texts=None).frame.to_dict("list") == {
        "a": ["1"],
        "b": ["01"],
    }
    assert len(table(gzip.compress(NODES.encode()), "n.csv.gz").frame) == 2
    assert list(table("job,job.1\nx,y\n").frame) == [
        "job",
        "job.1",
    ]  # as pandas names a second job


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("sep=;\n" + NODES, {}, "is not a delimited text file: it begins with b'sep=;"),
        (
            "%%MatrixMarket matrix coordinate real\n4 4 2\n",
            {},
            "is not a delimited text file",
        ),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", {}, "is not a delimited text file"),
        (gzip.compress(b"X\n", mtime=0), {}, "is not a delimited text file"),
        ('[{"person": "a"}]', {}, "is not a delimited text file"),
        (
            NODES.replace("x", "x\0"),
            {},
            r"is not a delimited text file: byte 22, in line 2, is 0x00\. Save it",
        ),
        (
            NODES + "c,40,z\n" * 1000 + "d,50,\x01\n",
            {},
            "is not a delimited text file: byte 7035, in line 1004, is 0x01",
        ),
        (
            NODES.replace("x", "x\ry"),
            {},
            "byte 22, in line 2, is a carriage return alone",
        ),
        (
            NODES.replace("x", '"x\ry"'),
            {},
            "byte 23, in line 2, is a carriage return alone",
        ),
        (
            NODES.encode("utf-16"),
            {},
            r"is not a delimited text file.*`read: \{encoding: utf-16\}`",
        ),
        (
            NODES.replace("x", "é").encode("latin-1"),
            {},
            "pandas does not read it: .*codec can't decode.*encoding: cp1252",
        ),
        ("", {}, "pandas does not read it: No columns"),
        ("person,age\n", {}, "there are no rows below the header"),
        (
            NODES.replace("b,30", "b,30,31"),
            {},
            "pandas does not read it: .*Expected 3 fields in line 3, saw 4",
        ),
        (
            NODES.replace("\n", ",9\n").replace("job,9", "job"),
            {},
            "pandas does not read it: Length of header or names",
        ),
        (NODES.replace("age", ""), {}, "column 2 has no name"),
        (NODES.replace("job", "age"), {}, "two columns are called 'age'"),
        (NODES.replace("job", "age"), {"header": 0}, "two columns are called 'age'"),
        (
            NODES,
            {"sepp": ";"},
            "pandas does not read it: .*unexpected keyword argument 'sepp'",
        ),
        (NODES, {"chunksize": 2}, "with this `read`, pandas gives no table"),
    ],
)
def test_what_is_no_table_is_refused_once(table, content, options, said):
    with pytest.raises(DataError, match=rf"^n\.csv:? {said}"):
        table(content, **options)


def test_a_file_of_one_column_says_how_it_was_read(table):
    said = r"no column 'age'; .* It has one column, read with `sep: '{}'`; see `read`"
    for content, options, sep in (
        (NODES.replace(",", ";"), {}, ","),
        (NODES, {"sep": ";"}, ";"),
    ):
        with pytest.raises(DataError, match=said.format(sep)):
            table(content, **options).column("age")


@pytest.mark.parametrize("read", [{"keep_default_na": False}, {"na_filter": False}])
def test_numbers_among_texts_are_read_with_their_marks(table, read):
    made = table(
        "id;income\na;2.433,5\nb;950\nc;\n", sep=";", decimal=",", thousands=".", **read
    )
    assert made.numbers("income").tolist() == pytest.approx(
        [2433.5, 950, float("nan")], nan_ok=True
    )


@pytest.mark.parametrize("engine", ["c", "python"])
def test_a_point_makes_no_number_where_the_decimal_mark_is_a_comma(table, engine):
    made = table(
        "id;income\na;999\nb;1.234\nc;12,5\n", sep=";", decimal=",", engine=engine
    )
    assert made.numbers("income").tolist() == pytest.approx(
        [999, float("nan"), 12.5], nan_ok=True
    )
