"""Damaged tables: each loads, or ends in a DataError that names the file and the row.

`FAIRGAT_MUTATIONS=10000 pytest tests/unit/data/test_mutated_tables.py` tries more.
"""

import gzip
import os
import random
import re

import pytest
from obtain import graph_of

from fairgat.data import datasets
from fairgat.errors import DataError

COUNT = int(os.environ.get("FAIRGAT_MUTATIONS", "300"))
PARTS = 4
PEOPLE = [3 * row for row in range(24)]


def nodes_csv():
    text = "person,income,age,job,paid,gender\n"
    for row, person in enumerate(PEOPLE):
        job = "abc"[row % 3]
        gender = "fm"[row % 4 > 2]
        paid = row % 7 % 3 - 1
        text += f"{person},{1000 + 31 * row % 17},{row % 5}.5,{job},{paid},{gender}\n"
    return text


def edges_csv():
    text = "from,to\n"
    for step in (1, 5):
        for row, person in enumerate(PEOPLE):
            text += f"{person},{PEOPLE[(row + step) % 24]}\n"
    return text


TABLES = {"nodes": nodes_csv(), "edges": edges_csv()}
OPTIONS = {
    "id": "person",
    "label": "paid",
    "positive": 1,
    "negative": 0,
    "unlabelled": -1,
    "sensitive": "gender",
    "categories": ["job"],
}
VARIANTS = [
    {},
    {
        "fill": "mean",
        "categories": ["job", "age"],
        "drop": ["unknown_ids", "self_loops"],
    },
    {
        "labelled_only": True,
        "largest_component": True,
        "drop": ["unknown_ids", "unknown_groups"],
        "scaling": "row",
    },
    {"groups": ["m", "f"], "exclude": ["job"], "categories": [], "scaling": "none"},
    {"sensitive": ["gender", "age"], "graph_features": ["degree", "constant"]},
    {
        "groups": {"f": ["f"], "others": "*"},
        "positive": "*",
        "drop": ["unknown_groups"],
    },
    {"id": None, "exclude": ["person"], "drop": ["unknown_ids", "self_loops"]},
    {
        "sensitive": "income",
        "features": ["age"],
        "bins": [1005, 1010],
        "fill": "zero",
        "unlabelled": [-1, ""],
    },
]
READS = [
    {},
    {"comment": "#"},
    {"decimal": ",", "keep_default_na": False},
    {"encoding": "latin-1", "thousands": ","},
]
SIGNS = ',;\t"\n\r\0 .?xémf02٣\ufeff\u2028'
WORDS = [
    "-1", "1e999", "1e39", "nan", "NA", "inf", "1_0", "1,5", "", "\n\n", "9" * 5000,
    "\n# ", "%", "$", "F", "f ", "1,234,567", "*", "0,1\n",
]  # fmt: skip
PIECES = [*SIGNS, *WORDS]

# A wrong cell is named with its row; the rest is about a whole file.
ROW = r"\(row \d+ of the data(, and \d+ more)?\)$"
WHOLE_FILE = "|".join(
    [
        "pandas does not read it",
        "is not a delimited",
        "there (is|are) no",
        "has no name",
        "two columns",
        "names two nodes",
        "groups are left",
        "which two of",
        "in other words",
        "no (edge|row|column)",
        r"byte \d+, in line \d+, is",
        "is nowhere '.*', which `",
        r"categories in \d+ rows",
    ]
)
SAID = rf"[ne]\.csv.*({ROW}|{WHOLE_FILE})|the labels are the sensitive groups"


def mutated(text, random):
    """Cut, repeat or overwrite a text in one to three places, as bytes.

    They may no longer be UTF-8.
    """
    raw = text.encode()
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(raw) + 1)
        end = min(len(raw), start + random.choice([0, 1, 1, 2, 5, 40]))
        piece = random.choice(PIECES).encode()
        byte = bytes([random.randrange(256)])
        everywhere = random.choice([b",", b"\n", b"1", b"f"])
        overwritten = raw[:start] + piece + raw[end:]
        damaged = [
            raw[:start],
            raw[:start] + byte + raw[end:],
            raw[:end] + raw[start:],
            *[overwritten] * 4,
            raw.replace(everywhere, piece),
        ]
        raw = random.choice(damaged)
    if random.random() < 0.03:
        return raw.decode("latin-1").encode("utf-16")
    return raw


def drawn(random):
    """Two tables, one of them damaged or both, and the options to read them with."""
    damaged = random.choice([("nodes",), ("edges",), ("nodes", "edges")])
    contents = {}
    for name, text in TABLES.items():
        is_damaged = name in damaged
        contents[name] = mutated(text, random) if is_damaged else text.encode()

    read = random.choice(READS)
    ending = ".csv"
    if random.random() < 0.05:
        ending = ".csv.gz"
        contents = {name: gzip.compress(raw) for name, raw in contents.items()}
        kept = len(contents["nodes"]) * random.choice([2, 3]) // 3
        contents["nodes"] = contents["nodes"][:kept]
    files = {
        "nodes": {"file": f"n{ending}", "read": read},
        "edges": {"file": f"e{ending}", "read": read},
    }
    return contents.values(), OPTIONS | random.choice(VARIANTS) | files


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_table_loads_or_is_refused_by_file_and_row(tmp_path, part):
    tried = range(part, COUNT, PARTS)
    loaded = 0
    for number in tried:
        tables, options = drawn(random.Random(number))
        try:
            graph = graph_of(tmp_path, *tables, **options)
            datasets._check_task(graph, "node_classification")
            loaded += 1
        except DataError as error:
            for line in str(error).splitlines()[:10]:
                assert re.match(SAID, line), f"mutation {number}: {line}"
        except Exception as error:
            raise AssertionError(f"mutation {number}: {error!r}") from error

    assert 0 < loaded < 0.95 * len(tried)
