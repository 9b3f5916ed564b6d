"""docs/api.md."""

from pathlib import Path

from tools import api

ROOT = Path(__file__).parents[2]


def test_the_page_is_in_step_with_the_docstrings():
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == api.generate(), "run `make api`"
