"""Pokec-z and Pokec-n: users of a Slovak social network in two major regions each, joined by friendship.

Files: FairGNN (Dai and Wang, 2021), `dataset/pokec/`, sampled from Takac and Zabovsky's Pokec of 2012. Sensitive:
region. Label: whether I_am_working_in_field is above 0; -1 is unlabelled. We never had the whole files: they are known
by git's ids of their contents, which the tree of the repository lists.
"""

from pathlib import Path

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.options import REST, Texts
from fairgat.data.source import File, Scaling, github
from fairgat.data.sources import tables

NAMES = ("pokec-z", "pokec-n")
_REPOSITORY = ("EnyanDai/FairGNN", "13cdca7627d7779a2396299cdc8edd3a790db7cc")
_BLOBS = {
    "region_job.csv": "c50552a998e224f9ee214fff80c249fb5cf40bf9",
    "region_job_relationship.txt": "0b346e3a3d8f42b4eb489984cbc178f3988b0eeb",
    "region_job_2.csv": "7f836f487358af4f0cbbb2b1204e41810a45cc74",
    "region_job_2_relationship.txt": "d0a0833805331cffb09a03820e70066990f15c10",
}
_STEM = {"pokec-z": "region_job", "pokec-n": "region_job_2"}


class Options(Model):
    sensitive: Texts = ("region",)
    """Column of the sensitive attribute, or several, of which the combinations that occur are the groups."""
    scaling: Scaling = "min_max"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    stem = _STEM[name]
    return [
        File(f"pokec/{file}", urls=(github(*_REPOSITORY, f"dataset/pokec/{file}"),), blob=_BLOBS[file])
        for file in (f"{stem}.csv", f"{stem}_relationship.txt")
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Take the largest connected component of the subgraph that the labelled users induce, in the file's order.

    Features: every column but user_id, region and label. An empty cell counts as 0, which is how the files write an
    unknown age.

    Raises:
        DataError: the files are malformed.
    """
    users, ties = (file.basename for file in files(name, options))
    return tables.make(_form(users, ties, options), folder / users, folder / ties)


def _form(users: str, ties: str, options: Options) -> tables.Options:
    """How the files are written and what is made of them."""
    return tables.Options(
        nodes={"file": users, "separator": ","},
        edges={"file": ties, "header": False},
        id="user_id",
        label="I_am_working_in_field",
        positive=REST,
        negative=0,
        unlabelled=-1,
        sensitive=options.sensitive,
        fill="zero",
        drop=["self_loops"],
        labelled_only=True,
        largest_component=True,
        scaling=options.scaling,
    )
