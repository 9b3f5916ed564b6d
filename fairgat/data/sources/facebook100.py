"""Friends at three colleges in 2005, from Facebook100 (Traud, Mucha and Porter, 2012), sensitive = gender.

Files: CUAI/Non-Homophily-Benchmarks, `data/facebook100/`. People whose gender is not known are left out. Features are a
0/1 column for each status, major, second major, dorm, year and high school. 0 in the files is not known, and no column.
"""

from pathlib import Path
from urllib.parse import quote

import numpy as np

from fairgat.config import Model
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.source import File, Scaling, github, scaled

NAMES = ONLY = ("reed98", "amherst41", "johns-hopkins55")
_REPOSITORY = ("CUAI/Non-Homophily-Benchmarks", "af14a88470d30b1dadd3803d911dfc1064bcf172")
_FILES = {  # each with its SHA-256
    "reed98": ("Reed98.mat", "d12ec74dc8c6e237385975b976c3709555a83629a1260be693fb688e3446070e"),
    "amherst41": ("Amherst41.mat", "3108e4b2edb01be05c5a61147583a40e61012820fff7eebe621dd26018caaf00"),
    "johns-hopkins55": ("Johns Hopkins55.mat", "fc7243bf257155df03afbc397ab34b5f8eb8e75f40cd1603398e207a033ef50f"),
}
_GENDER = 1  # the column of `local_info`


class Options(Model):
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    file, checksum = _FILES[name]
    return [File(f"facebook100/{file}", (github(*_REPOSITORY, f"data/facebook100/{quote(file)}"),), checksum)]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    from scipy.io import loadmat

    content = loadmat(folder / _FILES[name][0], variable_names=["A", "local_info"])
    people = np.flatnonzero(content["local_info"][:, _GENDER])
    info = content["local_info"][people].astype(np.int64)
    adjacency = content["A"][people][:, people]
    columns = [np.unique(values[values > 0]) == values[:, None] for values in np.delete(info, _GENDER, axis=1).T]
    genders, sensitive = np.unique(info[:, _GENDER], return_inverse=True)
    return Graph(
        features=scaled(np.concatenate(columns, axis=1), options.scaling),
        labels=sensitive.astype(np.int64),
        sensitive=sensitive.astype(np.int64),
        edge_index=symmetrise(np.stack(adjacency.nonzero()), len(people)),
        groups=tuple({"gender": str(gender)} for gender in genders),
    )
