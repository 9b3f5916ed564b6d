"""The published reproduction: what is copied out of a run into results/reference, and what the pages quote of it.

README.md and docs/*.md have parts between two marks. `quoted` replaces them: BEGIN by a summary of the whole run,
`<!-- table: FILE -->` by one of its tables.
"""

import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.errors import DataError
from fairgat.files import read_json, write_text

BEGIN = "<!-- Made from results/reference by `snakemake readme`: edits here are lost. -->"
END = "<!-- end -->"
_PARTS = re.compile(
    rf"^({re.escape(BEGIN)}|<!-- table: (?P<table>[^ ]+) -->)\n(?P<old>.*?)({re.escape(END)}|\Z)", re.M | re.S
)
LARGEST = 5 << 20  # bytes per file
FIGURE = "The paper's means against ours: filled where they agree, ringed where they differ, hollow where undecided."
READING = """\
Scores are percent. ΔSP is the gap between the groups' shares of positive predictions, ΔEO the same gap among the \
nodes whose label is 1; lower is fairer. A method stands in a table with one cell of its hyperparameters, chosen on \
validation: *fair*, the fairest of those about as accurate as its best; *accuracy*, the most accurate; *paper*, the \
one that the paper reports."""


def collect(paths: Iterable[str | Path], results: str | Path, folder: str | Path) -> None:
    """Copy result files and studies into `folder`, which afterwards holds them and nothing else.

    Args:
        paths: files under `results`; they keep their place in it.
        results: the run's results directory. Studies, which runs of their own make, are looked for in its folder
            `studies` and in that of each results directory within it, whose provenance and audit, if it has results
            of the paper, go to the study of the directory's name. What was published of a study stays where there is
            none of that name.
        folder: what is published; it appears whole or not at all, and until then stays what it was.

    Raises:
        DataError: a file is too large to be kept under version control.
    """
    folder, results = Path(folder), Path(results)
    copies = {Path(path): Path(path).relative_to(results) for path in paths}
    made = {path: Path(*path.parts[-3:]) for path in [*results.glob("studies/*/*"), *results.glob("*/studies/*/*")]}
    for own in results.glob("*/studies"):
        about = [*own.parent.glob("provenance.json"), *(own.parent.glob("audit/*") if _audited(own.parent) else [])]
        made |= {path: Path("studies", own.parent.name, path.name) for path in about}
    copies |= {
        path: place
        for path, place in sorted(made.items())
        if path.suffix not in (".html", ".png") and folder not in path.parents
    }
    for path in copies:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path} has {path.stat().st_size} bytes: too large for {folder}, which is published")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        fresh = Path(temporary) / folder.name
        for path, place in copies.items():
            copy = fresh / place
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        for study in sorted((folder / "studies").glob("*")):
            if not (fresh / "studies" / study.name).exists():
                print(f"no study {study.name} was made: the one published before stays as it is")
                shutil.copytree(study, fresh / "studies" / study.name)
        _write_costs_of_rules(fresh)
        write_text(fresh / "README.md", f"# The reproduction\n\n{summary(fresh, '.')}\n")
        _replace(folder, fresh, aside=Path(temporary) / "before")


def _audited(results: Path) -> bool:
    """Tell whether a run had any of the paper's results to compare with."""
    path = results / "audit/paper_vs_reproduced.csv"
    return path.exists() and bool(pd.read_csv(path)["mean"].notna().any())


def _replace(folder: Path, fresh: Path, aside: Path) -> None:
    """Swap the folders by two renames, between which nothing can take long; a failure leaves `folder` as it was."""
    if folder.exists():
        folder.rename(aside)
    try:
        fresh.rename(folder)
    except BaseException:
        if aside.exists():
            aside.rename(folder)
        raise


def _write_costs_of_rules(folder: Path) -> None:
    rules = read_json(folder / "provenance.json")["rules"]
    pd.DataFrame.from_dict(rules, orient="index").to_csv(folder / "rules.csv", index_label="rule", lineterminator="\n")


def summary(folder: Path, link: str) -> str:
    """Say what came out, as Markdown: the audit's headline, the comparison, a figure, the claims, and the commit.

    Args:
        folder: the published results.
        link: where they lie as seen from the page.

    Raises:
        DataError: a file is missing.
    """
    headline, claims = _read(folder / "audit/headline.txt").strip(), _read(folder / "audit/claims.md")
    provenance = read_json(folder / "provenance.json")
    machine = provenance["machine"]
    trained = "".join(f"{code['runs']} runs trained {_commit(code)}. " for code in provenance["trained_at"])
    run = (
        f"{trained}Rendered {_commit(provenance)} by `{provenance['command']}` on {machine['cores']} cores of "
        f"{machine['processor']}. More of it: [all tables]({link}/tables), [number by "
        f"number]({link}/audit/paper_vs_reproduced.md), [claim by claim]({link}/audit/claims.md), "
        f"[what it cost]({link}/costs/costs.md), [versions and seed]({link}/provenance.json)."
    )
    figure = f"![{FIGURE}]({link}/figures/published.svg)"
    how, grid = claims.split("\n\n")[1:3]  # how claims are checked, and the overview
    return "\n\n".join([headline, READING, _body(folder / "tables/comparison.md"), figure, how, grid.strip(), run])


def quoted(page: str, folder: Path, link: str) -> str:
    """The text of a page with every part between marks rendered from the published results.

    Args:
        page: Markdown.
        folder: the published results.
        link: where they lie as seen from the page.

    Raises:
        DataError: a mark has no end, or the file that it names does not exist.
    """

    def fresh(part: re.Match) -> str:
        begin, old, end, table = part[1], part["old"], part[4], part["table"]
        if not end or "<!-- table: " in old:
            raise DataError(f"{begin} needs a line {END} after it")
        if table is None:
            return f"{begin}\n\n{summary(folder, link)}\n\n{end}"
        return f"{begin}\n\n{_body(folder / table)}\n\nFrom [{table}]({link}/{table}) of the published run.\n\n{end}"

    return _PARTS.sub(fresh, page)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"the published run is not whole: {path} does not exist") from None


def _body(path: Path) -> str:
    """A table's Markdown from its first grid, or first data set that was not run, on; headings become bold."""
    lines = _read(path).strip().splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith(("|", "**", "##"))), len(lines))
    return "\n".join(re.sub(r"^#+ (.*)", r"**\1**", line) for line in lines[start:])


def _commit(code: Mapping[str, Any]) -> str:
    changed = " with uncommitted changes" if code["modified"] else ""
    return f"at commit {code['commit'][:12]}{changed}" if code["commit"] else "at an unknown commit"
