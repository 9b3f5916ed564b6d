"""Compare two results folders, A and B: what differs beyond rounding, what only one has, and what may explain it.

`compare` reads what is published of a run: `summary/`, `audit/` and `provenance.json`. What a folder lacks of these is
said and left out.
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from fairgat import frames
from fairgat.config import TASKS
from fairgat.errors import DataError
from fairgat.files import read_json
from fairgat.report import percent
from fairgat.report.failures import in_words
from fairgat.report.model import DASH, Block, Cell, Panel, Row, Table, Text, row
from fairgat.scores.paired import differences

PAIR = ["dataset", "method"]
RUN = [*PAIR, "cell", "split"]
KEYS = ["kind", "of", *RUN, "metric"]
RUNS = "summary/*/runs.csv"
HEADER = ["", "A", "B", "B less A (points)", "largest on a split"]
# What is compared: the file that has it (* is each task), the columns that name a row, and the one that may differ.
KINDS = {
    "runs": (RUNS, [*PAIR, "cell"], "reason"),
    "metrics": (RUNS, ["dataset", "metric"], "metric"),
    "scores": (RUNS, [*PAIR, "cell", "part", "protocol", "metric"], "value"),
    "chosen cells": ("summary/*/winners.csv", ["rule", *PAIR], "cell"),
    "verdicts": (
        "audit/paper_vs_reproduced.csv", ["rule", *PAIR, "metric", "paper_mean", "paper_std"], "verdict",
    ),
    "claims": ("audit/claims.csv", ["rule", "claim"], "status"),
    "settings": ("provenance.json", ["setting"], "value"),
}  # fmt: skip


def compare(a: Path, b: Path, tolerance: float) -> tuple[Table, bool]:
    """Compare two results folders.

    Args:
        a, b: each the results of a run, or `results/reference`.
        tolerance: up to which two scores (fractions) on a split are the same.

    Returns:
        The whole comparison, and whether anything differs in what both ran: a score by more than `tolerance`, one that
        only one of them has, or a failure. Chosen cells, verdicts and claims, which depend on all of a run, count where
        both ran the same.

    Raises:
        DataError: a folder holds no results, one of its files is damaged, or no run is in both.
    """
    missing: dict[str, None] = {}
    rows = pd.merge(_rows(a, missing), _rows(b, missing), on=KEYS, how="outer", suffixes=("_a", "_b"), sort=False)
    told = rows["kind"] == "settings"
    if rows.loc[told, ["value_a", "value_b"]].notna().any().all():  # both runs say theirs
        rows.loc[told, ["value_a", "value_b"]] = rows.loc[told, ["value_a", "value_b"]].fillna(str(DASH))
    whole = rows[["value_a", "value_b"]].notna().all(axis=1)
    both, one = rows[whole], rows[~whole]
    runs, extra = (lines[lines["kind"] == "runs"] for lines in (both, one))
    if runs.empty:
        raise DataError(f"no run (a cell of a method on a split of a data set) is both in {a} and in {b}")
    gaps = _gaps(both[both["kind"] == "scores"])
    finished = runs.loc[(runs[["value_a", "value_b"]] == "finished").all(axis=1), RUN]
    lost = one[(one["kind"] == "scores") & one[["value_a", "value_b"]].notna().any(axis=1)].merge(finished)
    lost = lost.merge(both.loc[both["kind"] == "metrics", ["dataset", "metric"]])
    beyond = gaps[gaps["largest"] > tolerance].sort_values("largest", ascending=False, kind="stable")
    metrics = one[(one["kind"] == "metrics") & one["dataset"].isin(runs["dataset"])]
    changed = both[(both["value_a"] != both["value_b"]) & (both["kind"] != "scores")]
    counts = changed["kind"] == "runs" if len(extra) else changed["kind"] != "settings"
    scores = [
        _row(
            line.of,
            *map(percent.score, (line.a, line.b)),
            percent.signed(line.difference, line.low, line.high),
            percent.brief(line.largest),
        )
        for line in beyond.itertuples()
    ]
    blocks = [
        Block("In one only", _in_one_only(pd.concat([extra, metrics, lost], ignore_index=True))),
        Block(f"Scores that differ: {len(beyond)} of {len(gaps)}", scores),
    ]
    for kind, compared in both.groupby("kind", sort=False):
        lines = changed[changed["kind"] == kind]
        names = [f"{line.of}{f', split {line.split}' if line.split else ''}" for line in lines.itertuples()]
        shown = [*map(_row, names, lines["value_a"], lines["value_b"])]
        blocks.append(Block(f"{kind.capitalize()} that differ: {len(lines)} of {len(compared)}", shown))
    text = _headline(len(runs), gaps, beyond, tolerance)
    if len(lost):
        text += f" Of runs that both finished, {len(lost)} scores on a split are in one only."
    if len(extra):
        text += " Chosen cells, verdicts and claims depend on all that was run, and these two did not run the same."
    panel = Panel("stacked", HEADER, [block for block in blocks if block.rows], align="lllrr")
    notes = [("", f"Not compared: {path} does not exist.") for path in missing]
    if len(beyond):
        notes.append(("", "Not compared: the data files that the runs started from."))
    differs = len(beyond) > 0 or len(lost) > 0 or bool(counts.any())
    return Table("comparison", f"{a} (A) and {b} (B)", [panel], notes, text), differs


def shortened(table: Table, rows: int) -> Table:
    """Leave the first `rows` of each block, and say how many more there are."""

    def cut(block: Block) -> Block:
        more = len(block.rows) - rows
        return replace(block, rows=[*block.rows[:rows], _row(f"and {more} more")]) if more > 0 else block

    return replace(table, panels=[replace(panel, blocks=[*map(cut, panel.blocks)]) for panel in table.panels])


def _rows(folder: Path, missing: dict[str, None]) -> pd.DataFrame:
    """Everything of a folder that is compared: KEYS and the `value`; `of` names a row in words."""
    parts = []
    for kind, (pattern, names, value) in KINDS.items():
        paths = [*dict.fromkeys(folder / pattern.replace("*", task) for task in TASKS)]
        missing |= {str(path): None for path in paths if not path.exists()}
        paths = [path for path in paths if path.exists()]
        try:
            parts += [_named(_read(paths, [*names, value]), kind, names, value)] if paths else []
        except (DataError, KeyError, TypeError) as error:
            raise DataError(f"{folder / pattern} is damaged, or of another version: {error}") from None
        if not parts or parts[0].empty:
            raise DataError(f"{folder} holds no scores ({RUNS}). A whole run makes them: snakemake --cores 2")
    return pd.concat([part for part in parts if len(part)])


def _read(paths: list[Path], columns: list[str]) -> pd.DataFrame:
    if paths[0].suffix == ".csv":
        return frames.read(*paths, columns=columns)
    content = read_json(paths[0])
    trained = ", ".join(f"{code['runs']} runs at {code['commit']}" for code in content["trained_at"])
    flat = pd.json_normalize(content | {"trained_at": trained, "rules": None, "files": None})  # rules have their times
    return pd.DataFrame({"setting": flat.columns, "value": flat.iloc[0].map(str).tolist()})


def _named(frame: pd.DataFrame, kind: str, names: list[str], value: str) -> pd.DataFrame:
    if kind == "scores":
        frame = frame[frame["part"].isin(["validation", "test"])]
    if "cell" in frame:
        frame = frame.assign(cell=frame["cell"].map(in_words))
    if kind == "runs":
        frame = frame.assign(reason=frame["reason"].replace("", "finished"))
    words = frame[names].astype(str).agg(lambda row: ", ".join(filter(None, row)), axis=1) if len(frame) else ""
    known = [*names, "split"] if kind in ("runs", "scores") else names
    identity = {key: frame[key].astype(str) if key in known else "" for key in KEYS[2:]}
    return pd.DataFrame({"kind": kind, "of": words, **identity, "value": frame[value]}).drop_duplicates()


def _gaps(pairs: pd.DataFrame) -> pd.DataFrame:
    """B less A of every score: as `fairgat.scores.paired.differences`, and the `largest` on a split."""
    pairs = pairs.assign(value=pairs["value_b"].astype(float), base=pairs["value_a"].astype(float))
    pairs["largest"] = (pairs["value"] - pairs["base"]).abs()
    sizes = pairs.groupby("of", sort=False).agg(a=("base", "mean"), b=("value", "mean"), largest=("largest", "max"))
    return differences(pairs, ["of"]).merge(sizes, on="of")


def _in_one_only(lines: pd.DataFrame) -> list[Row]:
    def said(values: pd.Series) -> Text:
        splits = lines.loc[values.dropna().index, "split"]
        return ("splits " + ", ".join(splits) if splits.iloc[0] else "yes") if len(splits) else DASH

    return [_row(of, said(group["value_a"]), said(group["value_b"])) for of, group in lines.groupby("of", sort=False)]


def _row(*entries: Cell | Text) -> Row:
    return row(*entries, *[""] * (len(HEADER) - len(entries)))


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
