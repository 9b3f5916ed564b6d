"""The captions of report.html: what a configuration says stands there as it is."""

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
from docutils.core import publish_parts

CAPTIONS = Path(__file__).resolve().parents[3] / "rules" / "report"
TEXTS = [
    ".. include:: /etc/hostname",
    "a\n\n.. include:: /etc/hostname",
    "a\n\n.. raw:: html\n\n   <script>alert(1)</script>",
    "a\x0b\x0b.. raw:: html\x0b\x0b   <script>alert(1)</script>",
    "a\u2028\u2028.. include:: /etc/hostname",
    "`a <javascript:alert(1)>`__",
    "</p></article><script>alert(1)</script>",
    "a_ |b| `c`:raw: *d*",
    "{{ 7 * 7 }}{% raw %}",
]


def page(name: str, part: str, **variables: object) -> str:
    """Render a caption as Snakemake does."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    source = (CAPTIONS / name).read_text()
    text = environment.from_string(source).render(**variables)
    return publish_parts(text, writer_name="html")[part]


def caption(name: str, about: str) -> str:
    """The caption of a table or a figure."""
    params = SimpleNamespace(about=about)
    return page(name, "body", snakemake=SimpleNamespace(params=params))


def words_shown(html: str) -> list[str]:
    """The words that a browser shows."""
    text = re.sub("<[^>]*>", " ", html)
    return unescape(text).split()


def assert_only_text(html: str) -> None:
    assert "<script" not in html
    assert "<a " not in html


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["figure.rst", "table.rst"])
def test_a_title_is_text_in_a_caption(name, text):
    html = caption(name, about=text)

    words_of_template = words_shown(caption(name, about=""))
    assert words_shown(html) == [*text.split(), *words_of_template]
    assert_only_text(html)


@pytest.mark.parametrize("text", TEXTS)
def test_headings_notes_and_paragraphs_are_text_on_the_first_page(text, tmp_path):
    headline = tmp_path / "headline.txt"
    headline.write_text(f"One.\n\n{text}")
    config = {"heading": text, "note": text, "ran": text, "picture": ""}

    html = page(
        "workflow.rst",
        "html_body",
        snakemake=SimpleNamespace(config=config),
        files=[SimpleNamespace(target="headline.txt", path=headline)],
        categories=[],
    )

    shown = " ".join(words_shown(html))
    assert shown.count(" ".join(text.split())) == 4
    assert_only_text(html)
