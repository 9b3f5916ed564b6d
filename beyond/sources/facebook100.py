"""Friends at three colleges in 2005, sensitive = gender.

From Facebook100 (Traud, Mucha and Porter, 2012), files: CUAI/Non-Homophily-Benchmarks,
`data/facebook100/`. People whose gender is not known are left out. Features are a 0/1
column for each status, major, second major, dorm, year and high school. 0 in the files
is not known, and no column.
"""

from pathlib import Path
from urllib.parse import quote

import numpy as np

from fairgat.config import Model
from fairgat.data import own
from fairgat.data.edges import Edges
from fairgat.data.graph import Graph
from fairgat.data.roles import Roles
from fairgat.data.source import File, Scaling, github
from fairgat.data.table import Table

NAMES = ONLY = ("reed98", "amherst41", "johns-hopkins55")
_REPOSITORY = (
    "CUAI/Non-Homophily-Benchmarks",
    "af14a88470d30b1dadd3803d911dfc1064bcf172",
)
_FILES = {  # each with its SHA-256
    "reed98": (
        "Reed98.mat",
        "d12ec74dc8c6e237385975b976c3709555a83629a1260be693fb688e3446070e",
    ),
    "amherst41": (
        "Amherst41.mat",
        "3108e4b2edb01be05c5a61147583a40e61012820fff7eebe621dd26018caaf00",
    ),
    "johns-hopkins55": (
        "Johns Hopkins55.mat",
        "fc7243bf257155df03afbc397ab34b5f8eb8e75f40cd1603398e207a033ef50f",
    ),
}
_COLUMNS = ("status", "gender", "major", "second major", "dorm", "year", "high school")


class Options(Model):
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    file, checksum = _FILES[name]
    url = github(*_REPOSITORY, f"data/facebook100/{quote(file)}")
    return [File(f"facebook100/{file}", url, checksum)]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    import pandas as pd
    from scipy.io import loadmat

    file = files(name, options)[0].basename
    content = loadmat(folder / file, variable_names=["A", "local_info"])
    values = content["local_info"].astype(object)
    people = pd.DataFrame(values, columns=list(_COLUMNS)).replace(0, None)
    nodes = Table(people, file)
    ends = content["A"].nonzero()
    pairs = np.stack(ends, axis=1).astype(np.int64)
    edges = Edges(pairs, nodes.where, {"edge_columns": "the matrix 'A'"})

    categories = tuple(column for column in _COLUMNS if column != "gender")
    roles = Roles(
        sensitive=("gender",),
        categories=categories,
        fill="zero",
        drop=("unknown_groups",),
        scaling=options.scaling,
    )
    return own.assemble(roles, nodes, edges)
