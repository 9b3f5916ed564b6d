"""The audit as pages: verdicts on every number, and the claims."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairgat.audit import agreement
from fairgat.audit import claims as claiming
from fairgat.config.shown import AuditSettings, Decision
from fairgat.paper import TASK_OF_RESULTS, load
from fairgat.report import labels, percent
from fairgat.report.model import Block, Cell, Panel, Table, Text, row, titled

_MARKS = {True: "✓", False: "✗", None: "–"}
_TITLES = {
    "comparison": "Comparison",
    "ablation": "Ablation",
    "link_prediction": "Link prediction",
}
_TEXTS = {"ablation": "FairGAT's rows that agree with the comparison are not repeated."}
_PROTOCOL = (
    "fairdrop: what the notebook of FairDrop's authors reports, the last epoch with the cut-off that is best on the "
    "test set; validation: the epoch of best validation AUC, with the best cut-off on validation."
)


def verdicts(
    frame: pd.DataFrame, protocols: pd.DataFrame, settings: AuditSettings
) -> Table:
    """Paper against reproduction, number by number, under the rule that is shown, with counts for every rule.

    `frame` and `protocols` are those of `agreement.compare` and `agreement.compare_protocols`.
    """
    shown, under = (
        lines[lines["rule"] == settings.rule] for lines in (frame, protocols)
    )
    tables = shown["table"].str.split("+").str[0]
    panels = [
        _numbers(_TITLES[name], shown[tables == name], settings, _TEXTS.get(name, ""))
        for name in TASK_OF_RESULTS
    ]
    for protocol in dict.fromkeys(under["protocol"]):
        if protocol not in settings.protocols:
            lines = under[under["protocol"] == protocol]
            panels.append(
                _numbers(
                    f"Link prediction, protocol {protocol}", lines, settings, _PROTOCOL
                )
            )
    accuracy, fairness = (
        f"{100 * margin:g}"
        for margin in (settings.margins.accuracy, settings.margins.fairness)
    )
    return Table(
        name="paper_vs_reproduced",
        caption="Published results and ours",
        panels=[
            _counts(frame, agreement.expected_in_words(shown)),
            *panels,
            _decisions(settings.decisions),
        ],
        notes=[],
        explanation=(
            "Every published mean ± standard deviation (percent) beside ours: difference with its 95 % interval, the "
            "p-value of Welch's t-test from the two summaries, and the same after Holm's correction for all tests of a "
            f"selection rule (significant: below {agreement.ALPHA:g}). The interval is for the means of random splits "
            "of one data set, ours and the paper's. Agrees: the 95 % interval of the difference, ours minus the "
            "paper's, lies within a margin, half the range that the paper's own methods span in that measure and "
            f"table, and at most {accuracy} (accuracy) or {fairness} (fairness measures) percentage points. This rules "
            "out a larger difference; it does not mean that the paper's effect was found. Better, worse: significantly "
            "better or worse than the paper by Welch's test, with Holm's correction for the number of results. "
            "Undecided: the data show neither agreement nor a difference; in "
            "parentheses where the result would count as better or worse if it were the only one tested. "
            "Not run: ours is missing, or the rule paper meets a method whose cells the paper doesn't give. "
            f"Shown in full: {labels.RULES[settings.rule]} (selection.rule: {settings.rule})."
        ),
        source="Ours are from summary/(task)/winners.csv.",
    )


def _counts(frame: pd.DataFrame, text: str) -> Panel:
    """Each verdict's count under each rule, and those that rest on the correction."""
    rows = []
    for rule, group in frame.groupby("rule", sort=False):
        alone = (
            (group["verdict"] == labels.UNDECIDED) & (group["p"] < agreement.ALPHA)
        ).sum()
        rows.append(
            row(
                rule,
                *((group["verdict"] == each).sum() for each in labels.VERDICTS),
                alone,
            )
        )
    header = ["", *labels.VERDICTS, "undecided (alone better or worse)"]
    return Panel(
        "stacked", header, [Block("Cells chosen by", rows)], "Verdicts", (text,)
    )


def _numbers(
    title: str, frame: pd.DataFrame, settings: AuditSettings, text: str = ""
) -> Panel:
    """A panel of results with a block per data set."""
    header = [
        "",
        "Metric",
        "Paper",
        "Ours",
        "Difference",
        "95 % interval",
        "p",
        "p (Holm)",
        "Verdict",
    ]
    known, titles, blocks = settings.config.datasets, settings.method_titles, []
    for dataset, group in frame.groupby("dataset", sort=False):
        if dataset not in known or known[dataset].reason:
            reason = (
                known[dataset].reason
                if dataset in known
                else "not in this configuration"
            )
            blocks.append(
                Block(settings.dataset_titles.get(dataset, dataset), reason=reason)
            )
            continue
        rows = []
        for number, (method, lines) in enumerate(group.groupby("method", sort=False)):
            rows += titled(
                titles.get(method, method),
                [_line(line) for line in lines.itertuples()],
                number,
            )
        blocks.append(Block(known[dataset].title, rows))
    return Panel(
        "stacked",
        header,
        blocks,
        title=title,
        text=(text,) if text else (),
        align="llrrrrrrl",
    )


