"""Where results come from: command, commit, machine, versions, seeds, and what each rule cost."""

import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.environment import revision
from fairgat.files import read_json
from fairgat.reporting.model import Block, Cell, Panel, Row, Table

# What decides results; README.md and results/reference are made from them.
DECIDES = ("Snakefile", "rules", "workflow_scripts", "fairgat", "config.yaml", "configs")
PACKAGES = ("fairgat", "torch", "numpy", "scipy", "numba", "pandas", "pydantic", "snakemake", "matplotlib", "Jinja2")


def collect(
    command: str,
    source: str | Path,
    machine: Mapping[str, Any],
    config: Mapping[str, Any],
    benchmarks: str | Path,
    jobs: Iterable[str],
    selections: Iterable[str | Path],
) -> dict[str, Any]:
    """The content of provenance.json.

    Args:
        command: what the user typed.
        source: the folder of the Snakefile, whose commit is recorded; the runs say themselves which trained them.
        machine: as `fairgat.environment.machine` gives it.
        config: the settings that decide results beside the code, such as the seed.
        benchmarks: the folder of Snakemake's benchmark files, one folder (or file) per rule.
        jobs: this run's files in that folder; those of other settings may lie beside them.
        selections: every selection.json, which says which code trained.
    """
    return {
        "command": command,
        **revision(source, DECIDES),
        "trained_at": trained_at(selections),
        "machine": dict(machine),
        "versions": versions(PACKAGES),
        "config": dict(config),
        "rules": costs(benchmarks, jobs),
    }


def trained_at(selections: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The `commit` of the code that trained, whether it was `modified`, and its number of `runs`; most runs first."""
    found: Counter = Counter()
    for entry in (entry for path in selections for entry in read_json(path)["trained_at"]):
        found[entry["commit"], entry["modified"]] += entry["runs"]
    return [{"commit": key[0], "modified": key[1], "runs": runs} for key, runs in found.most_common()]


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def costs(benchmarks: str | Path, jobs: Iterable[str]) -> dict[str, dict[str, float]]:
    """Rule → `jobs`, `wall_seconds`, `cpu_seconds` (sums over its jobs) and `peak_mb` (the largest job's memory).

    `jobs` are the benchmark files to read, as paths in the folder `benchmarks`; those that are missing are left out.
    Jobs shorter than Snakemake's sampling interval have no memory.
    """
    frames = [
        pd.read_csv(path, sep="\t").assign(rule=Path(job).parts[0].removesuffix(".tsv"))
        for job in sorted(jobs)
        if (path := Path(benchmarks, job)).is_file()  # else made elsewhere, or before there were benchmarks
    ]
    if not frames:
        return {}
    frame = pd.concat(frames)
    numbers = frame[["s", "cpu_time", "max_rss"]].apply(pd.to_numeric, errors="coerce").fillna(0.0)  # NA: not sampled
    found = numbers.groupby(frame["rule"]).agg(
        jobs=("s", "size"), wall_seconds=("s", "sum"), cpu_seconds=("cpu_time", "sum"), peak_mb=("max_rss", "max")
    )
    return found.round(1).astype({"jobs": object}).to_dict("index")


def page(content: Mapping[str, Any]) -> Table:
    """provenance.json as a page."""
    run = {
        "Command": content["command"],
        "Commit": _commit(content),
        "Trained at": ", ".join(f"{_commit(code)}: {code['runs']} runs" for code in content["trained_at"]),
        **{key.replace("_", " ").capitalize(): value for key, value in content["config"].items()},
    }
    cost = [
        Row(
            [
                Cell(rule),
                *(Cell(f"{entry[key]:g}") for key in ("jobs", "wall_seconds", "cpu_seconds")),
                Cell(f"{entry['peak_mb']:.0f}" if entry["peak_mb"] else "–"),
            ]
        )
        for rule, entry in content["rules"].items()
    ]
    return Table(
        name="provenance",
        caption="Provenance",
        panels=[
            _pairs("Run", run),
            _pairs("Machine", content["machine"]),
            _pairs("Versions", content["versions"]),
            Panel(
                "stacked",
                ["", "jobs", "wall time (s)", "CPU time (s)", "peak memory (MB)"],
                [Block("Rule", cost)],
                align="lrrrr",
            ),
        ],
        notes=[],
        explanation="Where these results come from. Times are sums over a rule's jobs.",
    )


def _commit(code: Mapping[str, Any]) -> str:
    changed = " (with uncommitted changes)" if code["modified"] else ""
    return f"{code['commit'] or 'unknown'}{changed}"


def _pairs(title: str, values: Mapping[str, Any]) -> Panel:
    return Panel(
        "stacked",
        ["", ""],
        [Block(title, [Row([Cell(key), Cell(str(value))]) for key, value in values.items()])],
        align="ll",
    )
