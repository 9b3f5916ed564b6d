"""Runtime: seconds per training epoch, and how they relate to GAT's."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import quantile_test

from fairgat import paper
from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, Settings, by_dataset
from fairgat.report.labels import counted
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Row, Table, Text, row
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
    published = paper.load()["runtime"] if settings.compares_with_paper else {}
    times = _Times(measured, published)
    run = [each for each in settings.datasets if not each.reason]
    run = run or settings.datasets
    notes = Notes()

    def rows(text: Callable[[str, str], Text]) -> list[Row]:
        made = []
        for method in settings.methods:
            cells = []
            for dataset in run:
                mark = _mark(dataset, method, measured.get(dataset.name, {}), notes)
                cells.append(Cell(text(dataset.name, method.name), mark=mark))
            made.append(row(method.title, *cells, group=group(method.name)))
        return made

    paper_too = " (paper)" if published else ""
    explained = "Seconds per training epoch, their ratio to GAT's"
    if published:
        explained += " with the paper's in parentheses"
    explained += (
        ", and by how many milliseconds they are longer than GAT's of the same turn: "
        "the median, and its 95 % interval over the turns"
    )
    blocks = [
        Block("Epoch (sec)", rows(times.seconds)),
        Block(f"Relative to GAT{paper_too}", rows(times.ratio)),
        Block(f"More than GAT, in ms{paper_too}", rows(times.more)),
    ]
    header = ["", *[each.title for each in run]]
    about = [*_how(measured), *_absent(settings, run)]
    return Table(
        name="runtime",
        caption="Run-time comparison.",
        explanation=(
            f"{explained}. What a method does once before its first epoch, such as "
            "EDITS's debiasing, is left out: provenance.json has each rule's seconds."
        ),
        panels=[Panel("stacked", header, blocks)],
        notes=[*notes.all(), *[("", text) for text in about]],
    )


class _Times:
    """What an epoch takes, ours and the paper's, as the text of a cell."""

    def __init__(
        self,
        measured: Mapping[str, Any],
        published: Mapping[str, Mapping[str, float]],
    ) -> None:
        """Take Runtime JSON by data set; the paper's seconds by data set and method."""
        self.measured = measured
        self.medians = medians(measured)
        self.published = published

    def seconds(self, dataset: str, method: str) -> Text:
        """The median, with three digits."""
        median = self.medians.get(dataset, {}).get(method)
        if median is None:
            return DASH
        return f"{median:#.3g}".removesuffix(".")

    def ratio(self, dataset: str, method: str) -> Text:
        """How many times GAT's median, and in the paper."""
        both = _beside_gat(self.medians.get(dataset, {}), method)
        if both is None:
            return DASH
        own, base = both
        text = f"{own / base:.2f}"
        papers = _beside_gat(self.published.get(dataset, {}), method)
        if papers:
            own, base = papers
            text += f" ({own / base:.2f})"
        return text

    def more(self, dataset: str, method: str) -> Text:
        """Milliseconds more than GAT's epoch of the same turn, and in the paper."""
        epochs = self.measured.get(dataset, {}).get("epoch_seconds", {})
        both = _beside_gat(epochs, method)
        if both is None or method == REFERENCE:
            return DASH
        milliseconds = 1000 * np.subtract(*both)
        text = _short(np.median(milliseconds))

        interval = quantile_test(milliseconds).confidence_interval(0.95)
        if not math.isnan(interval.low + interval.high):  # a few turns have none
            text += f" [{_short(interval.low)}, {_short(interval.high)}]"
        papers = _beside_gat(self.published.get(dataset, {}), method)
        if papers:
            own, base = papers
            text += f" ({1000 * (own - base):z.0f})"  # of seconds with two decimals
        return text


def _short(milliseconds: float) -> str:
    """Write them with one decimal where they are few."""
    decimals = 1 if abs(milliseconds) < 99.95 else 0  # 100 has none
    return f"{milliseconds:z.{decimals}f}"


def _beside_gat(times: Mapping[str, Any], method: str) -> tuple[Any, Any] | None:
    """Give a method's and GAT's, or None where one is missing."""
    own, base = times.get(method), times.get(REFERENCE)
    return (own, base) if own and base else None


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


def _how(measured: Mapping[str, Any]) -> list[str]:
    """Say how and where the data sets were measured, each way once."""
    texts = []
    for entry in measured.values():
        epochs = counted(entry["epochs"], "epoch")
        threads = counted(entry["threads"], "CPU thread")
        text = f"Median of {epochs} after {entry['warmup']} to warm up, {threads}"
        machine = entry.get("machine") or {}
        known = [key for key in _MACHINE if key in machine]
        where = ", ".join(_MACHINE[key].format(machine[key]) for key in known)
        if where:
            text += f"; {where}"
        texts.append(f"{text}.")
    return [*dict.fromkeys(texts)]


def _absent(settings: Settings, run: Sequence[ShownDataset]) -> list[str]:
    return [_not_run(each) for each in settings.datasets if each not in run]


def _not_run(dataset: ShownDataset) -> str:
    return f"{dataset.title}: not run ({dataset.reason})."
