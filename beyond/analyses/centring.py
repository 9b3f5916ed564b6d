"""`centring`: the preregistered comparisons, and the sentences that they choose.

By docs/plans/centring.md. Reads scores.csv of the study. Writes primary.csv and
primary.md, the 36 comparisons, and sentences.md. `make analyses`, or
`python -m beyond.analyses.centring FOLDER`.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from beyond.analyses.centring_comparisons import (
    ALIKE,
    AREA,
    GAP,
    GRAPHS,
    HIGHER,
    KEYS,
    LOSS,
    LOWER,
    SPLITS,
    SUBJECTS,
    UNDECIDED,
    Subject,
    compare,
)
from fairgat.files import recording, write_text
from fairgat.report import labels
from fairgat.report.model import Block, Panel, Row, Table, row

READINGS = SUBJECTS[:2]

# By the verdicts on the gap: less GAT, less the matched placebo.
OUTCOMES = {
    (LOWER, LOWER): "by the topics",
    (LOWER, ALIKE): "not by the topics",
    (LOWER, HIGHER): "against the topics",
    (LOWER, UNDECIDED): "by something",
    (ALIKE, LOWER): "than matched only",
    (UNDECIDED, LOWER): "than matched only",
    **dict.fromkeys(
        [(ALIKE, other) for other in (ALIKE, HIGHER, UNDECIDED)], "neither"
    ),
    **dict.fromkeys(
        [(UNDECIDED, other) for other in (ALIKE, HIGHER, UNDECIDED)], "undecided"
    ),
    **dict.fromkeys(
        [(HIGHER, other) for other in (LOWER, ALIKE, HIGHER, UNDECIDED)], "wider"
    ),
}
OF_GAP = {
    "by the topics": (
        "On {graphs} {subject} makes errors more alike for links within and across "
        "topics than GAT, and it needs the true topics for that: ΔEO_m is narrower "
        "than that of its matched placebo, too."
    ),
    "not by the topics": (
        "On {graphs} {subject} makes errors more alike for links within and across "
        "topics than GAT, and does not need the true topics for that: its matched "
        "placebo has the same ΔEO_m, to within 5 points."
    ),
    "against the topics": (
        "On {graphs} {subject} makes errors more alike for links within and across "
        "topics than GAT, and does not need the true topics for that: the ΔEO_m of its "
        "matched placebo is narrower still."
    ),
    "by something": (
        "On {graphs} {subject} makes errors more alike for links within and across "
        "topics than GAT, with a narrower ΔEO_m; whether it needs the true topics for "
        "that is not decided."
    ),
    "than matched only": (
        "On {graphs} {subject} has a narrower ΔEO_m than its matched placebo, and is "
        "not shown to have a narrower one than GAT."
    ),
    "neither": (
        "On {graphs} {subject} has the same ΔEO_m as GAT, to within 5 points, and is "
        "not shown to have a narrower one than its matched placebo."
    ),
    "wider": "On {graphs} {subject} has a wider ΔEO_m than GAT.",
    "undecided": (
        "On {graphs} it is not decided whether {subject} has another ΔEO_m than GAT, "
        "and it is not shown to have a narrower one than its matched placebo."
    ),
}
OF_AREA = {
    "costs": "On {graphs} {subject} costs AUC against GAT.",
    "costs little": (
        "On {graphs} {subject} costs AUC against GAT, and less than a point."
    ),
    "gains": "On {graphs} {subject} has a higher AUC than GAT.",
    "no loss": "On {graphs} {subject} costs no AUC against GAT, or less than a point.",
    "open": (
        "On {graphs} it is not decided whether {subject} costs more than a point of "
        "AUC against GAT."
    ),
}
OF_TOPICS = {
    LOWER: (
        "On {graphs} the true topics cost {subject} AUC against its matched placebo."
    ),
    HIGHER: (
        "On {graphs} the true topics save {subject} AUC against its matched placebo."
    ),
    ALIKE: (
        "On {graphs} the true topics change the AUC of {subject} by less than a point "
        "against its matched placebo."
    ),
    UNDECIDED: (
        "On {graphs} it is not decided whether the true topics change the AUC of "
        "{subject} against its matched placebo."
    ),
}
SAME_READINGS = (
    "On {graphs} the sentence on {what} is the same whether step 3 subtracts the mean "
    "or not."
)
OTHER_READINGS = (
    "On {graphs} the sentence on {what} depends on whether step 3 subtracts the mean, "
    "which the paper leaves open."
)


# --------------------------------------------------------------------- the sentences


def of_gap(compared: pd.DataFrame, graph: str, subject: Subject) -> str:
    """Choose the sentence on the gap: a key of OF_GAP."""
    less_gat = _line(compared, graph, subject, "gat", GAP)
    less_matched = _line(compared, graph, subject, subject.matched, GAP)
    return OUTCOMES[less_gat["verdict"], less_matched["verdict"]]


def of_area(compared: pd.DataFrame, graph: str, subject: Subject) -> str:
    """Choose the sentence on AUC against GAT: a key of OF_AREA."""
    line = _line(compared, graph, subject, "gat", AREA)
    no_loss = line["low"] > LOSS
    if line["verdict"] == HIGHER:
        return "gains"
    if line["verdict"] == LOWER:
        return "costs little" if no_loss else "costs"
    return "no loss" if no_loss else "open"


def of_topics(compared: pd.DataFrame, graph: str, subject: Subject) -> str:
    """Choose the sentence on AUC against the placebo: a key of OF_TOPICS."""
    return _line(compared, graph, subject, subject.matched, AREA)["verdict"]


def _line(
    compared: pd.DataFrame, graph: str, subject: Subject, of: str, metric: str
) -> pd.Series:
    return compared.set_index(KEYS).loc[(graph, subject.method, of, metric)]


def sentences(compared: pd.DataFrame) -> list[str]:
    """List the sentences of the plan that hold, those on each subject first."""
    chosen = []
    for subject in SUBJECTS:
        parts = (
            (of_gap, OF_GAP, "gat", GAP),
            (of_area, OF_AREA, "gat", AREA),
            (of_topics, OF_TOPICS, subject.matched, AREA),
        )
        for choose, texts, of, metric in parts:
            graphs_of = defaultdict(list)
            for graph in GRAPHS:
                named = _with_number(compared, graph, subject, of, metric)
                graphs_of[choose(compared, graph, subject)].append(named)
            for key, text in texts.items():
                if key in graphs_of:
                    graphs = _listed(graphs_of[key])
                    chosen.append(text.format(graphs=graphs, subject=subject.words))
    return chosen + _of_readings(compared)


def _of_readings(compared: pd.DataFrame) -> list[str]:
    """Say on which graphs both readings of step 3 have the same sentences."""
    sentences = []
    for what, choose in (("ΔEO_m", of_gap), ("AUC against GAT", of_area)):
        same, others = [], []
        for graph, title in GRAPHS.items():
            keys = {choose(compared, graph, reading) for reading in READINGS}
            if len(keys) == 1:
                same.append(title)
            else:
                others.append(title)
        if same:
            sentences.append(SAME_READINGS.format(graphs=_listed(same), what=what))
        if others:
            sentences.append(OTHER_READINGS.format(graphs=_listed(others), what=what))
    return sentences


def _with_number(
    compared: pd.DataFrame, graph: str, subject: Subject, of: str, metric: str
) -> str:
    """Name a graph with the difference there and half its corrected interval."""
    line = _line(compared, graph, subject, of, metric)
    if np.isnan(line["low"]):
        return f"{GRAPHS[graph]} (no interval)"
    return f"{GRAPHS[graph]} ({_points(line)})"


def _points(line: pd.Series) -> str:
    half = (line["high"] - line["low"]) / 2
    return f"{100 * line['difference']:+.1f} ± {100 * half:.1f}".replace("-", "−")


def _listed(names: Sequence[str]) -> str:
    """Write names as A, B and C."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


