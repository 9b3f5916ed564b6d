"""The published reproduction: what is copied out of a run into `results/reference`, and the README made from it."""

import csv
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairgat.errors import DataError
from fairgat.files import read_json, write_text

BEGIN = "<!-- Made from results/reference by `snakemake readme`: edits here are lost. -->"
END = "<!-- end -->"
LARGEST = 1 << 20  # bytes per file
STUDY = "sensitivity"  # made by a run of its own, which a checkout may lack
TABLES = ("comparison", "link_prediction")
FIGURES = {
    "published": "Published against reproduced results: on the diagonal they agree.",
    "tradeoff_node_classification": "Accuracy against fairness: every cell of every method, with its Pareto front.",
}
READING = """\
**Measures**, in percentage points, the lower the fairer. ΔSP: how far apart the groups' shares of positive \
predictions are; ΔEO: the same among true positives. For links, ΔDP is the largest difference in the share of \
predicted links, and ΔEO the largest in that share among links or among non-links: between links within a group and \
across groups (m, mixed), between the groups of a link's ends (g), between pairs of groups (s, subgroups).

**Verdicts.** *Reproduced*: Welch's test shows no difference between the published mean ± deviation and ours, after \
Holm's correction for all results that were run; *better* and *worse*: it does, to that side. The fewer results are \
run, the smaller the differences that count.

**Rules.** A method stands in a table with one cell of its hyperparameters, chosen on validation: *fair*, the fairest \
of those about as accurate as its best; *accuracy*, the most accurate; *paper*, the one that the paper reports."""


def collect(paths: Iterable[str | Path], results: str | Path, folder: str | Path) -> None:
    """Copy result files into `folder`, which afterwards holds them and nothing else; only a sensitivity study that was
    published before stays, where `paths` have no new one.

    Args:
        paths: files under `results`; they keep their place in it.
        results: the run's results directory.
        folder: what is published; it appears whole or not at all, and until then stays what it was.

    Raises:
        DataError: a file is too large to be kept under version control.
    """
    folder, paths = Path(folder), [Path(path) for path in paths]
    for path in paths:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path} has {path.stat().st_size} bytes: too large for {folder}, which is published")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        fresh = Path(temporary) / folder.name
        for path in paths:
            copy = fresh / path.relative_to(results)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        if (folder / STUDY).exists() and not (fresh / STUDY).exists():
            print(f"{Path(results) / STUDY} does not exist: the study published before stays as it is")
            shutil.copytree(folder / STUDY, fresh / STUDY)
        write_seconds(fresh)
        write_text(fresh / "README.md", f"# The reproduction\n\n{summary(fresh, '.')}\n")
        _replace(folder, fresh, aside=Path(temporary) / "before")


def _replace(folder: Path, fresh: Path, aside: Path) -> None:
    """Two renames, between which nothing can take long; a failure leaves the folder as it was."""
    if not folder.exists():
        fresh.rename(folder)
        return
    folder.rename(aside)
    try:
        fresh.rename(folder)
    except BaseException:
        aside.rename(folder)
        raise


def write_seconds(folder: Path) -> None:
    """rules.csv: jobs, seconds and memory of each rule, from provenance.json."""
    rules = read_json(folder / "provenance.json")["rules"]
    with open(folder / "rules.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rule", "jobs", "wall_seconds", "cpu_seconds", "peak_mb"])
        writer.writerows([rule, *entry.values()] for rule, entry in rules.items())


def summary(folder: str | Path, link: str) -> str:
    """What came out, as Markdown: the audit's headline, the main tables, the claims, two figures, and how it was run.

    Args:
        folder: the published results.
        link: where they lie as seen from the page.

    Raises:
        DataError: a file is missing.
    """
    folder = Path(folder)
    try:
        headline = (folder / "audit/headline.txt").read_text(encoding="utf-8").strip()
        tables = [(folder / f"tables/{name}.md").read_text(encoding="utf-8").strip() for name in TABLES]
        claims = _first_grid((folder / "audit/claims.md").read_text(encoding="utf-8"))
        provenance = read_json(folder / "provenance.json")
    except FileNotFoundError as error:
        raise DataError(f"{folder} is not a whole reproduction: {error.filename} does not exist") from None
    figures = [f"![{caption}]({link}/figures/{name}.svg)\n\n{caption}" for name, caption in FIGURES.items()]
    machine = provenance["machine"]
    trained = "".join(f"{code['runs']} runs trained {_commit(code)}. " for code in provenance["trained_at"])
    run = (
        f"{trained}Rendered {_commit(provenance)} by `{provenance['command']}` on {machine['cores']} cores of "
        f"{machine['processor']}; what each method cost: [costs]({link}/costs/costs.md), what each rule cost: "
        f"[rules]({link}/rules.csv), versions and seed: [provenance]({link}/provenance.json). All tables: "
        f"[Markdown and LaTeX]({link}/tables). Number by number: [audit]({link}/audit/paper_vs_reproduced.md)."
    )
    return "\n\n".join([headline, READING, *map(_with_title, tables), claims, *figures, run])


def insert(readme: str, part: str) -> str:
    """The text of a README with its generated part replaced.

    Raises:
        DataError: it has no place for one.
    """
    if readme.count(BEGIN) != 1 or END not in readme[readme.index(BEGIN) :]:
        raise DataError(f"the README needs one line {BEGIN} and one line {END} after it")
    before, _, rest = readme.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{part}\n\n{rest[rest.index(END) :]}"


def _commit(code: Mapping[str, Any]) -> str:
    changed = " with uncommitted changes" if code["modified"] else ""
    return f"at commit {code['commit'][:12]}{changed}" if code["commit"] else "at an unknown commit"


def _with_title(table: str) -> str:
    title, _, rest = table.partition("\n")
    return f"**{title.lstrip('# ')}** {rest.strip()}"


def _first_grid(markdown: str) -> str:
    lines = markdown.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("|"))
    stop = next((k for k, line in enumerate(lines[start:], start) if not line.startswith("|")), len(lines))
    return "\n".join(lines[start:stop])
