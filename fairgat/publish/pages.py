"""Fill the parts of docs/*.md that quote a published run. README.md is written by hand.

A part stands between the lines `<!-- NAME -->` and `<!-- end -->`. It is the template
templates/NAME.md.j2, in which every number is read from a file of the run, or, where
NAME is a file of the run, that file below its heading.
"""

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import jinja2
from packaging.version import Version

from fairgat import frames, measures, paper
from fairgat.errors import DataError
from fairgat.files import read_json, read_text, write_text
from fairgat.publish.provenance import commit
from fairgat.report import percent
from fairgat.report.model import Cell

_MARK = re.compile(r"^<!-- ([\w./-]+) -->$", re.M)
_PART = re.compile(r"^<!-- (?P<name>[\w./-]+) -->\n.*?^<!-- end -->$", re.M | re.S)


class NotPublished(DataError):
    """A file that a part quotes is not in the published run."""


def update(pages: list[Path], published: Path) -> None:
    """Render the parts of these pages, as `filled` does; a page without any stays as it is."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        write_text(
            page,
            filled(
                text,
                published,
                Path(os.path.relpath(published, page.parent)).as_posix(),
            ),
        )


def filled(page: str, published: Path, link: str) -> str:
    """Render every part of a page. One that quotes what the run lacks stays as it is, which is said.

    Args:
        page: its text.
        published: the folder of the run.
        link: where it lies as seen from the page.

    Raises:
        DataError: a file is damaged or lacks what is quoted, or a part has no end.
    """

    def fresh(part: re.Match) -> str:
        name = part["name"]
        try:
            text = (
                included(published, name, link)
                if "." in name
                else rendered(name, published, link)
            )
        except NotPublished as error:
            print(f"{name} stays as it is: {error}")
            return part[0]
        return f"<!-- {name} -->\n\n{text}\n\n<!-- end -->"

    marks = _MARK.findall(page)
    for mark, end in zip_longest(marks[::2], marks[1::2]):
        if mark == "end" or end != "end":
            raise DataError(f"<!-- {mark} --> needs a line <!-- end --> after it")
    return _PART.sub(fresh, page)


def included(published: Path, name: str, link: str) -> str:
    """Quote a Markdown file of the run below its heading, and say where it is from."""
    text = re.sub(r"\A# .*\n", "", read_text(_existing(published, name)))
    return f"{text.strip()}\n\nFrom [{name}]({link}/{name})."


def rendered(name: str, published: Path, link: str) -> str:
    """Render the template of this name. It reads by `row`, `table` (a DataFrame), `text`, `json` and `studies`.

    Raises:
        DataError: there is no such template, or a row that it asks for is not there, or there twice.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairgat.publish", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    readers: dict[str, Callable] = {
        "row": partial(row, published),
        "table": lambda name: frames.read(_existing(published, name)),
        "text": lambda name: read_text(_existing(published, name)).strip(),
        "json": lambda name: read_json(_existing(published, name)),
        "exists": lambda name: (published / name).exists(),
        "quote": lambda name: included(published, name, link),
        "studies": lambda: studies(published),
    }
    try:
        template = environment.get_template(f"{name}.md.j2")
        return template.render(**readers, paper=paper.load(), link=link).strip()
    except jinja2.TemplateNotFound:
        raise DataError(
            f"<!-- {name} -->: there is no template {name}.md.j2 in fairgat/publish/templates"
        ) from None
    except jinja2.TemplateError as error:
        raise DataError(
            f"the template {name}.md.j2 in fairgat/publish/templates: {error}"
        ) from None


def row(published: Path, name: str, **values: Any) -> dict[str, Any]:
    """Find the one row of a CSV file of the run that has these values in these columns."""
    frame = frames.read(_existing(published, name), columns=tuple(values))
    for column, value in values.items():
        frame = frame[frame[column] == value]
    if len(frame) != 1:
        said = ", ".join(f"{column} {value}" for column, value in values.items())
        raise DataError(
            f"{published / name} has {len(frame)} rows with {said}, and a page quotes one"
        )
    return frame.iloc[0].to_dict()


def studies(published: Path) -> tuple[str, dict[str, list[str]]]:
    """The version of this project that trained most of the published studies, and those that earlier ones trained.

    A study counts with the version of its oldest part.
    """
    known: dict[str, list[str]] = {}
    for study in sorted(published.glob("studies/*/")):
        versions = [
            read_json(path)["versions"]["fairgat"]
            for path in study.glob("provenance*.json")
        ]
        if versions:
            known.setdefault(min(versions, key=Version), []).append(study.name)
    if not known:
        raise NotPublished(f"{published}/studies has no study with a provenance file")
    most = max(known, key=lambda version: (len(known[version]), Version(version)))
    return most, {
        version: known[version]
        for version in sorted(known, key=Version)
        if Version(version) < Version(most)
    }


def _existing(published: Path, name: str) -> Path:
    if not (published / name).exists():
        raise NotPublished(f"{published / name} does not exist")
    return published / name


def _difference(line: Mapping[str, Any]) -> str:
    unit = measures.find(line["metric"]).unit
    return _text(
        percent.signed(line["difference"], line["low"], line["high"], unit)
    ) + others(line)


def others(line: Mapping[str, Any]) -> str:
    """Give the sign of a difference that only the interval for other people denies."""
    shown = line["low"] > 0 or line["high"] < 0
    return "°" if shown and abs(line["difference"]) <= line["corrected"] else ""


def _score(line: Mapping[str, Any]) -> str:
    return _text(
        percent.score(line["mean"], line["std"], measures.find(line["metric"]).unit)
    )


def _text(cell: Cell) -> str:
    mean = f"**{cell.text}**" if cell.bold else str(cell.text)
    return f"{mean} ± {cell.std}" if cell.std else mean


FILTERS: dict[str, Callable] = {
    # a row of differences.csv ± half its interval, bold where that excludes 0, and `others`
    "difference": _difference,
    "score": _score,  # a row of differences.csv or winners.csv: mean ± standard deviation
    "median": median,
    "commit": commit,
}