# ------------------------------------------------------------------------- the files


def table(compared: pd.DataFrame) -> Table:
    """Make a block for each graph, a row for each comparison and outcome."""
    titles = {subject.method: subject.title for subject in SUBJECTS}
    blocks = []
    for graph, lines in compared.groupby("dataset", sort=False):
        rows = []
        for _, line in lines.iterrows():
            rows.append(_row(titles[line["method"]], line))
        blocks.append(Block(GRAPHS[graph], rows))
    header = ["Graph", "Of", "less", "Measure", "difference", "p", "Holm", ""]
    return Table(
        name="primary",
        caption="The primary comparisons of docs/plans/centring.md.",
        explanation=(
            f"Test scores of splits {SPLITS[0]} to {SPLITS[-1]}, in points: the mean "
            "difference ± half the 95 % interval by Nadeau and Bengio, which the "
            "verdicts go by; in brackets half that by the paired t. p by the corrected "
            "t-test, and after Holm's correction for all 36."
        ),
        panels=[Panel("multirow", header, blocks, align="llllrrrl")],
        notes=[],
    )


def _row(title: str, line: pd.Series) -> Row:
    less = "GAT" if line["of"] == "gat" else "matched"
    difference = "no interval"
    if not np.isnan(line["low"]):
        difference = f"{_points(line)} ({100 * line['paired']:.1f})"
    p_values = f"{line['p']:.4f}", f"{line['p_holm']:.4f}"
    metric = labels.metric(line["metric"])
    return row(title, less, metric, difference, *p_values, line["verdict"])


def text(compared: pd.DataFrame) -> str:
    """Write the sentences as a page."""
    counts = compared["n_splits"].fillna(0)
    lines = ["# What the preregistered study of centring shows", ""]
    lines += [
        "Written before the first run and chosen by the rules of "
        "docs/plans/centring.md. In brackets the mean difference in points ± half the "
        "corrected 95 % interval. That AUC is not lost is outside Holm's correction.",
        "",
    ]
    if counts.min() < len(SPLITS):
        lines += [
            f"A comparison has scores on {counts.min():.0f} of {len(SPLITS)} splits "
            "only: it counts as undecided.",
            "",
        ]
    lines += [f"- {sentence}" for sentence in sentences(compared)]
    return "\n".join(lines) + "\n"


def main(folder: Path) -> list[Path]:
    """Compare, and choose the sentences; give the paths written."""
    compared = compare(common.scores(folder))
    page = folder / "sentences.md"
    with recording([page]):
        write_text(page, text(compared))
    tables = common.tabled(folder, "primary", compared, table(compared))
    return [*tables, page]


if __name__ == "__main__":
    print(*main(Path(sys.argv[1])), sep="\n")
