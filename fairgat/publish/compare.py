"""Compare two results folders, A and B: what only one has, what differs beyond rounding, and what may explain it.

`compare` reads what is published of a run: `summary/`, `audit/` and `provenance.json`. What a folder lacks of these is
said and left out.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from fairgat.errors import DataError
from fairgat.files import read_json
from fairgat.plan import TASKS
from fairgat.report import percent
from fairgat.report.failures import in_words
from fairgat.report.model import Block, Cell, Panel, Row, Table
from fairgat.scores.paired import differences
from fairgat.scores.runs import read

RUN = ["dataset", "method", "cell", "split"]
SCORE = ["dataset", "method", "cell", "part", "protocol", "metric"]
RUNS, WINNERS, PROVENANCE = "summary/*/runs.csv", "summary/*/winners.csv", "provenance.json"
# What stands beside the scores: its file (* is each task), the columns that name a row, and the one that may differ.
BESIDE = {
    "Runs that end differently": (RUNS, RUN, "reason"),
    "Chosen cells that differ": (WINNERS, ["rule", "dataset", "method"], "cell"),
    "Verdicts that differ": (
        "audit/paper_vs_reproduced.csv", ["rule", "dataset", "method", "metric", "paper_mean", "paper_std"], "verdict",
    ),
    "Claims that differ": ("audit/claims.csv", ["rule", "claim"], "status"),
    "What may explain it": (PROVENANCE, ["setting"], "value"),
}  # fmt: skip


def compare(a: Path, b: Path, tolerance: float) -> tuple[Table, bool]:
    """Compare two results folders.

    Args:
        a, b: each the results of a run, or `results/reference`.
        tolerance: up to which two scores (fractions) on a split are the same.

    Returns:
        The whole comparison, and whether anything differs in what both ran: a score by more than `tolerance`, a failure
        or, where both have the same runs of a method on a data set, its chosen cell. Verdicts and claims, which depend
        on all of a run, count where both ran the same.

    Raises:
        DataError: a folder holds no results, one of its files is damaged, or no run is in both.
    """
    missing: list[str] = []
    runs = [_read(folder, RUNS, [*SCORE, "split", "value"], missing) for folder in (a, b)]
    for folder, frame in zip((a, b), runs, strict=True):
        if frame.empty:
            raise DataError(f"{folder} holds no scores ({RUNS}). A whole run makes them: snakemake --cores 2")
    every = pd.merge(*(frame[RUN].drop_duplicates() for frame in runs), how="outer", indicator="side")
    both, unequal = every[every["side"] == "both"], every.loc[every["side"] != "both", RUN[:2]]
    if both.empty:
        raise DataError(f"no run (a cell of a method on a split of a data set) is both in {a} and in {b}")
    scores = [frame[frame["part"].isin(["validation", "test"])].dropna() for frame in runs]
    gaps = _gaps(*scores)
    gaps["differ"] = gaps["largest"] > tolerance
    beyond = gaps[gaps["differ"]].sort_values("largest", ascending=False, kind="stable")
    alone, differs = _in_one_only(*runs, [RUN[:level] for level in (1, 2, 3, 4)]), len(beyond) > 0
    by_method = gaps.groupby(RUN[:2], sort=False).agg(scores=("differ", "size"), differ=("differ", "sum"))
    by_method = by_method.sort_values("differ", ascending=False, kind="stable").reset_index()
    shown = {
        "In one only": pd.concat([alone, _in_one_only(*scores, [["dataset", "metric"]])]),
        "Scores by method": by_method,
        "Scores that differ": _shown(beyond),
    }
    for title, (pattern, keys, value) in BESIDE.items():
        left, right = (_read(folder, pattern, [*keys, value], missing) for folder in (a, b))
        pairs = left.rename(columns={value: "A"}).merge(right.rename(columns={value: "B"}), on=keys)
        if "dataset" in keys:  # otherwise all that only one ran would differ
            pairs = pairs.merge(both[RUN[:2]].drop_duplicates())
        if pairs.empty:
            continue
        changed = pairs[pairs["A"] != pairs["B"]].replace({"A": {"": "finished"}, "B": {"": "finished"}})
        shown[f"{title}: {len(changed)} of {len(pairs)}"] = changed
        if pattern == WINNERS:
            changed = changed.merge(unequal.drop_duplicates(), how="left", indicator="side").query(
                "side == 'left_only'"
            )
        differs |= len(changed) > 0 and (pattern in (RUNS, WINNERS) or (alone.empty and pattern != PROVENANCE))
    notes = [("", f"Not compared: {path} does not exist.") for path in missing]
    panels = [_panel(title, frame) for title, frame in shown.items()]
    text = _headline(len(both), gaps, beyond, tolerance)
    if len(alone):
        text += " Chosen cells, verdicts and claims depend on all that was run, and these two did not run the same."
    return Table("comparison", f"{a} (A) and {b} (B)", panels, notes, text), differs


def shortened(table: Table, rows: int) -> Table:
    """Leave the first `rows` of each panel, and say of how many."""

    def cut(panel: Panel) -> Panel:
        (block,) = panel.blocks
        said = (f"The first {rows} of {len(block.rows)}:",) if len(block.rows) > rows else ()
        return replace(panel, blocks=[replace(block, rows=block.rows[:rows])], text=said)

    return replace(table, panels=[cut(panel) if panel.blocks else panel for panel in table.panels])


def _read(folder: Path, pattern: str, columns: list[str], missing: list[str]) -> pd.DataFrame:
    """Read these columns, cells in words, of the files that exist; without rows where none does."""
    every = dict.fromkeys(folder / pattern.replace("*", task) for task in TASKS)
    missing += [str(path) for path in every if not path.exists() and str(path) not in missing]
    paths = [path for path in every if path.exists()]
    if not paths:
        return pd.DataFrame(columns=columns)
    try:
        frame = (_provenance if pattern == PROVENANCE else read)(*paths)[columns].drop_duplicates()
    except (DataError, KeyError, TypeError) as error:
        raise DataError(f"{folder / pattern} is damaged, or of another version: {error}") from None
    return frame.assign(cell=frame["cell"].map(in_words)) if "cell" in columns else frame


def _provenance(path: Path) -> pd.DataFrame:
    content = read_json(path)
    trained = ", ".join(f"{code['runs']} runs at {code['commit']}" for code in content["trained_at"])
    flat = pd.json_normalize(content | {"trained_at": trained, "rules": None, "files": None})  # rules have their times
    return pd.DataFrame({"setting": flat.columns, "value": flat.iloc[0].map(str).tolist()})


def _gaps(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """B less A of every score: as `fairgat.scores.paired.differences`, and the `largest` on a split."""
    pairs = b.merge(a.rename(columns={"value": "base"}), on=[*SCORE, "split"])
    sizes = (pairs["value"] - pairs["base"]).abs().groupby([pairs[key] for key in SCORE], sort=False)
    return differences(pairs, SCORE).assign(largest=sizes.max().to_numpy())


def _in_one_only(a: pd.DataFrame, b: pd.DataFrame, levels: Iterable[list[str]]) -> pd.DataFrame:
    """List what the last column of each level has in one only, where both have what the others name."""
    rows = []
    for level in levels:
        for side, frames in (("A", (a, b)), ("B", (b, a))):
            mine, other = (dict.fromkeys(frame[level].itertuples(index=False, name=None)) for frame in frames)
            within, names = {key[:-1] for key in other}, {}
            for key in mine:
                if key not in other and key[:-1] in within:
                    names.setdefault(", ".join(key[:-1]), []).append(str(key[-1]))
            rows += [(side, level[-1], of, "; ".join(each)) for of, each in names.items()]
    return pd.DataFrame(rows, columns=["only in", "what", "of", "names"])


def _headline(runs: int, gaps: pd.DataFrame, beyond: pd.DataFrame, tolerance: float) -> str:
    text = f"{runs} runs (a cell on a split) are in both. Of their {len(gaps)} scores (a metric of a cell), "
    if beyond.empty:
        return f"{text}none differs by more than {tolerance:g} on any split."
    clear = ((beyond["low"] > 0) | (beyond["high"] < 0)).sum()
    return (
        f"{text}{len(beyond)} differ by more than {tolerance:g} on some split, by up to "
        f"{percent.brief(beyond['largest'].max())} percentage points. The mean difference of {clear} (bold) has a 95 % "
        "interval, by the paired t, that leaves out 0; one in twenty would by chance."
    )


def _shown(gaps: pd.DataFrame) -> pd.DataFrame:
    means = [percent.signed(row.difference, row.low, row.high) for row in gaps.itertuples()]
    found = gaps.assign(mean=means, largest=gaps["largest"].map(percent.brief))
    return found[[*SCORE, "n_splits", "mean", "largest"]].rename(columns={"mean": "B less A (points)"})


def _panel(title: str, frame: pd.DataFrame) -> Panel:
    header = [{"dataset": "data set", "n_splits": "splits"}.get(name, name.replace("_", " ")) for name in frame]
    rows = [
        Row([each if isinstance(each, Cell) else Cell(str(each)) for each in row])
        for row in frame.itertuples(index=False, name=None)
    ]
    if not rows:
        return Panel("stacked", title=title, text=("None.",))
    return Panel("stacked", header, [Block(header[0], rows)], title, align="l" * len(header))
