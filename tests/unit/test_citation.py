"""CITATION.cff names the version of the package."""

from pathlib import Path

import yaml

from fairgat import __version__


def test_the_version_is_the_package_s():
    citation = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
