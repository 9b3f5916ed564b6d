"""Render what README.md and docs/*.md quote of a published run, from its tables as data.

Pages have parts between two marks. `with_quotes` replaces them: BEGIN by a summary of the whole run,
`<!-- table: FILE -->` by one of its tables.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairgat.errors import DataError
from fairgat.files import read_json, write_text
from fairgat.report.escape import markdown
from fairgat.report.model import Table, from_json
from fairgat.report.render import quoted

BEGIN = "<!-- Made from results/reference by `make publish`: edits here are lost. -->"
END = "<!-- end -->"
_PARTS = re.compile(
    rf"^({re.escape(BEGIN)}|<!-- table: (?P<table>[^ ]+) -->)\n(?P<old>.*?)({re.escape(END)}|\Z)", re.M | re.S
)
FIGURE = "The paper's means against ours: filled where they agree, ringed where they differ, hollow where undecided."
READING = """\
Scores are percent. ΔSP is the gap between the groups' shares of positive predictions, ΔEO the same gap among the \
nodes whose label is 1; lower is fairer. A method stands in a table with one cell of its hyperparameters, chosen on \
validation: *fair*, the fairest of those about as accurate as its best; *accuracy*, the most accurate; *paper*, the \
one that the paper reports."""


def update(pages: list[Path], published: Path) -> None:
    """Render the quotes in these pages, and the published folder's own page; one without marks stays as it is.

    Raises:
        DataError: as `with_quotes`.
    """
    write_text(published / "README.md", own_page(published))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        fresh = with_quotes(text, published, Path(os.path.relpath(published, page.parent)).as_posix())
        if fresh != text:
            write_text(page, fresh)


def with_quotes(page: str, published: Path, link: str) -> str:
    """The text of a page with every part between marks rendered from a published run.

    Args:
        page: Markdown.
        published: the folder of the run.
        link: where it lies as seen from the page.

    Raises:
        DataError: a mark has no end, or the file that it names does not exist.
    """

    def fresh(part: re.Match) -> str:
        begin, old, end, table = part[1], part["old"], part[4], part["table"]
        if not end or "<!-- table: " in old:
            raise DataError(f"{begin} needs a line {END} after it")
        if table is None:
            return f"{begin}\n\n{summary(published, link)}\n\n{end}"
        source = f"From [{table}]({link}/{table}) of the published run."
        return f"{begin}\n\n{quoted(_table(published, table))}\n\n{source}\n\n{end}"

    return _PARTS.sub(fresh, page)


def own_page(published: Path) -> str:
    """The README.md of a published folder.

    Raises:
        DataError: as `summary`.
    """
    return f"# The reproduction\n\n{summary(published, '.')}\n"


def summary(published: Path, link: str) -> str:
    """Say what came out, as Markdown: the audit's headline, the comparison, a figure, the claims, and the commit.

    Args:
        published: the folder of the run.
        link: where it lies as seen from the page.

    Raises:
        DataError: a file is missing.
    """
    comparison, claims = (_table(published, name) for name in ("tables/comparison.md", "audit/claims.md"))
    provenance = read_json(published / "provenance.json")
    machine = provenance["machine"]
    trained = "".join(f"{code['runs']} runs trained {_commit(code)}. " for code in provenance["trained_at"])
    again = provenance.get("audited_at")
    audited = f"Audited again {_commit(again)}, from its scores. " if again else ""
    run = (
        f"{trained}Rendered {_commit(provenance)} by `{provenance['command']}` on {machine['cores']} cores of "
        f"{machine['processor']}. {audited}More of it: [all tables]({link}/tables), [number by "
        f"number]({link}/audit/paper_vs_reproduced.md), [claim by claim]({link}/audit/claims.md), "
        f"[what it cost]({link}/costs/costs.md), [versions and seed]({link}/provenance.json)."
    )
    overview = quoted(replace(claims, panels=claims.panels[:1], notes=[]))
    figure = f"![{FIGURE}]({link}/figures/published.svg)"
    return "\n\n".join(
        [_headline(published), READING, quoted(comparison), figure, markdown(claims.explanation), overview, run]
    )


def _headline(published: Path) -> str:
    path = published / "audit/headline.txt"
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise DataError(f"the published run is not whole: {path} does not exist") from None


def _table(published: Path, name: str) -> Table:
    """The table that a file shows, from the JSON beside it."""
    return from_json((published / name).with_suffix(".json"))


def _commit(code: Mapping[str, Any]) -> str:
    changed = " with uncommitted changes" if code["modified"] else ""
    return f"at commit {code['commit'][:12]}{changed}" if code["commit"] else "at an unknown commit"
