"""The audit as pages: verdicts on every number, and the claims."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairgat.audit import agreement
from fairgat.audit import claims as claiming
from fairgat.config.shown import AuditSettings, Decision
from fairgat.paper import TASK_OF_RESULTS, load, results
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
    "fairdrop: what the notebook of FairDrop's authors reports, the last epoch with "
    "the cut-off that is best on the test set; validation: the epoch of best "
    "validation AUC, with the best cut-off on validation."
)


def verdicts(
    frame: pd.DataFrame, protocols: pd.DataFrame, settings: AuditSettings
) -> Table:
    """Show paper against reproduction, number by number, under the rule that is shown.

    With counts for every rule.

    Args:
        frame, protocols: those of `agreement.compare` and
            `agreement.compare_protocols`.
    """
    shown = frame[frame["rule"] == settings.rule]
    first_table = shown["table"].str.split("+").str[0]
    panels = []
    for name in TASK_OF_RESULTS:
        lines = shown[first_table == name]
        text = _TEXTS.get(name, "")
        panels.append(_numbers(_TITLES[name], lines, settings, text))

    by_protocol = protocols[protocols["rule"] == settings.rule]
    for protocol, lines in by_protocol.groupby("protocol", sort=False):
        if protocol not in settings.protocols:
            title = f"Link prediction, protocol {protocol}"
            panels.append(_numbers(title, lines, settings, _PROTOCOL))

    accuracy = f"{100 * settings.margins.accuracy:g}"
    fairness = f"{100 * settings.margins.fairness:g}"
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
            "Every published mean ± standard deviation (percent) beside ours: "
            "difference with its 95 % interval, the p-value of Welch's t-test from the "
            "two summaries, and the same after Holm's correction for all tests of a "
            f"selection rule (significant: below {agreement.ALPHA:g}). The interval is "
            "for the means of random splits of one data set, ours and the paper's. "
            "Agrees: the 95 % interval of the difference, ours minus the paper's, lies "
            "within a margin, half the range that the paper's own methods span in that "
            f"measure and table, and at most {accuracy} (accuracy) or {fairness} "
            "(fairness measures) percentage points. This rules out a larger "
            "difference; it does not mean that the paper's effect was found. Better, "
            "worse: significantly better or worse than the paper by Welch's test, with "
            "Holm's correction for the number of results. Undecided: the data show "
            "neither agreement nor a difference; in parentheses where the result would "
            "count as better or worse if it were the only one tested. Not run: ours is "
            "missing, or the rule paper meets a method whose cells the paper doesn't "
            f"give. Shown in full, of each method: {labels.rule(settings)}."
        ),
        source="Ours are from summary/(task)/winners.csv.",
    )


def _counts(frame: pd.DataFrame, text: str) -> Panel:
    """Count each verdict under each rule, and those that rest on the correction."""
    rows = []
    for rule, group in frame.groupby("rule", sort=False):
        counts = [(group["verdict"] == each).sum() for each in labels.VERDICTS]
        is_undecided = group["verdict"] == labels.UNDECIDED
        is_low = group["p"] < agreement.ALPHA
        alone = (is_undecided & is_low).sum()
        rows.append(row(rule, *counts, alone))
    header = ["", *labels.VERDICTS, "undecided (alone better or worse)"]
    blocks = [Block("Cells chosen by", rows)]
    return Panel("stacked", header, blocks, "Verdicts", (text,))


def _numbers(
    title: str, frame: pd.DataFrame, settings: AuditSettings, text: str = ""
) -> Panel:
    """Make a panel of results with a block per data set."""
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
    blocks = []
    for dataset, group in frame.groupby("dataset", sort=False):
        heading = settings.dataset_titles.get(dataset, dataset)
        reason = _not_run(dataset, settings)
        if reason:
            blocks.append(Block(heading, reason=reason))
            continue
        rows = []
        for number, (method, lines) in enumerate(group.groupby("method", sort=False)):
            name = settings.method_titles.get(method, method)
            entries = [_line(line) for line in lines.itertuples()]
            rows += titled(name, entries, number)
        blocks.append(Block(heading, rows))
    texts = (text,) if text else ()
    return Panel("stacked", header, blocks, title=title, text=texts, align="llrrrrrrl")


def _not_run(dataset: str, settings: AuditSettings) -> str | None:
    """Say why a data set is not run, if it is not."""
    for each in settings.datasets:
        if each.name == dataset:
            return each.reason
    return "not in this configuration"


def _line(line: Any) -> list[Cell | Text]:
    """Show a published result and ours."""
    std = "" if pd.isna(line.std) else f"{line.std:.2f}"
    ours = percent.formatted("{:.2f}", line.mean)
    return [
        labels.measure(line.metric),
        Cell(f"{line.paper_mean:.2f}", std=f"{line.paper_std:.2f}"),
        Cell(ours, std=std),
        percent.formatted("{:+z.2f}", line.difference),
        percent.formatted("{:+z.2f} … {:+z.2f}", line.ci_low, line.ci_high),
        percent.formatted("{:.3g}", line.p),
        percent.formatted("{:.3g}", line.p_holm),
        _verdict(line),
    ]


def _verdict(line: Any) -> Cell:
    """Show a verdict, in parentheses the one that there would be without correction."""
    alone = agreement.verdict(line, line.p)
    if line.verdict == labels.UNDECIDED != alone:
        return Cell(f"{line.verdict} (alone {alone})")
    return Cell(line.verdict, bold=line.verdict in (labels.BETTER, labels.WORSE))


def _decisions(decisions: Sequence[Decision]) -> Panel:
    """List the decisions of the configuration."""
    texts = []
    for entry in decisions:
        setting = entry.setting or "built in"
        if entry.value:
            setting += f" = {entry.value}"
        decision = " ".join(entry.decision.split())
        texts.append(f"{setting}: {decision}")
    title = "What the paper leaves open, and how it is settled here"
    return Panel("stacked", title=title, text=tuple(texts))


def claims(checks: pd.DataFrame, own: pd.DataFrame, settings: AuditSettings) -> Table:
    """Show each claim on the paper's own numbers and on ours.

    Args:
        checks: those of `fairgat.audit.claims`.
        own: the differences of `fairgat.audit.support`: how far the paper's own
            numbers carry its claims.
        settings: with the titles of data sets and methods.
    """
    titled_texts = _titled(checks[["check", "numbers"]], settings)
    checks = checks.assign(**titled_texts)
    statuses = claiming.statuses(checks)
    panels = [
        _overview(statuses),
        Panel("stacked", title="Oddities of the paper", text=tuple(load()["oddities"])),
    ]
    for number, of_claim in checks.groupby("claim"):
        own_of_claim = own[own["claim"] == number]
        panels.append(_claim(number, of_claim, statuses.loc[number], own_of_claim))
    return Table(
        name="claims",
        caption="The paper's claims",
        panels=panels,
        notes=[],
        explanation=(
            "Each claim is a rule on numbers, applied alike to the paper's tables and "
            "to ours under each of the three ways to choose a hyperparameter cell. The "
            "rules compare the numbers as they are (means; in claim 3 standard "
            "deviations, in 6 and 8 seconds) and ignore noise, so even a lead smaller "
            "than the noise counts, and a claim can fail, or pass, by luck. not "
            "supported: at least one check fails (✗). not run: no check could be made, "
            "as results are missing (–). "
            "supported where run: every check that could be made holds. "
            "paper_differences.csv has the differences between the paper's means, "
            "checks.csv every check in a row, with the cells that are compared and the "
            "file with our scores."
        ),
    )


def _overview(statuses: pd.DataFrame) -> Panel:
    """List the claims with their statuses."""
    rows = []
    for number, claim in claiming.CLAIMS.items():
        cells = [
            Cell(status, bold=status == claiming.NOT_SUPPORTED)
            for status in statuses.loc[number]
        ]
        sentence, _ = claim.in_words()
        rows.append(row(number, sentence, *cells))
    header = ["", "Claim", *statuses]
    return Panel("stacked", header, [Block("#", rows)], align="l" * len(header))


def _claim(
    number: int, checks: pd.DataFrame, statuses: pd.Series, own: pd.DataFrame
) -> Panel:
    """Show the checks of a claim, with a column for each set of results."""
    outcomes = checks.assign(outcome=[_outcome(each) for each in checks.itertuples()])
    frame = outcomes.pivot(index="check", columns="results", values="outcome")
    frame = frame.loc[checks["check"].unique(), statuses.index]
    rows = [row(subject, *line) for subject, line in frame.iterrows()]

    claim, rule = claiming.CLAIMS[number].in_words()
    said = "; ".join(f"{heading}: {status}" for heading, status in statuses.items())
    header = ["", *statuses.index]
    return Panel(
        "stacked",
        header,
        [Block("Check", rows)],
        title=f"Claim {number}: {claim}",
        text=(rule, f"{said}.", *_papers_tests(own)),
        align="l" * len(header),
    )


def _outcome(check: Any) -> str:
    """Show the numbers of a check and whether it holds."""
    holds = None if check.holds is None else bool(check.holds)
    return f"{check.numbers} {_MARKS[holds]}".strip()


def _titled(texts: pd.DataFrame, settings: AuditSettings) -> pd.DataFrame:
    """Write the names that the paper has by the titles that tables give them."""
    printed = results()
    titles = settings.dataset_titles | settings.method_titles
    shown = {}
    for name in {*printed["dataset"], *printed["method"]}:
        shown[name] = titles.get(name, name)
    for metric in printed["metric"].unique():
        shown[metric] = str(labels.measure(metric))

    def title(word: re.Match) -> str:
        return shown.get(word[0], word[0])

    return texts.apply(lambda column: column.str.replace(r"[\w-]+", title, regex=True))


def _papers_tests(own: pd.DataFrame) -> list[str]:
    """Say how many of the paper's differences are significant."""
    if own.empty:
        return []
    alone = (own["p"] < agreement.ALPHA).sum()
    corrected = (own["p_holm"] < agreement.ALPHA).sum()
    return [
        "Significant of FairGAT's published means less the others', by Welch's test "
        "from the printed means and deviations, which treats splits as independent: "
        f"{alone} of {len(own)}, after Holm's correction {corrected}."
    ]
