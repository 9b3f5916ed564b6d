"""Runtime: seconds per training epoch, and how they relate to GAT's, beside the paper's."""

import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fairgat.reporting import paper
from fairgat.reporting.failures import in_words
from fairgat.reporting.inputs import Files, Settings, by_dataset
from fairgat.reporting.model import DASH, Block, Cell, Notes, Panel, Row, Table
from fairgat.reporting.tables._scores import group
from fairgat.scores.paired import REFERENCE

READS = ("runtime",)
TASK = "node_classification"

# What a reader needs to know of the machine, of all that runtime JSON says.
_MACHINE = {"processor": "{}", "cores": "{} cores", "memory_gib": "{} GiB", "torch": "PyTorch {}"}

Seconds = Mapping[str, Mapping[str, float]]  # data set → method → seconds per epoch


def build(settings: Settings, files: Files) -> Table:
    """Median seconds per epoch of each method (rows) on each data set that is run (columns), and their ratio to GAT's.

    In runtime JSON `epoch_seconds` maps each method to its timed epochs, in seconds, `debias_seconds` some to the
    debiasing before them, `cells` to the cell that was timed, `failures` some to why that was not their first cell.
    """
    measured, published = by_dataset(files["runtime"]), paper.load()["runtime"]
    notes = Notes()
    ours = medians(measured)
    methods = settings["methods"]
    datasets = [dataset for dataset in settings["datasets"] if not dataset["reason"]] or settings["datasets"]
    absent = [dataset for dataset in settings["datasets"] if dataset not in datasets]

    titles = {entry["name"]: entry["title"] for entry in (*methods, *datasets)}

    def rows(entry: Callable[[str, str], Cell | None]) -> list[Row]:
        return [
            Row(
                [
                    Cell(method["title"]),
                    *(
                        entry(dataset["name"], method["name"])
                        or Cell(DASH, mark=_why(dataset, method, measured, notes))
                        for dataset in datasets
                    ),
                ],
                group=group(method["name"]),
            )
            for method in methods
        ]

    def seconds(dataset: str, method: str) -> Cell | None:
        value = ours.get(dataset, {}).get(method)
        return None if value is None else Cell(_three_digits(value), mark=later_cell(dataset, method))

    def relative(dataset: str, method: str) -> Cell | None:
        if method not in ours.get(dataset, {}):
            return None
        ratio, paper = _ratio(ours, dataset, method), _ratio(published, dataset, method)
        if ratio is None:
            return Cell(DASH, mark=notes.mark(f"GAT was not measured on {titles[dataset]}."))
        text = f"{ratio:.2f}" + ("" if paper is None else f" ({paper:.2f})")
        return Cell(text, mark=later_cell(dataset, method))

    def later_cell(dataset: str, method: str) -> str:
        entry = measured[dataset]
        failure = entry.get("failures", {}).get(method)
        if failure is None:
            return ""
        where = f"{titles[method]} on {titles[dataset]}"
        return notes.mark(
            f"{where}: timed at {in_words(entry['cells'][method])}, the first of its cells to train ({failure})."
        )

    blocks = [
        Block("Epoch (sec)", rows(seconds)),
        Block("Relative to GAT (paper)", rows(relative)),
    ]
    if once := _before_training(datasets, methods, measured):
        blocks.append(Block("Before training, on the first split (sec)", once))
    return Table(
        name="runtime",
        caption="Run-time comparison.",
        explanation=(
            "Seconds per training epoch, then their ratio to GAT's with the paper's ratio in parentheses. What a "
            "method does once before its first epoch is not part of them."
        ),
        panels=[Panel("stacked", ["", *(dataset["title"] for dataset in datasets)], blocks)],
        notes=[*notes.all(), *(("", text) for text in (*_conditions(measured), *_absences(absent)))],
    )


def medians(measured: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Data set → method → median of its timed epochs, in seconds."""
    return {
        dataset: {method: statistics.median(times) for method, times in entry["epoch_seconds"].items() if times}
        for dataset, entry in measured.items()
    }


def _before_training(datasets: list, methods: list, measured: Mapping[str, Any]) -> list[Row]:
    """The debiasing of each method that has one; the paper leaves it out."""
    rows = []
    for method in methods:
        times = [measured.get(d["name"], {}).get("debias_seconds", {}).get(method["name"]) for d in datasets]
        if any(time is not None for time in times):
            cells = [Cell(DASH if time is None else _three_digits(time)) for time in times]
            rows.append(Row([Cell(f"{method['title']}: debiasing"), *cells]))
    return rows


def _three_digits(value: float) -> str:
    return f"{value:#.3g}".removesuffix(".")


def _absences(datasets: Iterable[Mapping[str, Any]]) -> list[str]:
    """One sentence per reason, naming every data set that it keeps out."""
    titles: dict[str, list[str]] = {}
    for dataset in datasets:
        titles.setdefault(dataset["reason"], []).append(dataset["title"])
    return [f"{', '.join(names)}: not run ({reason})." for reason, names in titles.items()]


def _ratio(seconds: Seconds, dataset: str, method: str) -> float | None:
    times = seconds.get(dataset, {})
    return times[method] / times[REFERENCE] if method in times and REFERENCE in times else None


def _why(dataset: Mapping[str, Any], method: Mapping[str, Any], measured: Mapping[str, Any], notes: Notes) -> str:
    if dataset["reason"]:
        return notes.mark(_absences([dataset])[0])
    if method["reason"]:
        return notes.mark(f"{method['title']}: not run ({method['reason']}).")
    failure = measured.get(dataset["name"], {}).get("failures", {}).get(method["name"])
    reason = f"not measured ({failure})" if failure else "not measured"
    return notes.mark(f"{method['title']} on {dataset['title']}: {reason}.")


def _conditions(measured: Mapping[str, Any]) -> list[str]:
    """How and where it was measured: one sentence per distinct way."""
    texts = []
    for entry in measured.values():
        threads = f"{entry['threads']} CPU thread{'s' if entry['threads'] != 1 else ''}"
        text = f"Median of {entry['epochs']} epochs after {entry['warmup']} to warm up, {threads}"
        text += f"; {_machine(entry['machine'])}." if entry.get("machine") else "."
        if text not in texts:
            texts.append(text)
    return texts


def _machine(machine: Mapping[str, Any]) -> str:
    return ", ".join(form.format(machine[key]) for key, form in _MACHINE.items() if key in machine)
