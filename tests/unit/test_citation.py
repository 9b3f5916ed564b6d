"""CITATION.cff and codemeta.json name the package's version, and say the same."""

import json
from pathlib import Path

import yaml

from fairgat import __version__

ROOT = Path(__file__).parents[2]


def test_what_archives_read_says_the_same():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
    assert citation["version"] == codemeta["version"] == __version__
    assert citation["title"] == codemeta["name"] and citation["keywords"] == codemeta["keywords"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in codemeta["author"]]
    assert citation["references"][0]["url"] == codemeta["referencePublication"]["url"]
    assert codemeta["license"].endswith(citation["license"])
