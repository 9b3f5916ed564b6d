"""Runtime: seconds per training epoch, and how they relate to GAT's."""

import statistics
from collections.abc import Callable, Mapping
from typing import Any

from fairgat import paper
from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, Settings, by_dataset
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
    """Median seconds per epoch of each method (rows) on each data set that is run (columns), and their ratio to GAT's.

    Runtime JSON has, by method, the seconds of the timed epochs (`epoch_seconds`), the
    cell that was timed (`cells`), and why that was not the first one (`failures`).
    """
    measured, notes = by_dataset(files["runtime"]), Notes()
    ours = medians(measured)
    published = paper.load()["runtime"] if settings.compares_with_paper else {}
    run = [
        dataset for dataset in settings.datasets if not dataset.reason
    ] or settings.datasets

    def rows(text: Callable[[str, str], Text]) -> list[Row]:
        made = []
        for method in settings.methods:
            marks = [
                _mark(each, method, measured.get(each.name, {}), notes) for each in run
            ]
            cells = [
                Cell(text(each.name, method.name), mark=mark)
                for each, mark in zip(run, marks, strict=True)
            ]
            made.append(row(method.title, *cells, group=group(method.name)))
        return made

    def ratio(dataset: str, method: str) -> Text:
        return _with_paper(
            *(_ratio(times.get(dataset, {}), method) for times in (ours, published))
        )

    blocks = [
        Block(
            "Epoch (sec)",
            rows(
                lambda dataset, method: _three_digits(ours.get(dataset, {}).get(method))
            ),
        ),
        Block(
            "Relative to GAT (paper)" if published else "Relative to GAT", rows(ratio)
        ),
    ]
    return Table(
        name="runtime",
        caption="Run-time comparison.",
        explanation=(
            "Seconds per training epoch, then their ratio to GAT's"
            + (" with the paper's ratio in parentheses" if published else "")
            + ". What a method does once before its first epoch, such as EDITS's debiasing, is part of the costs."
        ),
        panels=[Panel("stacked", ["", *(each.title for each in run)], blocks)],
        notes=[
            *notes.all(),
            *(("", text) for text in _how(measured)),
            *_absent(settings, run),
        ],
    )


def _absent(settings: Settings, run: list[ShownDataset]) -> list[tuple[str, str]]:
    return [
        ("", f"{each.title}: not run ({each.reason}).")
        for each in settings.datasets
        if each not in run
    ]


def medians(measured: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Data set → method → median of its timed epochs, in seconds."""
    return {
        dataset: {
            method: statistics.median(times)
            for method, times in entry["epoch_seconds"].items()
            if times
        }
        for dataset, entry in measured.items()
    }


def _mark(
    dataset: ShownDataset,
    method: ShownMethod,
    measured: Mapping[str, Any],
    notes: Notes,
) -> str:
    """Note what is to be known of a method: its own note, or why it has no time, or not that of its first cell."""
    where, failure = (
        f"{method.title} on {dataset.title}",
        measured.get("failures", {}).get(method.name),
    )
    if dataset.reason:
        return notes.mark(f"{dataset.title}: not run ({dataset.reason}).")
    if not measured.get("epoch_seconds", {}).get(method.name):
        return notes.mark(
            f"{where}: not measured ({failure})."
            if failure
            else f"{where}: not measured."
        )
    cell, _, rest = (failure or "").partition(": ")
    failure = f"{in_words(cell)}: {rest}" if "~" in cell else failure
    timed = failure and in_words(measured["cells"][method.name])
    said = (
        f"{where}: timed at {timed}, the first of its cells to train ({failure})."
        if timed
        else None
    )
    return ", ".join(notes.mark(text) for text in (method.note, said) if text)


def _three_digits(value: float | None) -> Text:
    return DASH if value is None else f"{value:#.3g}".removesuffix(".")


def _with_paper(mine: float | None, theirs: float | None) -> Text:
    if mine is None:
        return DASH
    return f"{mine:.2f}" if theirs is None else f"{mine:.2f} ({theirs:.2f})"


def _ratio(times: Mapping[str, float], method: str) -> float | None:
    return (
        times[method] / times[REFERENCE]
        if method in times and REFERENCE in times
        else None
    )


def _how(measured: Mapping[str, Any]) -> list[str]:
    """Say how and where the data sets were measured, each way once."""
    texts = []
    for entry in measured.values():
        threads = f"{entry['threads']} CPU thread{'s' if entry['threads'] != 1 else ''}"
        machine = entry.get("machine") or {}
        where = ", ".join(
            form.format(machine[key])
            for key, form in _MACHINE.items()
            if key in machine
        )
        epochs = f"{entry['epochs']} epoch{'s' if entry['epochs'] != 1 else ''}"
        text = f"Median of {epochs} after {entry['warmup']} to warm up, {threads}"
        texts.append(f"{text}; {where}." if where else f"{text}.")
    return [*dict.fromkeys(texts)]
