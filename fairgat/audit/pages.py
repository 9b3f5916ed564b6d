"""The audit as pages: verdicts on every number, the claims, and every cell against GAT."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from fairgat import measures
from fairgat.audit import agreement
from fairgat.audit import claims as claiming
from fairgat.config import TASKS
from fairgat.config.shown import AuditSettings, Decision
from fairgat.paper import TASK_OF_RESULTS, load
from fairgat.report import labels, percent
from fairgat.report.failures import in_words
from fairgat.report.model import DASH, Block, Cell, Panel, Row, Table, Text, row, titled
from fairgat.scores.paired import for_other_people, leave_out_0

_MARKS = {True: "✓", False: "✗", None: "–"}
_TITLES = {"comparison": "Comparison", "ablation": "Ablation", "link_prediction": "Link prediction"}


def verdicts(frame: pd.DataFrame, protocols: pd.DataFrame, settings: AuditSettings) -> Table:
    """Paper against reproduction, number by number, under the rule that is shown, with counts for every rule.

    `frame` and `protocols` are those of `agreement.compare` and `agreement.compare_protocols`.
    """
    counts = [
        row(rule, *((group["verdict"] == each).sum() for each in labels.VERDICTS), agreement.significant_alone(group))
        for rule, group in frame.groupby("rule", sort=False)
    ]
    shown = frame[frame["rule"] == settings.rule]
    return Table(
        name="paper_vs_reproduced",
        caption="Published results and ours",
        panels=[
            Panel(
                "stacked",
                ["", *labels.VERDICTS, "undecided (alone better or worse)"],
                [Block("Cells chosen by", counts)],
                title="Verdicts",
            ),
            *(_numbers(name, shown, settings) for name in TASK_OF_RESULTS),
            *_protocols(protocols[protocols["rule"] == settings.rule], settings),
            _decisions(settings.decisions),
        ],
        notes=[],
        explanation=(
            "Every published mean ± standard deviation (percent) beside ours: difference with its 95 % interval, the "
            "p-value of Welch's t-test from the two summaries, and the same after Holm's correction for all tests of a "
            f"selection rule (significant: below {agreement.ALPHA:g}). The interval is for the means of random splits "
            f"of one data set, ours and the paper's. {agreement.in_words(settings.margins)}; in "
            "parentheses where the result would count as better or worse if it were the only one tested. "
            "Not run: ours is missing, or the rule paper meets a method whose cells the paper doesn't give. "
            f"Shown in full: {labels.RULES[settings.rule]} (selection.rule: {settings.rule})."
        ),
        source="Ours are from summary/(task)/winners.csv.",
    )


def _numbers(name: str, frame: pd.DataFrame, settings: AuditSettings) -> Panel:
    header = ["", "Metric", "Paper", "Ours", "Difference", "95 % interval", "p", "p (Holm)", "Verdict"]
    text = "FairGAT's rows that agree with the comparison are not repeated." if name == "ablation" else ""
    blocks = _blocks(frame[frame["table"].str.split("+").str[0] == name], settings, _line)
    return Panel("stacked", header, blocks, title=_TITLES[name], text=(text,) if text else (), align="llrrrrrrl")


def _protocols(frame: pd.DataFrame, settings: AuditSettings) -> list[Panel]:
    """Link prediction with two columns per protocol; nothing where it was not run."""
    run = [dataset.name for dataset in settings.datasets if not dataset.reason]
    frame = frame[frame["dataset"].isin(run)]
    if frame.empty:
        return []
    names = list(dict.fromkeys(frame["protocol"]))

    def line(lines: pd.DataFrame) -> list[Cell]:
        each = list(lines.itertuples())
        return [*_published(each[0]), *(cell for one in each for cell in (_ours(one), _verdict(one)))]

    text = (
        "validation: the epoch of best validation AUC, the cut-off that is best on validation. fairdrop: what the "
        "notebook of FairDrop's authors reports, the last epoch with the cut-off that is best on the test set. The "
        "hyperparameter cells are the same for both."
    )
    header = ["", "Metric", "Paper", *(column for name in names for column in (f"Ours ({name})", "Verdict"))]
    blocks = _blocks(frame, settings, line)
    align = "llr" + "rl" * len(names)
    return [Panel("stacked", header, blocks, "Link prediction under both protocols", (text,), align=align)]


def _blocks(frame: pd.DataFrame, settings: AuditSettings, line: Any) -> list[Block]:
    """A block per data set; `line` makes the cells of a method's metric from its rows."""
    blocks, known = [], {dataset.name: dataset for dataset in settings.datasets}
    for dataset, group in frame.groupby("dataset", sort=False):
        entry = known.get(dataset)
        title = entry.title if entry else dataset
        reason = entry.reason if entry else "not in this configuration"
        if reason:
            blocks.append(Block(title, reason=reason))
            continue
        rows = []
        for number, (method, lines) in enumerate(group.groupby("method", sort=False)):
            made = (line(each) for _, each in lines.groupby(["metric", "table", "paper_mean"], sort=False))
            rows += titled(settings.method_titles.get(method, method), made, number)
        blocks.append(Block(title, rows))
    return blocks


