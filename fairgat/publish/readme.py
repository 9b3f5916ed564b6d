"""The README of a published folder: its first table, and where the rest is."""

import re
from pathlib import Path

import jinja2

from fairgat.files import read_json, read_text
from fairgat.publish.provenance import commit


def rendered(published: Path) -> str:
    """Render README.md of a published folder from what lies in it.

    Raises:
        DataError: it has no provenance.json, or that is damaged.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairgat.publish", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["commit"] = commit

    def exists(name: str) -> bool:
        return (published / name).exists()

    def text(name: str) -> str:
        return read_text(published / name).strip()

    def below_heading(name: str) -> str:
        return re.sub(r"\A# .*\n", "", text(name)).strip()

    template = environment.get_template("readme.md.j2")
    rendered = template.render(
        exists=exists,
        text=text,
        below_heading=below_heading,
        provenance=read_json(published / "provenance.json"),
    )
    return rendered.strip() + "\n"
