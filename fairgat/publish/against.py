"""Differences to GAT that pages quote: of the published run beside a study with more splits, and of a study's rows."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat import frames, measures
from fairgat.config import NodeTraining
from fairgat.errors import DataError
from fairgat.files import read_json
from fairgat.report import labels, percent
from fairgat.report.model import DASH, Block, Cell, Panel, Table, row
from fairgat.scores.paired import REFERENCE

MORE = "studies/power/differences.csv"
_KEYS = ("dataset", "method", "metric")
_NUMBERS = ("difference", "low", "high")


def of_run(published: Path) -> Table:
    """Give GAT's means and the differences to them, for the rows of the table `comparison`; beside them MORE's.

    Raises:
        DataError: a file of the published folder is missing or damaged, or lacks a column.
    """
    config, task = read_json(published / "provenance.json")["config"], NodeTraining.task
    winners = frames.read(
        published / f"summary/{task}/winners.csv", columns=("rule", *_KEYS, "n_splits", "mean", "std")
    )
    winners = winners[winners["rule"] == config["selection"]["rule"]]
    paired = frames.read(published / "audit/paired.csv", columns=(*_KEYS, "selected", "n_splits", *_NUMBERS))
    sources = [_by_key(pd.concat([winners[winners["method"] == REFERENCE], paired[paired["selected"]]]))]
    if (published / MORE).exists():
        sources.append(_by_key(_differences(published / MORE)))
    counts = [max((line.n_splits for line in source.values()), default=0) for source in sources]
    metrics, titles, blocks = measures.names(task, "audited"), _titles(config), []
    for dataset, entry in config["datasets"].items():
        if any(key[0] == dataset for key in sources[0]) and entry["task"] == task:
            scores = {
                name: [_cell(source, (dataset, name, metric)) for metric in metrics for source in sources]
                for name in config["tables"].get("comparison") or ()
            }
            rows = [row(_method(titles, name), *cells) for name, cells in scores.items()]
            blocks.append(Block(titles("datasets", dataset), rows))
    return _table(blocks, [f"{labels.metric(metric)}, {count:.0f} splits" for metric in metrics for count in counts])


def of_study(published: Path, name: str, wanted: Mapping[str, list[str]]) -> Table:
    """Give rows of a study's differences.csv.

    Args:
        published: a folder that has the study.
        name: the file in that folder.
        wanted: `datasets`, `methods` and `metrics`; what is left out is the whole study.

    Raises:
        DataError: a file is missing or damaged, or the study lacks what is wanted.
    """
    path = published / name
    frame = _differences(path)
    columns = {"datasets": "dataset", "methods": "method", "metrics": "metric"}
    for name, values in wanted.items():
        if name not in columns or (unknown := set(values) - set(frame[columns[name]])):
            raise DataError(f"{path} has no {name} {', '.join(sorted(unknown)) if name in columns else ''}".rstrip())
    settings = [folder / "provenance.json" for folder in (path.parent, published)]
    titles, blocks = _titles(*(read_json(each)["config"] for each in settings if each.exists())), []
    lines, datasets = _by_key(frame), wanted.get("datasets", frame["dataset"].unique())
    metrics = wanted.get("metrics", frame.loc[frame["dataset"].isin(datasets), "metric"].unique())
    for dataset in datasets:
        methods = wanted.get("methods", frame.loc[frame["dataset"] == dataset, "method"])
        rows = [
            row(_method(titles, method), *(_cell(lines, (dataset, method, metric)) for metric in metrics))
            for method in dict.fromkeys([REFERENCE, *methods])
        ]
        blocks.append(Block(titles("datasets", dataset), rows))
    return _table(blocks, [str(labels.metric(metric)) for metric in metrics])


def _differences(path: Path) -> pd.DataFrame:
    """The rows of GAT, with their means, and those of methods compared with it on the same data set, by one rule."""
    columns = (*_KEYS, "of", "run_on", "epochs", "of_epochs", "n_splits", "mean", "std", *_NUMBERS)
    frame = frames.read(path, columns=columns, numbers=("n_splits", "mean", "std", *_NUMBERS))
    frame = frame[(frame["of"] == REFERENCE) & (frame["run_on"] == frame["dataset"])]
    frame = frame[(frame["epochs"] == "accuracy") & (frame["of_epochs"] == "accuracy")]
    return frame[frame["difference"].notna() | (frame["method"] == REFERENCE)]


def _titles(*configs: Mapping[str, Any]) -> Callable[[str, str], str]:
    """A function that gives the title of a data set or method, by the first settings that name it."""
    return lambda kind, name: next((each[kind][name]["title"] for each in configs if name in each[kind]), None) or name


def _method(titles: Callable[[str, str], str], name: str) -> str:
    """The title of a row: of a method's scores, or of its differences."""
    title, reference = titles("methods", name), titles("methods", REFERENCE)
    return title if name == REFERENCE else f"{title} − {reference}"


def _by_key(frame: pd.DataFrame) -> dict[tuple[str, ...], Any]:
    return {(line.dataset, line.method, line.metric): line for line in frame.itertuples()}


def _cell(rows: Mapping, key: tuple[str, str, str]) -> Cell:
    unit = measures.find(key[2]).unit
    if key not in rows:
        return Cell(DASH)
    line = rows[key]
    if key[1] == REFERENCE:
        return percent.score(line.mean, line.std, unit)
    return percent.signed(line.difference, line.low, line.high, unit)


def _table(blocks: list[Block], header: list[str]) -> Table:
    panel = Panel("multirow", ["Data set", "Method", *header], blocks, align="ll" + "r" * len(header))
    return Table("against", "Differences to GAT.", [panel], notes=[])
