"""Compare two results folders, A and B: what differs beyond rounding, what only one has, and what may explain it.

`compare` merges what is published of two runs: `summary/`, `audit/` and `provenance.json`. What a folder lacks of these
is said and left out.
"""

from dataclasses import dataclass, replace
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

RUN = ["dataset", "method", "cell", "split"]
SCORE = ["dataset", "method", "cell", "part", "protocol", "metric"]
RUNS, PROVENANCE = "summary/*/runs.csv", "provenance.json"
HEADER = ["", "A", "B", "B less A (points)", "largest on a split"]


@dataclass(frozen=True)
class Kind:
    """What is compared beside runs and scores: a column of a file (* is each task), in the rows that `keys` name."""

    title: str
    file: str
    keys: list[str]
    value: str


KINDS = (
    Kind("Chosen cells", "summary/*/winners.csv", ["rule", "dataset", "method"], "cell"),
    Kind("Verdicts", "audit/paper_vs_reproduced.csv", ["rule", "dataset", "method", "metric", "paper_mean"], "verdict"),
    Kind("Claims", "audit/claims.csv", ["rule", "claim"], "status"),
)


def compare(a: Path, b: Path, tolerance: float) -> tuple[Table, bool]:
    """Compare two results folders.

    Args:
        a, b: each the results of a run, or `results/reference`.
        tolerance: up to which two scores (fractions) on a split are the same.

    Returns:
        The whole comparison, and whether anything differs in what both ran: a score by more than `tolerance`, one that
        only one of them has, or a failure. A metric that only one of them knows is no difference. Chosen cells,
        verdicts and claims, which depend on all of a run, count where both ran the same.

    Raises:
        DataError: a folder holds no results, one of its files is damaged, or no run is in both.
    """
    first, second = _runs(a), _runs(b)
    runs = _beside(first, second, RUN, "reason")
    both, extra = runs.dropna(), runs[runs[["a", "b"]].isna().any(axis=1)]
    if both.empty:
        raise DataError(f"no run (a cell of a method on a split of a data set) is both in {a} and in {b}")
    scores, lost = _scores(first, second, both)
    gaps = _gaps(scores)
    beyond = gaps[gaps["largest"] > tolerance].sort_values("largest", ascending=False, kind="stable")
    judged = [_block(kind.title, _read_both(kind, a, b), kind.keys) for kind in KINDS]
    blocks = [
        Block("In one only", [*_by_split(extra, RUN[:-1]), *_by_split(lost, SCORE)]),
        Block(f"Scores that differ: {len(beyond)} of {len(gaps)}", [_score(line) for line in beyond.itertuples()]),
        failed := _block("Runs", both.assign(split="split " + both["split"].map(str)), RUN),
        *judged,
        _block("Settings", _settings(a, b), ["setting"]),
    ]
    text = _headline(len(both), gaps, beyond, tolerance) + _limits(lost, _in_one(first, second), extra)
    panel = Panel("stacked", HEADER, [block for block in blocks if block.rows], align="lllrr")
    table = Table("comparison", f"{a} (A) and {b} (B)", [panel], _notes(a, b, len(beyond) > 0), text)
    counted = [failed, *(judged if extra.empty else [])]
    return table, len(beyond) + len(lost) + sum(len(block.rows) for block in counted) > 0


def shortened(table: Table, rows: int) -> Table:
    """Leave the first `rows` of each block, and say how many more there are."""

    def cut(block: Block) -> Block:
        more = len(block.rows) - rows
        return replace(block, rows=[*block.rows[:rows], _row(f"and {more} more")]) if more > 0 else block

    return replace(table, panels=[replace(panel, blocks=[*map(cut, panel.blocks)]) for panel in table.panels])


def _runs(folder: Path) -> pd.DataFrame:
    """The rows of runs.csv; the `reason` of a run that has none is that it finished."""
    frame = _read(folder, RUNS, [*RUN, *SCORE, "value", "reason"])
    if frame.empty:
        raise DataError(f"{folder} holds no scores ({RUNS}). A whole run makes them: snakemake --cores 2")
    return frame.assign(reason=frame["reason"].replace("", "finished"))


def _read(folder: Path, file: str, columns: list[str]) -> pd.DataFrame:
    frame = frames.read(*(path for path in _places(folder, file) if path.exists()), columns=columns)
    return frame.assign(cell=frame["cell"].map(in_words)) if "cell" in columns else frame


def _places(folder: Path, file: str) -> list[Path]:
    return [*dict.fromkeys(folder / file.replace("*", task) for task in TASKS)]


