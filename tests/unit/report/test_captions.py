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
    template = environment.from_string((CAPTIONS / name).read_text())
    return publish_parts(template.render(**variables), writer_name="html")[part]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["figure.rst", "table.rst"])
def test_a_title_is_text_in_a_caption(name, text):
    params = SimpleNamespace(about=text)
    said = page(name, "body", snakemake=SimpleNamespace(params=params))
    assert shown(said) == [*text.split(), *shown(page_without(name))]
    assert "<script" not in said and "<a " not in said


def page_without(name: str) -> str:
    params = SimpleNamespace(about="")
    return page(name, "body", snakemake=SimpleNamespace(params=params))


def shown(html: str) -> list[str]:
    """The words that a browser shows."""
    return unescape(re.sub("<[^>]*>", " ", html)).split()


@pytest.mark.parametrize("text", TEXTS)
def test_headings_notes_and_paragraphs_are_text_on_the_first_page(text, tmp_path):
    (tmp_path / "headline.txt").write_text(f"One.\n\n{text}")
    config = {"heading": text, "note": text, "ran": text, "picture": ""}
    files = [SimpleNamespace(target="headline.txt", path=tmp_path / "headline.txt")]
    said = page(
        "workflow.rst",
        "html_body",
        snakemake=SimpleNamespace(config=config),
        files=files,
        categories=[],
    )
    assert "<script" not in said and "<a " not in said
    assert " ".join(shown(said)).count(" ".join(text.split())) == 4
