"""Say what a study's data can show, and whether its links help at all.

From its differences.csv.
"""

import sys
from pathlib import Path

import pandas as pd

from fairgat import frames
from fairgat.scores.paired import FEWEST, REFERENCE

_GAPS = {
    "statistical_parity": "ΔSP",
    "equal_opportunity": "ΔEO",
    "dp_mixed": "ΔDP_m",
    "eo_mixed": "ΔEO_m",
}


def sentence(differences: pd.DataFrame) -> str:
    """Say below which size a difference has, typically, an interval that holds 0.

    Nothing where no gap is compared.

    Args:
        differences: of a study, as fractions; `low` and `high` are for other splits of
            the same people, `corrected` is half of the interval for other people.
    """
    compared = differences.dropna(subset="difference")
    gaps = compared[compared["metric"].isin(_GAPS)]
    if gaps.empty:
        return ""
    count = int(gaps["n_splits"].max())
    if count == 1:
        return (
            "One split shows no difference: `splits: {count: 10}` or more tells one "
            "from chance."
        )

    same, others = [], []
    for metric, rows in gaps.dropna(subset="low").groupby("metric", sort=False):
        half = (rows["high"] - rows["low"]) / 2
        same.append((_GAPS[metric], half.median()))
        others.append((_GAPS[metric], rows["corrected"].median()))
    if not same:
        return ""
    return (
        f"What these data can show: with {count} splits of these people a change of "
        f"{_shown(same)} is not told from none; for other people like them, "
        f"one of {_shown(others)}."
    )


def without_links(differences: pd.DataFrame) -> str:
    """Say that a network without links is more accurate than GAT, or nothing."""
    is_accuracy = differences["metric"] == "accuracy"
    is_mlp = (differences["method"] == "mlp") & (differences["of"] == REFERENCE)
    rows = differences[is_accuracy & is_mlp]
    leaves_out_0 = (rows["low"] > 0) & (rows["n_splits"] >= FEWEST)
    if rows.empty or not leaves_out_0.all():
        return ""
    points = 100 * rows["difference"].iloc[0]
    return (
        f"Without links (MLP) predictions are {points:.1f} points more accurate than "
        "GAT's: these links do not help."
    )


def _shown(sizes: list[tuple[str, float]]) -> str:
    return " or ".join(f"{name} below {100 * size:.1f} points" for name, size in sizes)


def sentences(differences: pd.DataFrame) -> list[str]:
    """List what there is to say of each data set, by its title where there are several.

    Args:
        differences: as `sentence` takes them.
    """
    by_dataset = differences.groupby("dataset_title", sort=False)
    said = []
    for title, mine in by_dataset:
        name = f"{title}: " if len(by_dataset) > 1 else ""
        for text in (without_links(mine), sentence(mine)):
            if text:
                said.append(f"{name}{text}")
    return said


def main(paths: list[str]) -> None:
    for path in paths:
        if not Path(path).exists():
            continue
        for said in sentences(frames.read(path)):
            print(said)


if __name__ == "__main__":
    main(sys.argv[1:])
