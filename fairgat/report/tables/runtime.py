"""Runtime: seconds per training epoch, and how they relate to GAT's."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import quantile_test

from fairgat import paper
from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, Settings, by_dataset
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Table, Text, row
from fairgat.report.tables.scores import group
from fairgat.scores.paired import REFERENCE

READS = ("runtime",)
TASK = "node_classification"

# What a reader needs to know of the machine, of all that runtime JSON says.
_MACHINE = {
    "processor": "{}",
    "cores": "{} cores",
    "memory_gib": "{} GiB",
    "torch": "PyTorch {}",
}


def build(settings: Settings, files: Files) -> Table:
    """Show the median seconds per epoch of each method, and how they relate to GAT's.

    As a ratio, and as milliseconds, on each data set that is run. Runtime JSON has, by
    method, the seconds of the timed epochs (`epoch_seconds`), the cell that was timed
    (`cells`), and why that was not the first one (`failures`).
    """
    measured = by_dataset(files["runtime"])
    ours = medians(measured)
    published = paper.load()["runtime"] if settings.compares_with_paper else {}
    run = [each for each in settings.datasets if not each.reason]
    run = run or settings.datasets

    notes = Notes()
    seconds = []
    ratios = []
    differences = []
    for method in settings.methods:
        of_seconds = []
        of_ratios = []
        of_differences = []
        for dataset in run:
            times = ours.get(dataset.name, {})
            papers = published.get(dataset.name, {})
            mark = _mark(dataset, method, measured.get(dataset.name, {}), notes)
            second = _three_digits(times.get(method.name))
            ratio = _with_paper(_ratio(times, method), _ratio(papers, method))
            epochs = measured.get(dataset.name, {}).get("epoch_seconds", {})
            more = _more(epochs, method, _difference(papers, method))
            of_seconds.append(Cell(second, mark=mark))
            of_ratios.append(Cell(ratio, mark=mark))
            of_differences.append(Cell(more, mark=mark))
        part = group(method.name)
        seconds.append(row(method.title, *of_seconds, group=part))
        ratios.append(row(method.title, *of_ratios, group=part))
        differences.append(row(method.title, *of_differences, group=part))

    paper_too = " (paper)" if published else ""
    explained = "Seconds per training epoch, their ratio to GAT's"
    if published:
        explained += " with the paper's in parentheses"
    explained += (
        ", and by how many milliseconds they are longer than GAT's of the same turn: "
        "the median, and its 95 % interval over the turns"
    )
    blocks = [
        Block("Epoch (sec)", seconds),
        Block(f"Relative to GAT{paper_too}", ratios),
        Block(f"More than GAT (ms){paper_too}", differences),
    ]
    header = ["", *[each.title for each in run]]
    about = [*_how(measured), *_absent(settings, run)]
    return Table(
        name="runtime",
        caption="Run-time comparison.",
        explanation=(
            f"{explained}. What a method does once before its first epoch, such as "
            "EDITS's debiasing, is part of the costs."
        ),
        panels=[Panel("stacked", header, blocks)],
        notes=[*notes.all(), *[("", text) for text in about]],
    )


def medians(measured: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Give the median of the timed epochs, in seconds: data set → method → seconds."""
    seconds = {}
    for dataset, entry in measured.items():
        timed = {name: times for name, times in entry["epoch_seconds"].items() if times}
        seconds[dataset] = {
            name: statistics.median(times) for name, times in timed.items()
        }
    return seconds


def _mark(
    dataset: ShownDataset,
    method: ShownMethod,
    measured: Mapping[str, Any],
    notes: Notes,
) -> str:
    """Note what is to be known of a method: why it has no time, or which cell's."""
    if dataset.reason:
        return notes.mark(_not_run(dataset))
    where = f"{method.title} on {dataset.title}"
    failure = measured.get("failures", {}).get(method.name)
    if not measured.get("epoch_seconds", {}).get(method.name):
        why = f" ({failure})" if failure else ""
        return notes.mark(f"{where}: not measured{why}.")
    said = ""
    if failure:
        cell, _, reason = failure.partition(": ")
        if "~" in cell:
            failure = f"{in_words(cell)}: {reason}"
        timed = in_words(measured["cells"][method.name])
        said = (
            f"{where}: timed at {timed}, the first of its cells to train ({failure})."
        )
    return notes.marks(method.note or "", said)


def _three_digits(value: float | None) -> Text:
    if value is None:
        return DASH
    return f"{value:#.3g}".removesuffix(".")


def _ratio(times: Mapping[str, float], method: ShownMethod) -> float | None:
    if method.name not in times or REFERENCE not in times:
        return None
    return times[method.name] / times[REFERENCE]


def _difference(times: Mapping[str, float], method: ShownMethod) -> float | None:
    if method.name not in times or REFERENCE not in times:
        return None
    return times[method.name] - times[REFERENCE]


def _more(
    epochs: Mapping[str, Sequence[float]], method: ShownMethod, papers: float | None
) -> Text:
    """Compare epochs (T,) in seconds, turn by turn; GAT's are compared with nothing."""
    own, base = epochs.get(method.name), epochs.get(REFERENCE)
    if not own or not base or method.name == REFERENCE:
        return DASH
    milliseconds = 1000 * np.subtract(own, base)
    text = f"{np.median(milliseconds):.1f}"

    interval = quantile_test(milliseconds).confidence_interval(0.95)
    if not math.isnan(interval.low + interval.high):  # a few turns have none
        text += f" [{interval.low:.1f}, {interval.high:.1f}]"
    if papers is not None:
        text += f" ({1000 * papers:.0f})"
    return text


def _with_paper(mine: float | None, papers: float | None) -> Text:
    if mine is None:
        return DASH
    return f"{mine:.2f}" if papers is None else f"{mine:.2f} ({papers:.2f})"


def _how(measured: Mapping[str, Any]) -> list[str]:
    """Say how and where the data sets were measured, each way once."""
    texts = []
    for entry in measured.values():
        epochs = _counted(entry["epochs"], "epoch")
        threads = _counted(entry["threads"], "CPU thread")
        text = f"Median of {epochs} after {entry['warmup']} to warm up, {threads}"
        machine = entry.get("machine") or {}
        known = [key for key in _MACHINE if key in machine]
        where = ", ".join(_MACHINE[key].format(machine[key]) for key in known)
        if where:
            text += f"; {where}"
        texts.append(f"{text}.")
    return [*dict.fromkeys(texts)]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _absent(settings: Settings, run: Sequence[ShownDataset]) -> list[str]:
    return [_not_run(each) for each in settings.datasets if each not in run]


def _not_run(dataset: ShownDataset) -> str:
    return f"{dataset.title}: not run ({dataset.reason})."
