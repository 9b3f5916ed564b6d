"""Does the paper hold? Its numbers (`compare`) and its claims (`claims`) against ours, as pages and in a few lines.

`make` gives every file of results/audit from the summaries and the runtimes. Start with `claims`: one function a claim.
"""

from collections.abc import Mapping
from typing import Any

from fairgat.reporting import paper
from fairgat.reporting.audit import claims, compare, headline, pages
from fairgat.reporting.inputs import Files, by_dataset
from fairgat.reporting.render import render
from fairgat.reporting.tables.runtime import medians
from fairgat.scores.paired import against_reference
from fairgat.scores.runs import read
from fairgat.scores.selection import RULES


def make(settings: Mapping[str, Any], files: Files) -> dict[str, str]:
    """The text of each of the audit's files, by its name.

    Args:
        settings: as `fairgat.reporting.settings.audit_settings` gives them.
        files: of the kinds `winners`, `runs` and `runtime`.
    """
    winners, rule, ddof = read(*files["winners"]), settings["rule"], settings["ddof"]
    numbers = compare.compare(paper.load(), winners, RULES, settings["protocol"], ddof)
    protocols = compare.compare_protocols(paper.load(), winners, RULES, ddof)
    seconds = medians(by_dataset(files["runtime"]))
    found = {name: claims.ours(winners, name, settings["protocol"], seconds) for name in RULES}
    counts = headline.counts(numbers, found)
    paired = against_reference(read(*files["runs"]), winners, rule, settings["protocol"])
    shown = {
        "paper_vs_reproduced": pages.verdicts(numbers, protocols, settings),
        "claims": pages.claims(paper.load(), found, rule),
        "paired": pages.paired(paired, settings),
    }
    return {
        "counts.csv": counts.to_csv(index=False, lineterminator="\n"),
        "headline.txt": f"{headline.sentences(counts, rule)}\n\n{headline.meaning(numbers, rule)}\n",
        "paper_vs_reproduced.csv": _csv(numbers),
        "protocols.csv": _csv(protocols),
        "paired.csv": _csv(paired),
        **{f"{name}.{form}": render(page, form) for name, page in shown.items() for form in ("md", "html")},
    }


def _csv(frame: Any) -> str:
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
