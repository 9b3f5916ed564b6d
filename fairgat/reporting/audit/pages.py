"""The audit as pages: verdicts on every number, and the claims."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairgat.reporting import audit, claims, labels
from fairgat.reporting.model import Block, Cell, Panel, Row, Table
from fairgat.reporting.results import RULES

_MARKS = {True: "✓", False: "✗", None: "–"}
_TITLES = {"comparison": "Comparison", "ablation": "Ablation", "link_prediction": "Link prediction"}


def verdicts(frame: pd.DataFrame, protocols: pd.DataFrame, settings: Mapping[str, Any]) -> Table:
    """Paper against reproduction, number by number, under the rendered rule, with counts for every rule.

    Args:
        frame: as `fairgat.reporting.audit.compare` gives it.
        protocols: as `fairgat.reporting.audit.compare_protocols` gives it.
        settings: as `fairgat.reporting.settings.audit_settings` gives them.
    """
    counts = []
    for rule, group in frame.groupby("rule", sort=False):
        numbers = [(group["verdict"] == verdict).sum() for verdict in audit.VERDICTS]
        counts.append(Row([Cell(rule), *(Cell(str(number)) for number in (*numbers, audit.doubtful(group)))]))
    shown = frame[frame["rule"] == settings["rule"]]
    panels = [
        Panel(
            "stacked",
            ["", *audit.VERDICTS, "reproduced (alone better or worse)"],
            [Block("Cells chosen by", counts)],
            title="Verdicts",
        ),
        *(_numbers(name, shown, settings) for name in audit.TASK_OF_RESULTS),
        *_protocols(protocols[protocols["rule"] == settings["rule"]], settings),
        _decisions(settings["decisions"]),
    ]
    return Table(
        name="paper_vs_reproduced",
        caption="Published and reproduced results",
        panels=panels,
        notes=[],
        explanation=(
            "Every published mean ± standard deviation (percent) beside ours: difference with its 95 % interval, the "
            "p-value of Welch's t-test from the two summaries, and the same after Holm's correction for all tests of a "
            f"selection rule. reproduced: corrected p ≥ {audit.ALPHA:g}, no difference can be shown, which with five "
            "splits on each side doesn't exclude small ones; in parentheses where p itself is below it, so that the "
            "result alone would count as better or worse; better or worse: a significant difference to that side; "
            "not run: ours is missing, or the rule paper meets a method whose cells the paper doesn't give. "
            f"Shown in full: {RULES[settings['rule']]} (selection.rule: {settings['rule']})."
        ),
    )


def _numbers(name: str, frame: pd.DataFrame, settings: Mapping[str, Any]) -> Panel:
    frame = frame[[name == tables.split("+")[0] for tables in frame["table"]]]
    blocks = []
    for dataset, group in frame.groupby("dataset", sort=False):
        entry = settings["datasets"].get(dataset)
        title = entry["title"] if entry else labels.PAPER[dataset]
        reason = entry["reason"] if entry else "not in this configuration"
        if reason:
            blocks.append(Block(title, reason=reason))
            continue
        rows = []
        for number, (method, lines) in enumerate(group.groupby("method", sort=False)):
            shown = settings["methods"].get(method, {}).get("title") or labels.PAPER[method]
            rows += [_line(shown if k == 0 else "", line, number) for k, line in enumerate(lines.itertuples())]
        blocks.append(Block(title, rows))
    header = ["", "Metric", "Paper", "Ours", "Difference", "95 % interval", "p", "p (Holm)", "Verdict"]
    text = "FairGAT's rows that agree with the comparison are not repeated." if name == "ablation" else ""
    return Panel("stacked", header, blocks, title=_TITLES[name], text=(text,) if text else (), align="llrrrrrrl")


def _protocols(frame: pd.DataFrame, settings: Mapping[str, Any]) -> list[Panel]:
    """Link prediction with a column per protocol; nothing where it was not run."""
    names = list(dict.fromkeys(frame["protocol"]))
    blocks = []
    for dataset, group in frame.groupby("dataset", sort=False):
        entry = settings["datasets"].get(dataset)
        if not entry or entry["reason"]:
            continue
        rows = []
        for number, (method, measures) in enumerate(group.groupby("method", sort=False)):
            shown = settings["methods"].get(method, {}).get("title") or labels.PAPER[method]
            for k, (_, lines) in enumerate(measures.groupby("metric", sort=False)):
                lines = list(lines.itertuples())
                cells = [Cell(shown if k == 0 else ""), *_published(lines[0])]
                for line in lines:
                    cells += [_ours(line), _verdict(line)]
                rows.append(Row(cells, group=number))
        blocks.append(Block(entry["title"], rows))
    if not blocks:
        return []
    text = (
        "validation: the epoch of best validation AUC, the cut-off that is best on validation. fairdrop: what the "
        "notebook of FairDrop's authors reports, the last epoch with the cut-off that is best on the test set. The "
        "hyperparameter cells are the same for both."
    )
    header = ["", "Metric", "Paper", *(column for name in names for column in (f"Ours ({name})", "Verdict"))]
    return [
        Panel("stacked", header, blocks, "Link prediction under both protocols", (text,), "llr" + "rl" * len(names))
    ]


def _published(line: Any) -> list[Cell]:
    return [
        Cell(str(labels.metric(line.metric)).removesuffix(" (%)")),
        Cell(f"{line.paper_mean:.2f}", std=f"{line.paper_std:.2f}"),
    ]


def _ours(line: Any) -> Cell:
    return Cell(_number("{:.2f}", line.mean), std="" if pd.isna(line.std) else f"{line.std:.2f}")


def _verdict(line: Any) -> Cell:
    alone = audit.verdict(line.metric, line.difference, line.p) if line.verdict == "reproduced" else line.verdict
    return Cell(
        line.verdict if alone == line.verdict else f"{line.verdict} (alone {alone})",
        bold=line.verdict in ("better", "worse"),
    )


def _number(form: str, *values: float) -> str:
    return "–" if any(pd.isna(value) for value in values) else form.format(*values)


def _line(method: str, line: Any, group: int) -> Row:
    return Row(
        [
            Cell(method),
            *_published(line),
            _ours(line),
            Cell(_number("{:+.2f}", line.difference)),
            Cell(_number("{:+.2f} … {:+.2f}", line.ci_low, line.ci_high)),
            Cell(_number("{:.3g}", line.p)),
            Cell(_number("{:.3g}", line.p_holm)),
            _verdict(line),
        ],
        group=group,
    )


def _decisions(decisions: list[Mapping[str, Any]]) -> Panel:
    texts = []
    for entry in decisions:
        head = [entry["setting"] or "built in"] + ([entry["value"]] if entry["value"] is not None else [])
        texts.append(f"{' = '.join(head)}: {' '.join(entry['decision'].split())}")
    return Panel("stacked", title="What the paper leaves open, and how it is settled here", text=tuple(texts))


def claim_page(
    paper: Mapping[str, Any], by_rule: pd.DataFrame, seconds: Mapping[str, Mapping[str, float]], rule: str
) -> Table:
    """Each claim on the paper's own numbers and on ours under the three selection rules.

    Args:
        paper: as `fairgat.reporting.paper.load` gives it.
        by_rule: rows of the `_by_rule` summaries of all tasks (fractions).
        seconds: data set → method → our median seconds per epoch.
        rule: the selection rule that the tables render; it comes first.
    """
    rules = [rule, *(name for name in RULES if name != rule)]
    ours = {name: claims.our_results(by_rule, name, seconds) for name in rules}
    overview, details, unsupported = [], [], []
    for claim in claims.load():
        own = claims.judge(claim, claims.papers_results(paper, claim["table"]))
        judged = [own, *(claims.judge(claim, ours[name]) for name in rules)]
        title = f"Claim {claim['id']}"
        statuses = [claims.status(checks) for checks in judged]
        overview.append(Row([Cell(f"{claim['id']}"), Cell(claim["claim"]), *(_status(text) for text in statuses)]))
        rows = [
            Row(
                [Cell(checks[0].subject), *(Cell(f"{check.numbers} {_MARKS[check.holds]}".strip()) for check in checks)]
            )
            for checks in zip(*judged, strict=True)
        ]
        header = ["", "Paper's own numbers", *(f"Ours ({name})" for name in rules)]
        verdict = f"Paper's own numbers: {statuses[0]}. Ours: " + ", ".join(
            f"{text} ({name})" for name, text in zip(rules, statuses[1:], strict=True)
        )
        details.append(
            Panel(
                "stacked",
                header,
                [Block("Check", rows)],
                title=f"{title}: {claim['claim']}",
                text=(claim["rule"], verdict + "."),
                align="lllll",
            )
        )
        if statuses[0] == claims.NOT_SUPPORTED and not claim.get("bounds_are_ours"):
            failing = "; ".join(f"{check.subject}: {check.numbers}" for check in own if check.holds is False)
            unsupported.append(f"{title} doesn't hold everywhere in the paper's own table ({failing}).")
    header = ["", "Claim", "Paper's own numbers", *(f"Ours ({name})" for name in rules)]
    bold = "The paper's bold print is not on the best mean in: " + " ".join(claims.misplaced_bold(paper))
    return Table(
        name="claims",
        caption="The paper's claims",
        panels=[
            Panel("stacked", header, [Block("#", overview)], align="llllll"),
            Panel("stacked", title="Oddities of the paper", text=(*claims.inconsistencies(paper), *unsupported, bold)),
            *details,
        ],
        notes=[],
        explanation=(
            "Each claim is a rule on numbers, applied alike to the paper's tables and to ours under each of the three "
            "ways to choose a hyperparameter cell. The rules compare means alone and ignore the noise between splits: "
            "a lead within it counts as one. not supported: at least one check fails (✗). not run: no check "
            "could be made, as results are missing (–). supported where run: those that could be made hold."
        ),
    )


def _status(text: str) -> Cell:
    return Cell(text, bold=text == claims.NOT_SUPPORTED)
