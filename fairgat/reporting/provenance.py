"""Where results come from: command, commit, machine, versions, seeds, and what each rule cost."""

import csv
import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairgat.environment import revision
from fairgat.files import read_json
from fairgat.reporting.model import Block, Cell, Panel, Row, Table

CODE = ("commit", "modified")
# What decides results; README.md and results/reference are made from them.
DECIDES = ("Snakefile", "rules", "workflow_scripts", "fairgat", "config*.yaml")
PACKAGES = ("fairgat", "torch", "numpy", "scipy", "numba", "pandas", "pydantic", "snakemake", "matplotlib", "Jinja2")


def collect(
    command: str,
    source: str | Path,
    machine: Mapping[str, Any],
    config: Mapping[str, Any],
    benchmarks: str | Path,
    jobs: Iterable[str],
    metrics: Iterable[str | Path],
) -> dict[str, Any]:
    """The content of provenance.json.

    Args:
        command: what the user typed.
        source: the folder of the Snakefile, whose commit is recorded; the runs say themselves which trained them.
        machine: as `fairgat.environment.machine` gives it.
        config: the settings that decide results beside the code, such as the seed.
        benchmarks: the folder of Snakemake's benchmark files, one folder (or file) per rule.
        jobs: this run's files in that folder; those of other settings may lie beside them.
        metrics: every metrics.json.
    """
    return {
        "command": command,
        **revision(source, DECIDES),
        "trained_at": trained_at(metrics),
        "machine": dict(machine),
        "versions": versions(PACKAGES),
        "config": dict(config),
        "rules": costs(benchmarks, jobs),
    }


def trained_at(metrics: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The `commit` of the code that trained, whether it was `modified`, and its number of `runs`; most runs first."""
    found = Counter(tuple((read_json(path).get("code") or {}).get(key) for key in CODE) for path in metrics)
    return [{**dict(zip(CODE, code, strict=True)), "runs": runs} for code, runs in found.most_common()]


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
    found: dict[str, dict[str, float]] = {}
    for job in sorted(jobs):
        path, rule = Path(benchmarks, job), Path(job).parts[0].removesuffix(".tsv")
        if not path.is_file():  # made elsewhere, or before there were benchmarks
            continue
        entry = found.setdefault(rule, {"jobs": 0, "wall_seconds": 0.0, "cpu_seconds": 0.0, "peak_mb": 0.0})
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                entry["jobs"] += 1
                entry["wall_seconds"] += _number(row.get("s"))
                entry["cpu_seconds"] += _number(row.get("cpu_time"))
                entry["peak_mb"] = max(entry["peak_mb"], _number(row.get("max_rss")))
    return {
        rule: {name: round(value, 1) if isinstance(value, float) else value for name, value in entry.items()}
        for rule, entry in found.items()
    }


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:  # "NA" where nothing was sampled
        return 0.0


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