def _line(lines: pd.DataFrame) -> list[Cell | Text]:
    (line,) = lines.itertuples()
    interval = percent.formatted("{:+.2f} … {:+.2f}", line.ci_low, line.ci_high)
    difference, *p = map(percent.formatted, ("{:+.2f}", "{:.3g}", "{:.3g}"), (line.difference, line.p, line.p_holm))
    return [*_published(line), _ours(line), difference, interval, *p, _verdict(line)]


def _published(line: Any) -> list[Cell | Text]:
    metric = str(labels.metric(line.metric)).removesuffix(" (%)")
    return [metric, Cell(f"{line.paper_mean:.2f}", std=f"{line.paper_std:.2f}")]


def _ours(line: Any) -> Cell:
    deviation = "" if pd.isna(line.std) else f"{line.std:.2f}"
    return Cell(percent.formatted("{:.2f}", line.mean), std=deviation)


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
    return Panel("stacked", title="What the paper leaves open, and how it is settled here", text=tuple(texts))


def claims(ours: Mapping[str, claiming.Results], leads: pd.DataFrame, chances: pd.DataFrame) -> Table:
    """Each claim on the paper's own numbers and on ours, with how far those of the paper carry it.

    Args:
        ours: results by the heading of their column.
        leads: as `fairgat.audit.support.differences` gives them.
        chances: as `fairgat.audit.support.chances` gives them.
    """
    columns = ["Paper's own numbers", *ours]
    overview, details, luck = [], [], []
    for number, claim in claiming.CLAIMS.items():
        judged = [claim.judge(claiming.papers(claim.table)), *map(claim.judge, ours.values())]
        verdicts = [verdict for verdict, _ in judged]
        bold = [Cell(verdict, bold=verdict == claiming.NOT_SUPPORTED) for verdict in verdicts]
        overview.append(row(number, claim.text, *bold))
        luck.append(row(number, *(percent.formatted("{:.2f}", value) for value in chances.loc[number])))
        own = leads[leads["claim"] == number].set_index(["dataset", "method", "metric"])
        rows = []
        for each in zip(*(checks for _, checks in judged), strict=True):
            published, *rest = [f"{check.numbers} {_MARKS[check.holds]}".strip() for check in each]
            rows.append(row(each[0].subject, published, *([_leads(each[0], own)] if len(own) else []), *rest))
        said = "; ".join(f"{column}: {verdict}" for column, verdict in zip(columns, verdicts, strict=True))
        header = ["", columns[0], *(["Paper's own differences"] if len(own) else []), *ours]
        details.append(
            Panel(
                "stacked",
                header,
                [Block("Check", rows)],
                title=f"Claim {number}: {claim.text}",
                text=(claim.rule, f"{said}.", *([_worth(own)] if len(own) else [])),
                align="l" * len(header),
            )
        )
    return Table(
        name="claims",
        caption="The paper's claims",
        panels=[
            Panel("stacked", ["", "Claim", *columns], [Block("#", overview)], align="l" * (2 + len(columns))),
            Panel(
                "stacked",
                ["", *chances.columns],
                [Block("#", luck)],
                title="If the paper's tables were exactly right, or all methods alike",
                text=(_CHANCE,),
                align="l" + "r" * len(chances.columns),
            ),
            Panel("stacked", title="Oddities of the paper", text=tuple(load()["oddities"])),
            *details,
        ],
        notes=[],
        explanation=(
            "Each claim is a rule on numbers, applied alike to the paper's tables and to ours under each of the three "
            "ways to choose a hyperparameter cell (and, where given, to a study with more splits). The rules compare "
            "the numbers as they are (means; in claim 3 standard deviations, in 6 and 8 seconds) and ignore noise, so "
            "even a lead smaller than the noise counts, and a claim can fail, or pass, by luck. not supported: at "
            "least one check fails (✗). not run: no check could be made, as results are missing (–). supported where "
            "run: every check that could be made holds."
        ),
    )


