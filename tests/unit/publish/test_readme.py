"""The README of a published folder."""

from pathlib import Path

import pytest

from fairgat.publish import readme

PUBLISHED = Path(__file__).parents[3] / "results/reference"


@pytest.mark.skipif(
    not PUBLISHED.exists(),
    reason="results/reference is missing: git checkout results/reference",
)
def test_the_published_readme_shows_the_published_files():
    published = (PUBLISHED / "README.md").read_text(encoding="utf-8")
    assert readme.rendered(PUBLISHED) == published
