"""The measure of rounding noise: two trainings of one method, run by run."""

import statistics

import pandas as pd
import pytest

from fairgat import frames
from tools import rounding


def test_the_deviation_of_paired_differences(tmp_path):
    """Only test scores of cells and splits that both have count."""
    gaps = [0.01, -0.02, 0.03]
    columns = [
        "dataset",
        "method",
        "cell",
        "split",
        "part",
        "protocol",
        "metric",
        "value",
        "reason",
    ]
    rows = [
        (
            "d",
            method,
            "c",
            k,
            part,
            "",
            metric,
            0.5 + gap * (method == "fairgat") + k,
            "",
        )
        for method in ("fairgat", "fairgat-steps-13", "gat")
        for k, gap in enumerate(gaps)
        for part in ("validation", "test")
        for metric in ("accuracy", "statistical_parity", "equal_opportunity")
    ]
    rows.append(("d", "fairgat", "other", 0, "test", "", "accuracy", 0.9, ""))
    frames.write(tmp_path / "runs.csv", pd.DataFrame(rows, columns=columns))
    rounding.main(tmp_path / "runs.csv", tmp_path)
    found = frames.read(tmp_path / "differences.csv")
    assert found["n"].tolist() == [3, 3, 3] and found[
        "largest"
    ].tolist() == pytest.approx([0.03] * 3)
    assert found["sd"].tolist() == pytest.approx([statistics.stdev(gaps)] * 3)
    line = (tmp_path / "table.md").read_text().splitlines()[-1]
    assert [cell.strip() for cell in line.split("|")[2:7]] == [
        "fairgat",
        "3",
        *["2.52 (3.0)"] * 3,
    ]
    again = pd.DataFrame(rows, columns=columns).assign(
        value=lambda runs: runs["value"] + (runs["split"] == 1) / 8
    )
    frames.write(tmp_path / "again/runs.csv", again)
    for folder, cell in ((tmp_path, "c"), (tmp_path / "again", "other")):
        frames.write(folder / "cells.csv", pd.DataFrame(rows, columns=columns))
        cells = [
            ("fair", "d", method, cell, "accuracy") for method in ("fairgat", "gat")
        ]  # gat has one
        frames.write(
            folder / "winners.csv",
            pd.DataFrame(cells, columns=["rule", *columns[:3], "metric"]),
        )
    rounding.main(tmp_path / "runs.csv", tmp_path / "again/runs.csv", tmp_path)
    assert (tmp_path / "chosen.csv").read_text().splitlines()[1:] == [
        "fair,d,fairgat,c,other"
    ]
    found = frames.read(tmp_path / "differences.csv")
    assert (
        set(found["method"]) == {"fairgat", "fairgat-steps-13", "gat"}
        and found["largest"].max() == 0.125
    )
