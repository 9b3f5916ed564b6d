"""Mean and standard deviation over the splits, of the selected cells and of every cell; and the scores behind them."""

import csv
import io
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairgat.errors import DataError
from fairgat.scores.runs import FAIRNESS, UTILITY, Record

COLUMNS = ("dataset", "method", "metric", "mean", "std", "n_splits", "paper_mean", "paper_std")
COLUMNS_BY_RULE = ("rule", *COLUMNS, "cell")
COLUMNS_BY_PROTOCOL = ("protocol", *COLUMNS_BY_RULE)
COLUMNS_OF_SPLITS = ("dataset", "method", "cell", "split", "part", "metric", "value")
COLUMNS_OF_CELLS = ("dataset", "method", "cell", "part", "metric", "mean", "std", "n_splits")

Published = Mapping[tuple[str, str, str], tuple[float, float]]


def summarise(
    selections: Iterable[Mapping[str, Any]], records: Iterable[Record], ddof: int, published: Published
) -> list[dict[str, Any]]:
    """The test results of every rule's winner, in long form.

    Args:
        selections: the selection JSON of each method on each data set, in the order that the rows shall have.
        records: the metrics of at least the winners' cells on every split.
        ddof: 1 for the sample standard deviation, 0 for the population one.
        published: (dataset, method, metric) → (mean, standard deviation), as fractions.

    Returns:
        One mapping per rule, data set, method and metric, with the keys of COLUMNS_BY_RULE; scores are fractions.
        `mean` and `std` are None where a rule has no winner, `std` also where a single split leaves it undefined.

    Raises:
        DataError: a winner's metrics are missing.
    """
    runs = _by_cell(records)
    rows = []
    for selection in selections:
        dataset, method = selection["dataset"], selection["method"]
        for rule, winner in selection["winners"].items():
            scores: list[Mapping[str, float]] = []
            if winner["cell"] is not None:
                if (dataset, method, winner["cell"]) not in runs:
                    raise DataError(f"no metrics.json of {method} on {dataset}, cell {winner['cell']}")
                scores = [record.test for record in runs[dataset, method, winner["cell"]]]
            for row in _over_splits(scores, selection["task"], ddof):
                paper_mean, paper_std = published.get((dataset, method, row["metric"]), (None, None))
                rows.append(
                    {
                        "rule": rule,
                        "dataset": dataset,
                        "method": method,
                        **row,
                        "paper_mean": paper_mean,
                        "paper_std": paper_std,
                        "cell": winner["cell"],
                    }
                )
    return rows


def summarise_protocols(
    selections: Sequence[Mapping[str, Any]], records: Iterable[Record], ddof: int, published: Published
) -> list[dict[str, Any]]:
    """`summarise` under each protocol of link prediction, with the keys of COLUMNS_BY_PROTOCOL.

    The cells are the same under all protocols: those selected on validation scores under the configured one. What
    differs is the epoch and the cut-off of the test scores.
    """
    records = list(records)
    names = dict.fromkeys(name for record in records for name in record.protocols)
    rows = []
    for protocol in names:
        judged = [replace(record, test=record.protocols.get(protocol, {})) for record in records]
        rows += [{"protocol": protocol, **row} for row in summarise(selections, judged, ddof, published)]
    return rows


def summarise_cells(records: Iterable[Record], ddof: int) -> list[dict[str, Any]]:
    """The validation and the test results of every cell, with the keys of COLUMNS_OF_CELLS.

    The selection looks at the validation rows alone; the test rows say what other choices would have given. A split
    that failed is left out, which `n_splits` shows.
    """
    rows = []
    for (dataset, method, cell), found in _by_cell(records).items():
        for part in ("validation", "test"):
            scores = [getattr(record, part) for record in found if not record.failure]
            run = {"dataset": dataset, "method": method, "cell": cell, "part": part}
            rows += [run | row for row in _over_splits(scores, found[0].task, ddof)]
    return rows


def by_split(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Every score of every run that did not fail, with the keys of COLUMNS_OF_SPLITS: what paired tests need."""
    rows = []
    for record in records:
        run = {"dataset": record.dataset, "method": record.method, "cell": record.cell, "split": record.split}
        for part, scores in (("validation", record.validation), ("test", record.test)):
            rows += [{**run, "part": part, "metric": metric, "value": score} for metric, score in scores.items()]
    return rows


def _by_cell(records: Iterable[Record]) -> dict[tuple[str, str, str], list[Record]]:
    runs: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        runs.setdefault((record.dataset, record.method, record.cell), []).append(record)
    return runs


def _over_splits(scores: Sequence[Mapping[str, float]], task: str, ddof: int) -> list[dict[str, Any]]:
    """Mean and standard deviation of each metric that was scored, or, without scores, of each that the task has."""
    rows = []
    for metric in scores[0] if scores else (UTILITY, *FAIRNESS[task]):
        values = [score[metric] for score in scores if isinstance(score[metric], int | float)]
        mean = math.fsum(values) / len(values) if values else None
        rows.append({"metric": metric, "mean": mean, "std": deviation(values, ddof), "n_splits": len(values)})
    return rows


def deviation(values: Sequence[float], ddof: int) -> float | None:
    """Standard deviation with n - ddof in the denominator; None where that is not positive."""
    if len(values) <= ddof:
        return None
    return statistics.stdev(values) if ddof else statistics.pstdev(values)


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """CSV text of these columns; floats with ten significant digits, None as nothing: equal rows give equal bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_format(row[column]) for column in columns])
    return text.getvalue()


def _format(value: Any) -> str:
    if value is None:
        return ""
    return format(value, ".10g") if isinstance(value, float) else str(value)