def _beside(first: pd.DataFrame, second: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """Merge the values of two runs by what they are of: in A (`a`) and in B (`b`), NaN where one lacks it."""
    sides = (frame[[*keys, value]].dropna().drop_duplicates(keys) for frame in (first, second))
    return pd.merge(*sides, on=keys, how="outer").set_axis([*keys, "a", "b"], axis=1)


def _scores(first: pd.DataFrame, second: pd.DataFrame, runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores of runs that both finished, and those that only one has, of metrics that both know."""
    finished = runs.loc[(runs["a"] == "finished") & (runs["b"] == "finished"), RUN]
    scores = _beside(_judged(first), _judged(second), [*SCORE, "split"], "value").merge(finished)
    lost = scores[["a", "b"]].isna().any(axis=1) & ~scores["metric"].isin(_in_one(first, second))
    return scores.dropna(), scores[lost]


def _in_one(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """The metrics that only one run knows."""
    return sorted({*_judged(first)["metric"]} ^ {*_judged(second)["metric"]})


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["part"].isin(["validation", "test"])]


def _gaps(scores: pd.DataFrame) -> pd.DataFrame:
    """B less A of every score of a cell: as `fairgat.scores.paired.differences`, and the `largest` on a split."""
    pairs = scores.assign(base=scores["a"], value=scores["b"], largest=(scores["b"] - scores["a"]).abs())
    means = pairs.groupby(SCORE).agg({"a": "mean", "b": "mean", "largest": "max"}).reset_index()
    return differences(pairs, SCORE).merge(means, on=SCORE)


def _read_both(kind: Kind, a: Path, b: Path) -> pd.DataFrame:
    sides = (_read(folder, kind.file, [*kind.keys, kind.value]) for folder in (a, b))
    return _beside(*sides, kind.keys, kind.value).dropna()


def _settings(a: Path, b: Path) -> pd.DataFrame:
    """What provenance.json says of both runs, a dash where it says nothing of one."""
    paths = [folder / PROVENANCE for folder in (a, b)]
    if not all(path.exists() for path in paths):
        return pd.DataFrame(columns=["setting", "a", "b"])
    return _beside(*map(_flat, paths), ["setting"], "value").fillna(str(DASH))


def _flat(provenance: Path) -> pd.DataFrame:
    content = read_json(provenance)
    try:
        trained = ", ".join(f"{code['runs']} runs at {code['commit']}" for code in content["trained_at"])
        said = {name: value for name, value in content.items() if name not in ("rules", "files")}  # rules have times
    except (KeyError, TypeError) as error:
        raise DataError(f"{provenance} is damaged, or of another version: {error}") from None
    flat = pd.json_normalize(said | {"trained_at": trained})
    return pd.DataFrame({"setting": flat.columns, "value": flat.iloc[0].map(str).tolist()})


def _block(title: str, lines: pd.DataFrame, keys: list[str]) -> Block:
    """The rows whose two values differ."""
    changed = lines[lines["a"] != lines["b"]]
    rows = [_row(_name(key), a, b) for *key, a, b in changed[[*keys, "a", "b"]].itertuples(index=False)]
    return Block(f"{title} that differ: {len(rows)} of {len(lines)}", rows)


def _by_split(lines: pd.DataFrame, keys: list[str]) -> list[Row]:
    """A row for all splits of a run or a score that is in one only."""

    def splits(group: pd.DataFrame, side: str) -> Text:
        known = group.loc[group[side].notna(), "split"].map(str)
        return f"splits {', '.join(known)}" if len(known) else DASH

    return [_row(_name(key), splits(group, "a"), splits(group, "b")) for key, group in lines.groupby(keys)]


def _name(key: list | tuple) -> str:
    return ", ".join(str(part) for part in key if part != "")


def _score(line) -> Row:
    means, difference = map(percent.score, (line.a, line.b)), percent.signed(line.difference, line.low, line.high)
    return _row(_name([getattr(line, key) for key in SCORE]), *means, difference, percent.brief(line.largest))


def _row(*entries: Cell | Text) -> Row:
    return row(*entries, *[""] * (len(HEADER) - len(entries)))


def _limits(lost: pd.DataFrame, metrics: list[str], extra: pd.DataFrame) -> str:
    """Say what was not compared."""
    text = ""
    if len(lost):
        text += f" Of runs that both finished, {len(lost)} scores on a split are in one only."
    if metrics:
        text += f" Not compared: {', '.join(metrics)}, which one of them does not know."
    if len(extra):
        text += " Chosen cells, verdicts and claims depend on all that was run, and these two did not run the same."
    return text


def _notes(a: Path, b: Path, differ: bool) -> list[tuple[str, str]]:
    files = [RUNS, *(kind.file for kind in KINDS), PROVENANCE]
    places = [place for folder in (a, b) for file in files for place in _places(folder, file)]
    notes = [("", f"Not compared: {place} does not exist.") for place in places if not place.exists()]
    return notes + ([("", "Not compared: the data files that the runs started from.")] if differ else [])


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
