"""Damaged tables: each still loads, or ends in a DataError that names the file, and the row of a cell; no traceback.

`FAIRGAT_MUTATIONS=10000 pytest tests/unit/data/test_mutated_tables.py` tries more of them.
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
PEOPLE = [f"{3 * row}" for row in range(24)]
NODES = "person,income,age,job,paid,gender\n" + "".join(
    f"{person},{1000 + 31 * row % 17},{row % 5}.5,{'abc'[row % 3]},{row % 7 % 3 - 1},{'fm'[row % 4 > 2]}\n"
    for row, person in enumerate(PEOPLE)
)
EDGES = "from,to\n" + "".join(
    f"{PEOPLE[row]},{PEOPLE[(row + step) % 24]}\n"
    for step in (1, 5)
    for row in range(24)
)
OPTIONS = {
    "id": "person",
    "label": "paid",
    "positive": 1,
    "negative": 0,
    "unlabelled": -1,
    "sensitive": "gender",
}
OPTIONS |= {"categories": ["job"]}
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
PIECES = [
    *',;\t"\n\r\0 .?xémf02٣\ufeff\u2028',
    "-1",
    "1e999",
    "1e39",
    "nan",
    "NA",
    "inf",
    "1_0",
    "1,5",
]
PIECES += [
    "",
    "\n\n",
    "9" * 5000,
    "\n# ",
    "%",
    "$",
    "F",
    "f ",
    "1,234,567",
    "*",
    "0,1\n",
]


# A wrong cell is named with its row; the rest is about a whole file.
WHOLE = "pandas does not read it|is not a delimited|there (is|are) no|has no name|two columns|names two nodes"
WHOLE += "|groups are left|which two of|in other words|no (edge|row|column)"
WHOLE += r"|byte \d+, in line \d+, is|is nowhere '.*', which `|categories in \d+ rows"
NAMED = rf"[ne]\.csv.*(\(row \d+ of the data(, and \d+ more)?\)$|{WHOLE})|the labels are the sensitive groups"


def mutated(text, random):
    """Cut, repeat or overwrite a text in one to three places; as bytes, which may no longer be UTF-8."""
    raw = text.encode()
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(raw) + 1)
        end = min(len(raw), start + random.choice([0, 1, 1, 2, 5, 40]))
        piece, byte = random.choice(PIECES).encode(), bytes([random.randrange(256)])
        overwritten = raw[:start] + piece + raw[end:]
        damaged = [
            raw[:start],
            raw[:start] + byte + raw[end:],
            raw[:end] + raw[start:],
            *[overwritten] * 4,
        ]
        raw = random.choice(
            [*damaged, raw.replace(random.choice([b",", b"\n", b"1", b"f"]), piece)]
        )
    return raw.decode("latin-1").encode("utf-16") if random.random() < 0.03 else raw


@pytest.mark.parametrize("part", range(4))
def test_a_damaged_table_loads_or_is_refused_by_file_and_line(tmp_path, part):
    loaded = 0
    for number in range(part, COUNT, 4):
        choice = random.Random(number)
        contents, damaged = (
            [],
            choice.choice([("nodes",), ("edges",), ("nodes", "edges")]),
        )
        for name, text in (("nodes", NODES), ("edges", EDGES)):
            content = mutated(text, choice) if name in damaged else text.encode()
            contents.append(content)
        read, packed = choice.choice(READS), ".gz" if choice.random() < 0.05 else ""
        files = {
            kind: {"file": f"{kind[0]}.csv{packed}", "read": read}
            for kind in ("nodes", "edges")
        }
        if packed:
            contents = [gzip.compress(content) for content in contents]
            contents[0] = contents[0][: len(contents[0]) * choice.choice([2, 3]) // 3]
        try:
            graph = graph_of(
                tmp_path, *contents, **OPTIONS | choice.choice(VARIANTS) | files
            )
            datasets._check_task(graph, "node_classification")
            loaded += 1
        except DataError as error:
            first, *others = str(error).splitlines()
            assert all(re.match(NAMED, line) for line in [first, *others[:9]]), (
                number,
                str(error),
            )
        except Exception as error:
            raise AssertionError(f"mutation {number}: {error!r}") from error
    assert 0 < loaded / (COUNT / 4) < 0.95
