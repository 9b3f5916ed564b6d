"""How far a run of the workflow is and about how long it will take; at its end, what was made and what failed."""

import csv
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairgat.errors import FairGATError
from fairgat.failures import phrases
from fairgat.files import read_json

_SHORTEST, _LONGEST = 15, 300  # seconds between two lines
_SHOWN = 20  # reasons of failed runs in the summary
_DATA_RULES = ("download", "preprocess", "statistics", "split")


@dataclass(frozen=True)
class Job:
    """One job of the workflow. Its benchmark file is written when it ends, and holds its seconds."""

    dataset: str
    method: str
    benchmark: Path
    pending: bool = True

    def seconds(self, since: float = 0) -> float | None:
        """What it cost; None where it hasn't ended since then (seconds of the epoch)."""
        ended = self.ended()
        if ended is None or ended < since:
            return None
        try:
            with open(self.benchmark, encoding="utf-8", newline="") as file:
                return float(next(csv.DictReader(file, delimiter="\t"))["s"])
        except (OSError, StopIteration, KeyError, ValueError):  # not there, or only half written
            return None

    def ended(self) -> float | None:
        """When it ended last (seconds of the epoch); None where its benchmark file is gone."""
        try:
            return self.benchmark.stat().st_mtime
        except OSError:
            return None


def follow(jobs: Sequence[Job]) -> None:
    """Say on stderr, now and then, how far these jobs are; in a thread that ends with the process."""
    if any(job.pending for job in jobs):
        threading.Thread(target=_follow, args=(jobs, time.time()), daemon=True).start()


def _follow(jobs: Sequence[Job], started: float) -> None:
    total, said = sum(job.pending for job in jobs), 0
    while said < total:
        time.sleep(min(_LONGEST, max(_SHORTEST, (time.time() - started) / 10)))
        done, text = describe(jobs, started, time.time())
        if done > said:
            print(text, file=sys.stderr, flush=True)
            said = done


def describe(jobs: Iterable[Job], started: float, now: float) -> tuple[int, str]:
    """How many pending jobs have ended since `started`, and a line that says so with the time left.

    A job is taken to cost the mean of those that are known of its method and data set, or else of the data set, or
    else of all; how many run at a time shows in how much was done since the first of them began.
    """
    known, done, left = {}, {}, []
    for job in jobs:
        seconds = job.seconds(started if job.pending else 0)
        if seconds is not None:
            known[job] = seconds
        if job.pending:
            if seconds is None:
                left.append(job)
            else:
                done[job] = seconds
    text = f"Training: {len(done)} of {len(done) + len(left)} runs done"
    if not done or not left:
        return len(done), text + "."
    ends = {job: job.ended() for job in done}  # a benchmark file may vanish meanwhile, with a job that runs again
    began = max(started, min((end - done[job] for job, end in ends.items() if end), default=started))
    pace = sum(done.values()) / max(now - began, 1)
    costs, guessed = _costs(known), set()
    work = 0.0
    for job in left:
        keys = [(job.dataset, job.method), (job.dataset,), ()]
        key = next(key for key in keys if key in costs)
        work += costs[key]
        guessed |= {job.dataset} if not key else set()
    text += f", about {duration(work / pace)} left"
    return len(done), text + (f" (a guess: none done yet on {', '.join(sorted(guessed))})." if guessed else ".")


def _costs(known: dict[Job, float]) -> dict[tuple[str, ...], float]:
    """Mean seconds per data set and method, per data set, and of all."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for job, seconds in known.items():
        for key in [(job.dataset, job.method), (job.dataset,), ()]:
            groups.setdefault(key, []).append(seconds)
    return {key: sum(values) / len(values) for key, values in groups.items()}


def duration(seconds: float) -> str:
    """Seconds in words, as coarse as an estimate is: `40 s`, `12 min`, `3 h 20 min`."""
    if seconds < 90:
        return f"{max(10, round(seconds, -1)):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def summary(
    tables: Iterable[str], runs: Iterable[str], failed: Iterable[tuple[str, str, str]], skipped: Iterable[str] = ()
) -> str:
    """What a run of the workflow made, and what it didn't.

    Args:
        tables: the tables that were asked for, as Markdown.
        runs: the metrics.json that were asked for; those that hold a failure are listed with its reason.
        failed: rule, data set (or nothing) and log file of each job that failed.
        skipped: data sets that are left out already.
    """
    lines = []
    made = [table for table in tables if Path(table).exists()]
    if made:
        lines += ["Tables (as Markdown; LaTeX, HTML and CSV are beside them):", *(f"    {table}" for table in made)]
    reasons = phrases(found for run in runs if (found := _failure(run)))
    if reasons:
        lines += [
            "Training runs without a result, which the tables mark:",
            *(f"    {text}" for text in reasons[:_SHOWN]),
        ]
        if len(reasons) > _SHOWN:
            lines.append(f"    and {len(reasons) - _SHOWN} more")
    failed = list(failed)
    if failed:
        lines += ["Failed:", *(f"    {' '.join([rule, dataset]).strip()}: see {log}" for rule, dataset, log in failed)]
        lost = sorted({dataset for rule, dataset, _ in failed if dataset and rule in _DATA_RULES})
        if lost:
            skip = ",".join([*skipped, *lost])
            lines.append(f"To have the tables without {', '.join(lost)}: --config skip={skip}")
        lines.append("What is finished stays finished: the same command goes on from here.")
    return "\n".join(lines)


def failures(entries: Iterable[Any]) -> list[tuple[str, str, str]]:
    """What `summary` takes as `failed`, from what failed for Snakemake: jobs, and batches that stand for all theirs."""
    jobs = [job for entry in entries for job in (entry.jobs if entry.is_group() else [entry])]
    return sorted((job.rule.name, job.wildcards.get("dataset", ""), " ".join(job.log)) for job in jobs)


def _failure(path: str) -> tuple[str, str, int, str] | None:
    """Of a run that failed its method, cell and data set, the cell, the split and the reason."""
    try:
        metrics = read_json(path)
    except FairGATError:  # not made
        return None
    if "failure" not in metrics:
        return None
    where = f"{metrics['method']} ({metrics['cell']}) on {metrics['dataset']}"
    return where, metrics["cell"], metrics["split"], metrics["failure"]
