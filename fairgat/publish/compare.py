"""Compare two results folders, A and B: what differs beyond rounding, what only one has, and what may explain it.

`compare` merges what is published of two runs: `summary/`, `audit/` and `provenance.json`. What a folder lacks of these
is said and left out.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from fairgat import frames
from fairgat.data.splits import HELD_OUT
from fairgat.errors import DataError
from fairgat.files import read_json
from fairgat.report import percent
from fairgat.report.failures import in_words
from fairgat.report.model import DASH, Block, Panel, Row, Table, row
from fairgat.scores.paired import differences

RUN = ["dataset", "method", "cell", "split"]
SCORE = ["dataset", "method", "cell", "part", "protocol", "metric"]
RUNS, PROVENANCE = "summary/*/runs.csv", "provenance.json"
FINISHED = "finished"


@dataclass(frozen=True)
class Kind:
    """What is compared beside runs and scores: a column of a file (* is each task), in the rows that `keys` name."""

    title: str
    file: str
    keys: list[str]
    value: str


KINDS = (
    Kind(
        "Chosen cells", "summary/*/winners.csv", ["rule", "dataset", "method"], "cell"
    ),
    Kind(
        "Verdicts",
        "audit/paper_vs_reproduced.csv",
        ["rule", "dataset", "method", "metric", "paper_mean"],
        "verdict",
    ),
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
    both = runs.dropna()
    if both.empty:
        raise DataError(
            f"no run (a cell of a method on a split of a data set) is both in {a} and in {b}"
        )
    finished = both.query("a == b == @FINISHED")[RUN]
    first, second = first.merge(finished), second.merge(finished)
    metrics = sorted(
        {*first["metric"]} ^ {*second["metric"]}
    )  # that only one of them knows
    scores = _scores(first, second, metrics)
    lost, gaps = scores[scores[["a", "b"]].isna().any(axis=1)], _gaps(scores.dropna())
    beyond = gaps[gaps["largest"] > tolerance].sort_values(
        "largest", ascending=False, kind="stable"
    )
    judged = [
        _block(f"{kind.title} that differ", _read_both(kind, a, b), kind.keys)
        for kind in KINDS
    ]
    changed = Block(
        f"Scores that differ: {len(beyond)} of {len(gaps)}",
        [_score(line) for line in beyond.itertuples()],
    )
    others = [
        _block("Runs that differ", runs, RUN),
        _block("Scores in one only", lost, [*SCORE, "split"]),
        *judged,
        _block("Settings that differ", _settings(a, b), ["setting"]),
    ]
    panels = [
        Panel(
            "stacked",
            ["", "A", "B", "B less A (points)", "largest on a split"],
            [changed],
            align="lllrr",
        ),
        Panel("stacked", ["", "A", "B"], others, align="lll"),
    ]
    panels = [
        replace(panel, blocks=[block for block in panel.blocks if block.rows])
        for panel in panels
    ]
    same_runs = len(both) == len(runs)
    text = _headline(len(both), gaps, beyond, tolerance) + _limits(metrics, same_runs)
    failed = both[both["a"] != both["b"]]
    differ = [beyond, lost, failed, *(block.rows for block in judged if same_runs)]
    return Table("comparison", f"{a} (A) and {b} (B)", panels, _notes(a, b), text), any(
        map(len, differ)
    )


def shortened(table: Table, rows: int) -> Table:
    """Leave the first `rows` of each block, and say how many more there are."""

    def cut(block: Block, columns: int) -> Block:
        more = len(block.rows) - rows
        if more <= 0:
            return block
        return replace(
            block,
            rows=[*block.rows[:rows], row(f"and {more} more", *[""] * (columns - 1))],
        )

    return replace(
        table,
        panels=[
            replace(p, blocks=[cut(b, len(p.header)) for b in p.blocks])
            for p in table.panels
        ],
    )


def _runs(folder: Path) -> pd.DataFrame:
    """The rows of runs.csv; the `reason` of a run that has none is that it finished."""
    frame = _read(folder, RUNS, [*RUN, *SCORE, "value", "reason"])
    if frame.empty:
        raise DataError(
            f"{folder} holds no scores ({RUNS}). A whole run makes them: snakemake --cores 2"
        )
    return frame.assign(reason=frame["reason"].replace("", FINISHED))


def _read(folder: Path, file: str, columns: list[str]) -> pd.DataFrame:
    frame = frames.read(*sorted(folder.glob(file)), columns=columns)
    return (
        frame.assign(cell=frame["cell"].map(in_words)) if "cell" in columns else frame
    )


def _beside(
    first: pd.DataFrame, second: pd.DataFrame, keys: list[str], value: str
) -> pd.DataFrame:
    """Merge the values of two runs by what they are of: in A (`a`) and in B (`b`), NaN where one lacks it."""
    sides = (
        frame[[*keys, value]].dropna().drop_duplicates(keys)
        for frame in (first, second)
    )
    return pd.merge(*sides, on=keys, how="outer").set_axis([*keys, "a", "b"], axis=1)


def _scores(
    first: pd.DataFrame, second: pd.DataFrame, metrics: list[str]
) -> pd.DataFrame:
    """The scores of two runs, but for those of `metrics`."""
    sides = (
        frame[frame["part"].isin(HELD_OUT) & ~frame["metric"].isin(metrics)]
        for frame in (first, second)
    )
    return _beside(*sides, [*SCORE, "split"], "value")


def _gaps(scores: pd.DataFrame) -> pd.DataFrame:
    """B less A of every score of a cell: as `fairgat.scores.paired.differences`, and the `largest` on a split."""
    pairs = scores.assign(
        base=scores["a"], value=scores["b"], largest=(scores["b"] - scores["a"]).abs()
    )
    means = (
        pairs.groupby(SCORE)
        .agg({"a": "mean", "b": "mean", "largest": "max"})
        .reset_index()
    )
    return differences(pairs, SCORE).merge(means, on=SCORE)


def _read_both(kind: Kind, a: Path, b: Path) -> pd.DataFrame:
    sides = (_read(folder, kind.file, [*kind.keys, kind.value]) for folder in (a, b))
    return _beside(*sides, kind.keys, kind.value).dropna()


def _settings(a: Path, b: Path) -> pd.DataFrame:
    """What provenance.json says of both runs."""
    paths = [folder / PROVENANCE for folder in (a, b)]
    if not all(path.exists() for path in paths):
        return pd.DataFrame(columns=["setting", "a", "b"])
    return _beside(*map(_flat, paths), ["setting"], "value")


def _flat(provenance: Path) -> pd.DataFrame:
    content = read_json(provenance)
    try:
        trained = ", ".join(
            f"{code['runs']} runs at {code['commit']}" for code in content["trained_at"]
        )
        said = {
            name: value
            for name, value in content.items()
            if name not in ("rules", "files")
        }  # rules have times
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{provenance} is damaged, or of another version: {error}"
        ) from None
    flat = pd.json_normalize(said | {"trained_at": trained})
    return pd.DataFrame(
        {"setting": flat.columns, "value": flat.iloc[0].map(str).tolist()}
    )


def _block(title: str, lines: pd.DataFrame, keys: list[str]) -> Block:
    """The rows whose two values differ, with a dash for one that is missing."""
    changed = lines[lines["a"] != lines["b"]].astype(object).fillna(str(DASH))
    if "split" in keys:
        changed = changed.assign(split="split " + changed["split"].map(str))
    rows = [
        row(_name(key), a, b)
        for *key, a, b in changed[[*keys, "a", "b"]].itertuples(index=False)
    ]
    return Block(f"{title}: {len(rows)} of {len(lines)}", rows)


def _name(key: list) -> str:
    return ", ".join(str(part) for part in key if part != "")


def _score(line) -> Row:
    means, difference = (
        map(percent.score, (line.a, line.b)),
        percent.signed(line.difference, line.low, line.high),
    )
    return row(
        _name([getattr(line, key) for key in SCORE]),
        *means,
        difference,
        percent.brief(line.largest),
    )


def _limits(metrics: list[str], same_runs: bool) -> str:
    """Say what was not compared."""
    text = (
        f" Not compared: {', '.join(metrics)}, which one of them does not know."
        if metrics
        else ""
    )
    if same_runs:
        return text
    return f"{text} Chosen cells, verdicts and claims depend on all that was run, and these two did not run the same."


def _notes(a: Path, b: Path) -> list[tuple[str, str]]:
    places = [
        (folder, file)
        for folder in (a, b)
        for file in (*(kind.file for kind in KINDS), PROVENANCE)
    ]
    return [
        ("", f"Not compared: {folder / file} does not exist.")
        for folder, file in places
        if not any(folder.glob(file))
    ]


def _headline(
    runs: int, gaps: pd.DataFrame, beyond: pd.DataFrame, tolerance: float
) -> str:
    text = f"{runs} runs (a cell on a split) are in both. Of their {len(gaps)} scores (a metric of a cell), "
    if beyond.empty:
        return f"{text}none differs by more than {tolerance:g} on any split."
    clear = ((beyond["low"] > 0) | (beyond["high"] < 0)).sum()
    return (
        f"{text}{len(beyond)} differ by more than {tolerance:g} on some split, by up to "
        f"{percent.brief(beyond['largest'].max())} percentage points. The mean difference of {clear} (bold) has a 95 % "
        "interval, by the paired t, that leaves out 0; one in twenty would by chance."
    )
