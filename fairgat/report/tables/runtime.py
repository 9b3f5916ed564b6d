"""Runtime: seconds per training epoch, and how they relate to GAT's, beside the paper's."""

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairgat import paper
from fairgat.config import Dataset, Method
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, Settings, by_dataset
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Row, Table, Text, row
from fairgat.report.tables.scores import group
from fairgat.scores.paired import REFERENCE

READS = ("runtime",)
TASK = "node_classification"

Times = Mapping[str, Mapping[str, float]]
"""Seconds by data set and method."""
# What a reader needs to know of the machine, of all that runtime JSON says.
_MACHINE = {"processor": "{}", "cores": "{} cores", "memory_gib": "{} GiB", "torch": "PyTorch {}"}


def build(settings: Settings, files: Files) -> Table:
    """Median seconds per epoch of each method (rows) on each data set that is run (columns), and their ratio to GAT's.

    Runtime JSON has, by method, the seconds of the timed epochs (`epoch_seconds`), the cell that was timed (`cells`),
    and why that was not the first one (`failures`).
    """
    measured = by_dataset(files["runtime"])
    published = paper.load()["runtime"] if settings.config.compares_with_paper else {}
    run = [dataset for dataset in settings.datasets if not dataset.reason] or settings.datasets
    made = _Rows(run, settings.methods, measured)
    ratio = "Relative to GAT (paper)" if published else "Relative to GAT"
    blocks = [
        Block("Epoch (sec)", [*made.seconds(medians(measured))]),
        Block(ratio, [*made.ratios(medians(measured), published)]),
    ]
    absent = [f"{each.title}: not run ({each.reason})." for each in settings.datasets if each not in run]
    return Table(
        name="runtime",
        caption="Run-time comparison.",
        explanation=(
            "Seconds per training epoch, then their ratio to GAT's"
            + (" with the paper's ratio in parentheses" if published else "")
            + ". What a method does once before its first epoch, such as EDITS's debiasing, is part of the costs."
        ),
        panels=[Panel("stacked", ["", *(each.title for each in run)], blocks)],
        notes=[*made.notes.all(), *(("", text) for text in (*dict.fromkeys(map(_how, measured.values())), *absent))],
    )


def medians(measured: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Data set → method → median of its timed epochs, in seconds."""
    return {
        dataset: {method: statistics.median(times) for method, times in entry["epoch_seconds"].items() if times}
        for dataset, entry in measured.items()
    }


@dataclass
class _Rows:
    """The rows of each block, and the notes on them."""

    datasets: list[Dataset]
    methods: list[Method]
    measured: Mapping[str, Any]
    notes: Notes = field(default_factory=Notes)

    def seconds(self, times: Times) -> Iterator[Row]:
        return self._marked(lambda dataset, method: _three_digits(times.get(dataset, {}).get(method)))

    def ratios(self, ours: Times, papers: Times) -> Iterator[Row]:
        """Ratios to GAT, the paper's in brackets."""

        def ratio(dataset: str, method: str) -> Text:
            mine, theirs = (_ratio(times.get(dataset, {}), method) for times in (ours, papers))
            if mine is None:
                return DASH
            return f"{mine:.2f}" if theirs is None else f"{mine:.2f} ({theirs:.2f})"

        return self._marked(ratio)

    def _marked(self, text: Callable[[str, str], Text]) -> Iterator[Row]:
        for method in self.methods:
            cells = [Cell(text(each.name, method.name), mark=self._mark(each, method)) for each in self.datasets]
            yield row(str(method.title), *cells, group=group(method.name))

    def _mark(self, dataset: Dataset, method: Method) -> str:
        """Notes on a method: its own, or why it has no time, or not that of its first cell."""
        where, entry = f"{method.title} on {dataset.title}", self.measured.get(dataset.name, {})
        failure = entry.get("failures", {}).get(method.name)
        if dataset.reason:
            return self.notes.mark(f"{dataset.title}: not run ({dataset.reason}).")
        if not entry.get("epoch_seconds", {}).get(method.name):
            return self.notes.mark(f"{where}: not measured ({failure})." if failure else f"{where}: not measured.")
        timed = failure and in_words(entry["cells"][method.name])
        said = f"{where}: timed at {timed}, the first of its cells to train ({failure})." if timed else None
        return ", ".join(self.notes.mark(text) for text in (method.note, said) if text)


def _three_digits(value: float | None) -> Text:
    return DASH if value is None else f"{value:#.3g}".removesuffix(".")


def _ratio(times: Mapping[str, float], method: str) -> float | None:
    return times[method] / times[REFERENCE] if method in times and REFERENCE in times else None


def _how(entry: Mapping[str, Any]) -> str:
    """Say how and where a data set was measured."""
    threads = f"{entry['threads']} CPU thread{'s' if entry['threads'] != 1 else ''}"
    machine = entry.get("machine") or {}
    where = ", ".join(form.format(machine[key]) for key, form in _MACHINE.items() if key in machine)
    text = f"Median of {entry['epochs']} epochs after {entry['warmup']} to warm up, {threads}"
    return f"{text}; {where}." if where else f"{text}."
