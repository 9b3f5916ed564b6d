"""Runtime: seconds per training epoch, and how they relate to GAT's, beside the paper's."""

import statistics
from collections.abc import Callable, Mapping
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

# What a reader needs to know of the machine, of all that runtime JSON says.
_MACHINE = {"processor": "{}", "cores": "{} cores", "memory_gib": "{} GiB", "torch": "PyTorch {}"}


def build(settings: Settings, files: Files) -> Table:
    """Median seconds per epoch of each method (rows) on each data set that is run (columns), and their ratio to GAT's.

    Runtime JSON has, by method, the seconds of the timed epochs (`epoch_seconds`), those of the debiasing before them
    (`debias_seconds`), the cell that was timed (`cells`), and why that was not the first one (`failures`).
    """
    measured = by_dataset(files["runtime"])
    published = paper.load()["runtime"] if settings.config.compares_with_paper else {}
    notes, ours, methods = Notes(), medians(measured), settings.methods
    datasets = [dataset for dataset in settings.datasets if not dataset.reason] or settings.datasets

    def rows(entry: Callable[[Dataset, Method], Cell]) -> list[Row]:
        return [row(m.title, *(entry(d, m) for d in datasets), group=group(m.name)) for m in methods]

    def seconds(dataset: Dataset, method: Method) -> Cell:
        value, mark = ours.get(dataset.name, {}).get(method.name), _mark(dataset, method, measured, notes)
        return Cell(_three_digits(value), mark=mark)

    def relative(dataset: Dataset, method: Method) -> Cell:
        ratio, papers = (_ratio(each.get(dataset.name, {}), method.name) for each in (ours, published))
        if ratio is None and method.name in ours.get(dataset.name, {}):
            return Cell(DASH, mark=notes.mark(f"GAT was not measured on {dataset.title}."))
        text = DASH if ratio is None else f"{ratio:.2f}" + ("" if papers is None else f" ({papers:.2f})")
        return Cell(text, mark=_mark(dataset, method, measured, notes))

    def debiasing(dataset: Dataset, method: Method) -> Cell:
        return Cell(_three_digits(measured.get(dataset.name, {}).get("debias_seconds", {}).get(method.name)))

    blocks = [
        Block("Epoch (sec)", rows(seconds)),
        Block("Relative to GAT" + " (paper)" * bool(published), rows(relative)),
    ]
    debiased = {name for entry in measured.values() for name in entry.get("debias_seconds", {})}
    methods = [m.model_copy(update={"title": f"{m.title}: debiasing"}) for m in methods if m.name in debiased]
    if methods:
        blocks.append(Block("Before training, on the first split (sec)", rows(debiasing)))
    absent = [(d.title, d.reason) for d in settings.datasets if d not in datasets]
    reasons = dict.fromkeys(reason for _, reason in absent)
    absences = [f"{', '.join(t for t, r in absent if r == reason)}: not run ({reason})." for reason in reasons]
    in_parentheses = " with the paper's ratio in parentheses" if published else ""
    return Table(
        name="runtime",
        caption="Run-time comparison.",
        explanation=(
            f"Seconds per training epoch, then their ratio to GAT's{in_parentheses}. What a "
            "method does once before its first epoch is not part of them."
        ),
        panels=[Panel("stacked", ["", *(dataset.title for dataset in datasets)], blocks)],
        notes=[*notes.all(), *(("", text) for text in (*dict.fromkeys(map(_how, measured.values())), *absences))],
    )


def medians(measured: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Data set → method → median of its timed epochs, in seconds."""
    return {
        dataset: {method: statistics.median(times) for method, times in entry["epoch_seconds"].items() if times}
        for dataset, entry in measured.items()
    }


def _three_digits(value: float | None) -> Text:
    return DASH if value is None else f"{value:#.3g}".removesuffix(".")


def _ratio(times: Mapping[str, float], method: str) -> float | None:
    return times[method] / times[REFERENCE] if method in times and REFERENCE in times else None


def _mark(dataset: Dataset, method: Method, measured: Mapping[str, Any], notes: Notes) -> str:
    """Notes on a method: its own, or why it has no time, or not that of its first cell."""
    where = f"{method.title} on {dataset.title}"
    entry = measured.get(dataset.name, {})
    failure = entry.get("failures", {}).get(method.name)
    if entry.get("epoch_seconds", {}).get(method.name):
        timed = failure and in_words(entry["cells"][method.name])
        said = f"{where}: timed at {timed}, the first of its cells to train ({failure})." if timed else None
        return ", ".join(map(notes.mark, filter(None, (method.note, said))))
    if dataset.reason:
        return notes.mark(f"{dataset.title}: not run ({dataset.reason}).")
    return notes.mark(f"{where}: not measured{f' ({failure})' if failure else ''}.")


def _how(entry: Mapping[str, Any]) -> str:
    """Say how and where a data set was measured."""
    threads = f"{entry['threads']} CPU thread{'s' if entry['threads'] != 1 else ''}"
    machine = entry.get("machine") or {}
    where = ", ".join(form.format(machine[key]) for key, form in _MACHINE.items() if key in machine)
    text = f"Median of {entry['epochs']} epochs after {entry['warmup']} to warm up, {threads}"
    return f"{text}; {where}." if where else f"{text}."
