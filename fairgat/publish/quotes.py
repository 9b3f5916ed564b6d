"""Render what README.md and docs/*.md quote of a published run, from its tables as data.

Pages have parts between two marks. `with_quotes` replaces them: BEGIN by a summary of the whole run,
`<!-- table: FILE -->` by one of its tables, `<!-- table: studies/NAME/differences.csv datasets=A,B methods=C -->` by
rows of a study (`against.of_study`). What is quoted of a study that the run does not have stays as it is.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

from fairgat.errors import DataError
from fairgat.files import read_json, read_text, write_text
from fairgat.publish import against
from fairgat.publish.provenance import commit
from fairgat.report.escape import markdown
from fairgat.report.model import Block, Table, from_json, row
from fairgat.report.render import quoted

BEGIN = "<!-- Made from results/reference by `make publish`: edits here are lost. -->"
END = "<!-- end -->"
_PARTS = re.compile(
    rf"^({re.escape(BEGIN)}|<!-- table: (?P<table>[^ ]+)(?P<rows>(?: \w+=[^ ]+)*) -->)\n"
    rf"(?P<old>.*?)(?P<end>{re.escape(END)}|\Z)",
    re.M | re.S,
)
FIGURES = {
    "figures/account.svg": (
        "Each gap of the mean logits and its parts",
        "Bars add up to each gap of the mean logits: *mixing* is there because the groups attend to the two groups in "
        "different proportions, *label selection* and *the rest* because those attended to are not their group's "
        "average, *gate* because ReLU passes different features. Decisions, and so ΔSP and ΔEO, depend on the "
        "threshold as well.",
    ),
    "figures/published.svg": (
        "The paper's means against ours",
        "Filled where they agree, ringed where they differ, hollow where undecided.",
    ),
}
"""A summary begins with the first of these that exists: its words for those who cannot see it, and its caption."""
READING = """\
ΔSP is the gap between the groups' shares of positive predictions, ΔEO the same gap among the nodes whose label is 1; \
lower is fairer. GAT's rows are means ± standard deviation over the splits, in percent. The others are differences to \
GAT on the same splits and machine, in points, ± half their 95 % interval, which is for other splits of the same \
people; bold where it excludes 0, as about one in twenty does by chance. Cells: those that the rule *{rule}* chooses \
on validation; in the study with more splits the paper's."""
CHANCE = (
    "Chance: the probability that the claim would pass if the paper's tables were exactly right, or, in the last "
    "column, if all methods were alike."
)


def update(pages: list[Path], published: Path) -> None:
    """Render the quotes in these pages; one without marks stays as it is.

    Raises:
        DataError: as `with_quotes`.
    """
    for page in pages:
        text = page.read_text(encoding="utf-8")
        fresh = with_quotes(text, published, Path(os.path.relpath(published, page.parent)).as_posix())
        if fresh != text:
            write_text(page, fresh)


def with_quotes(page: str, published: Path, link: str) -> str:
    """The text of a page with every part between marks rendered from a published run.

    Args:
        published: the folder of the run.
        link: where it lies as seen from the page.

    Raises:
        DataError: a mark has no end, or the file that it names does not exist.
    """

    def fresh(part: re.Match) -> str:
        begin, old, end, table = part[1], part["old"], part["end"], part["table"]
        if not end or "<!-- table: " in old:
            raise DataError(f"{begin} needs a line {END} after it")
        if table is None:
            return f"{begin}\n\n{summary(published, link)}\n\n{end}"
        study = (published / table).parent
        if table.startswith("studies/") and old.strip() and not study.exists():
            print(f"{published} has no study {study.name}: the rows quoted of it stay as they are")
            return part[0]
        wanted = {name: values.split(",") for name, _, values in (word.partition("=") for word in part["rows"].split())}
        shown = against.of_study(published, table, wanted) if table.endswith(".csv") else _table(published, table)
        source = f"From [{table}]({link}/{table}) of the published run."
        return f"{begin}\n\n{quoted(shown)}\n\n{source}\n\n{end}"

    return _PARTS.sub(fresh, page)


def own_page(published: Path) -> str:
    """The README.md of a published folder: the summary, and what made it.

    Raises:
        DataError: as `summary`.
    """
    provenance = read_json(published / "provenance.json")
    machine, codes, again = provenance["machine"], provenance["trained_at"], provenance.get("audited_at")
    trained = "".join(f"{code['runs']} runs trained at commit {commit(code, 12)}. " for code in codes)
    audited = f" Audited again at commit {commit(again, 12)}, from its scores." if again else ""
    made = (
        f"{trained}Rendered at commit {commit(provenance, 12)} by `{provenance['command']}` on "
        f"{machine['cores']} cores of {machine['processor']}.{audited}"
    )
    return f"# The reproduction\n\n{summary(published, '.')}\n\n{made}\n"


def summary(published: Path, link: str) -> str:
    """Say what came out, as Markdown: a figure, the audit's headline, the differences to GAT, and the claims.

    Args:
        published: the folder of the run.
        link: where it lies as seen from the page.

    Raises:
        DataError: a file is missing.
    """
    rule = read_json(published / "provenance.json")["config"]["selection"]["rule"]
    figures = [
        f"![{alt}]({link}/{name})\n\n{caption}"
        for name, (alt, caption) in FIGURES.items()
        if (published / name).exists()
    ]
    claims = _table(published, "audit/claims.md")
    links = (
        f"More: [all tables]({link}/tables), [number by number]({link}/audit/paper_vs_reproduced.md), [claim by "
        f"claim]({link}/audit/claims.md), [every cell against GAT]({link}/audit/paired.md), [what it "
        f"cost]({link}/costs/costs.md), [versions and seed]({link}/provenance.json)."
    )
    headline = read_text(published / "audit/headline.txt").strip()
    parts = [headline, READING.format(rule=rule), quoted(against.of_run(published))]
    explained = f"{markdown(claims.explanation)} {CHANCE}"
    return "\n\n".join([*figures[:1], *parts, explained, quoted(_verdicts(claims, rule)), links])


def _verdicts(claims: Table, rule: str) -> Table:
    """The claims with their verdicts under one rule and with more splits, and their chances on our data sets."""
    overview, chances = claims.panels[:2]
    names = [str(text) for text in overview.header]
    shown = [n for n, name in enumerate(names) if n < 3 or name == f"Ours ({rule})" or name.endswith(" splits)")]
    header = [*(overview.header[n] for n in shown), *(f"Chance: {text}" for text in chances.header[2:])]
    rows = [
        row(*(verdict.cells[n] for n in shown), *chance.cells[2:])
        for verdict, chance in zip(overview.blocks[0].rows, chances.blocks[0].rows, strict=True)
    ]
    panel = replace(overview, header=header, blocks=[Block(overview.blocks[0].title, rows)], align="l" * len(header))
    return replace(claims, panels=[panel], notes=[])


def _table(published: Path, name: str) -> Table:
    """The table that a file shows, from the JSON beside it."""
    return from_json((published / name).with_suffix(".json"))