_CHANCE = (
    "The chance that splits support a claim, in simulations that draw the results of each method, independently of the "
    "others, from a normal distribution with the printed mean and deviation. On splits that methods share, their "
    "differences may vary less. In the last column all methods of a table have the same mean and deviation. "
    "Claims about seconds have no chance here, as no deviation is printed."
)


def _leads(check: claiming.Check, own: pd.DataFrame) -> str:
    """FairGAT's published mean less each that a check compares it with, ± half the interval."""
    rivals, metrics = ({key[place] for key in check.means} for place in (1, 2))
    texts = []
    for key in check.means:
        line = own.loc[key]
        names = [name for name, known in ((key[1], rivals), (key[2], metrics)) if len(known) > 1]
        texts.append(" ".join([*names, f"{line['difference']:+.2f} ± {(line['high'] - line['low']) / 2:.2f}"]))
    return "; ".join(texts)


def _worth(own: pd.DataFrame) -> str:
    return (
        f"The paper's own differences are FairGAT's means less the others', ± half their 95 % interval by Welch's test "
        f"from the printed means and deviations, which treats the methods' splits as independent: how they vary "
        f"together is not printed. Intervals that leave out 0: "
        f"{(own['p'] < agreement.ALPHA).sum()} of {len(own)}; significant after Holm's correction for their number: "
        f"{(own['p_holm'] < agreement.ALPHA).sum()}."
    )


def paired(frame: pd.DataFrame, settings: AuditSettings) -> Table:
    """The differences to GAT with `corrected`, in two panels per task.

    One has all cells, with intervals for other splits, one the selected cells, with intervals for other people.
    """
    panels, shown = [], [name for task in TASKS for name in measures.names(task, "shown")]
    frame = frame[frame["metric"].isin(shown)]
    kinds = {percent.SPLITS: frame, percent.PEOPLE: for_other_people(frame[frame["selected"]])}
    for (task, training), (kind, lines) in product(TASKS.items(), kinds.items()):
        metrics = measures.names(task, "shown")
        blocks = []
        for dataset in settings.datasets:
            group = lines[lines["dataset"] == dataset.name]
            if dataset.task == task and not group.empty:
                blocks.append(Block(dataset.title, _differences(group, metrics, settings.method_titles)))
        if blocks:
            header, align = ["", "Cell", *map(labels.metric, metrics)], "ll" + "r" * len(metrics)
            panels.append(Panel("stacked", header, blocks, f"{training.title}: {kind}", align=align))
    counts = " and ".join(f"{leave_out_0(lines)} for {kind}" for kind, lines in kinds.items())
    return Table(
        name="paired",
        caption="Every cell against GAT on the same splits",
        panels=panels,
        notes=[],
        explanation=(
            "Test scores less GAT's on the same split, in percentage points: mean over the splits ± half a 95 % "
            f"interval, bold where that leaves out 0. {percent.INTERVALS} {percent.NOT_CORRECTED} Here {counts} do. "
            "The cell that was selected has a bold name; the others say what other choices would have given, and chose "
            "nothing."
        ),
        source="From summary/(task)/runs.csv.",
    )


def _differences(group: pd.DataFrame, metrics: Sequence[str], titles: Mapping[str, str]) -> list[Row]:
    rows = []
    for number, (method, mine) in enumerate(group.groupby("method", sort=False)):
        made = []
        for cell, lines in mine.groupby("cell", sort=False):
            gaps = {
                line.metric: percent.signed(line.difference, line.low, line.high, measures.find(line.metric).unit)
                for line in lines.itertuples()
            }
            name = Cell(in_words(cell), bold=bool(lines["selected"].iloc[0]))
            made.append([name, *(gaps.get(metric, DASH) for metric in metrics)])
        rows += titled(titles.get(method, method), made, number)
    return rows