def _line(line: Any) -> list[Cell | Text]:
    return [
        str(labels.metric(line.metric)).removesuffix(" (%)"),
        Cell(f"{line.paper_mean:.2f}", std=f"{line.paper_std:.2f}"),
        Cell(
            percent.formatted("{:.2f}", line.mean),
            std="" if pd.isna(line.std) else f"{line.std:.2f}",
        ),
        percent.formatted("{:+.2f}", line.difference),
        percent.formatted("{:+.2f} … {:+.2f}", line.ci_low, line.ci_high),
        percent.formatted("{:.3g}", line.p),
        percent.formatted("{:.3g}", line.p_holm),
        _verdict(line),
    ]


def _verdict(line: Any) -> Cell:
    alone = agreement.verdict(line, line.p)
    if line.verdict == labels.UNDECIDED != alone:
        return Cell(f"{line.verdict} (alone {alone})")
    return Cell(line.verdict, bold=line.verdict in (labels.BETTER, labels.WORSE))


def _decisions(decisions: Sequence[Decision]) -> Panel:
    texts = [
        f"{' = '.join(filter(None, (entry.setting or 'built in', entry.value)))}: {' '.join(entry.decision.split())}"
        for entry in decisions
    ]
    return Panel(
        "stacked",
        title="What the paper leaves open, and how it is settled here",
        text=tuple(texts),
    )


def claims(
    checks: pd.DataFrame,
    own: pd.DataFrame,
) -> Table:
    """Each claim on the paper's own numbers and on ours, with how far those of the paper carry it.

    `checks` are those of `fairgat.audit.claims`, `own` the differences of
    `fairgat.audit.support`.
    """
    statuses = claiming.statuses(checks)
    overview = []
    for number, claim in claiming.CLAIMS.items():
        said = [
            Cell(each, bold=each == claiming.NOT_SUPPORTED)
            for each in statuses.loc[number]
        ]
        overview.append(row(number, claim.in_words()[0], *said))
    of_claims = [
        _claim(number, group, statuses.loc[number], own[own["claim"] == number])
        for number, group in checks.groupby("claim")
    ]
    return Table(
        name="claims",
        caption="The paper's claims",
        panels=[
            Panel(
                "stacked",
                ["", "Claim", *statuses],
                [Block("#", overview)],
                align="l" * (2 + len(statuses.columns)),
            ),
            Panel(
                "stacked", title="Oddities of the paper", text=tuple(load()["oddities"])
            ),
            *of_claims,
        ],
        notes=[],
        explanation=(
            "Each claim is a rule on numbers, applied alike to the paper's tables and to ours under each of the three "
            "ways to choose a hyperparameter cell (and, where given, to a study with more splits). The rules compare "
            "the numbers as they are (means; in claim 3 standard deviations, in 6 and 8 seconds) and ignore noise, so "
            "even a lead smaller than the noise counts, and a claim can fail, or pass, by luck. not supported: at "
            "least one check fails (✗). not run: no check could be made, as results are missing (–). supported where "
            "run: every check that could be made holds. paper_differences.csv has the differences between the paper's "
            "means, checks.csv every check in a row."
        ),
    )


def _claim(
    number: int, checks: pd.DataFrame, statuses: pd.Series, own: pd.DataFrame
) -> Panel:
    """The checks of a claim, with a column for each set of results, and the cells and files that they compare."""
    (claim, rule), subjects = (
        claiming.CLAIMS[number].in_words(),
        [*dict.fromkeys(checks["check"])],
    )
    marks = [
        _MARKS[None if holds is None else bool(holds)] for holds in checks["holds"]
    ]
    checks = checks.assign(
        numbers=[
            f"{text} {mark}".strip()
            for text, mark in zip(checks["numbers"], marks, strict=True)
        ]
    )
    numbers, cells = (
        checks.pivot(index="check", columns="results", values=column).loc[
            subjects, statuses.index
        ]
        for column in ("numbers", "cells")
    )
    blocks = [
        Block("Check", [row(subject, *line) for subject, line in numbers.iterrows()])
    ]
    cells = cells[(cells != "").any(axis=1)]
    if len(cells):
        blocks.append(
            Block("Cells", [row(subject, *line) for subject, line in cells.iterrows()])
        )
    said = "; ".join(f"{heading}: {status}" for heading, status in statuses.items())
    text = (rule, f"{said}.", *_files(checks), *_papers_tests(own))
    title, align = f"Claim {number}: {claim}", "l" * (1 + len(statuses))
    return Panel(
        "stacked", ["", *statuses.index], blocks, title=title, text=text, align=align
    )


def _files(checks: pd.DataFrame) -> list[str]:
    files = checks[checks["file"] != ""].groupby("file", sort=False)["results"].unique()
    return (
        [
            "; ".join(
                f"{', '.join(headings)}: {file}" for file, headings in files.items()
            )
            + "."
        ]
        if len(files)
        else []
    )


def _papers_tests(own: pd.DataFrame) -> list[str]:
    if own.empty:
        return []
    alone, corrected = ((own[p] < agreement.ALPHA).sum() for p in ("p", "p_holm"))
    return [
        "FairGAT's published means less the others', by Welch's test from the printed means and deviations, which "
        f"treats splits as independent: {alone} of {len(own)} are significant, after Holm's correction {corrected}."
    ]
