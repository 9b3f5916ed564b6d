"""Record where results come from: command, commit, machine, versions, seeds, and what each rule cost."""

import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import starmap
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.environment import machine, revision
from fairgat.files import read_json
from fairgat.report.model import DASH, Block, Panel, Table, row

# What decides results; README.md and results/reference are made from them.
DECIDES = (
    "Snakefile",
    "rules",
    "workflow_scripts",
    "fairgat",
    "config.yaml",
    "configs",
)
PACKAGES = (
    "fairgat",
    "torch",
    "numpy",
    "scipy",
    "numba",
    "pandas",
    "pydantic",
    "snakemake",
    "matplotlib",
    "Jinja2",
)


def collect(
    command: str,
    source: str | Path,
    config: Mapping[str, Any],
    benchmarks: str | Path,
    selections: Iterable[str | Path],
    made: Iterable[str],
) -> dict[str, Any]:
    """Gather the content of provenance.json.

    Args:
        command: what the user typed.
        source: the folder of the Snakefile, whose commit is recorded; the runs say themselves which trained them.
        config: the settings that decide results beside the code, as `fairgat.config.Config` dumps them.
        benchmarks: the folder of Snakemake's benchmark files.
        selections: every selection.json, which says which code trained.
        made: the files that people read, under the results directory: what `fairgat publish` copies.
    """
    return {
        "command": command,
        **revision(source, DECIDES),
        "trained_at": trained_at(selections),
        "machine": machine(),
        "versions": {"python": platform.python_version()} | dict(_versions()),
        "config": dict(config),
        "rules": costs(benchmarks),
        "files": list(made),
    }


def trained_at(selections: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Add up the `runs` that each `commit` trained and whether it was `modified`, most runs first."""
    counts: Counter = Counter()
    for path in selections:
        for entry in read_json(path)["trained_at"]:
            counts[entry["commit"], entry["modified"]] += entry["runs"]
    return [
        {"commit": key[0], "modified": key[1], "runs": runs}
        for key, runs in counts.most_common()
    ]


def _versions() -> Iterable[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue


def costs(benchmarks: str | Path) -> dict[str, dict[str, float]]:
    """Rule → `jobs`, `wall_seconds`, `cpu_seconds` (sums over its jobs) and `peak_mb` (the largest job's memory).

    The folder has one folder or file per rule. Jobs shorter than Snakemake's sampling interval have no memory.
    """
    paths = sorted(Path(benchmarks).rglob("*.tsv"))
    if not paths:
        return {}
    rules = [
        path.relative_to(benchmarks).parts[0].removesuffix(".tsv") for path in paths
    ]
    frame = pd.concat(
        [
            pd.read_csv(path, sep="\t").assign(rule=rule)
            for path, rule in zip(paths, rules, strict=True)
        ]
    )
    numbers = (
        frame[["s", "cpu_time", "max_rss"]]
        .apply(pd.to_numeric, errors="coerce")
        .fillna(0.0)
    )  # NA: not sampled
    sums = numbers.groupby(frame["rule"]).agg(
        jobs=("s", "size"),
        wall_seconds=("s", "sum"),
        cpu_seconds=("cpu_time", "sum"),
        peak_mb=("max_rss", "max"),
    )
    return sums.round(1).astype({"jobs": object}).to_dict("index")


def page(content: Mapping[str, Any]) -> Table:
    """provenance.json as a page."""
    config = content["config"]
    run = {
        "Command": content["command"],
        "Commit": commit(content),
        "Trained at": ", ".join(
            f"{commit(code)}: {code['runs']} runs" for code in content["trained_at"]
        ),
        "Seed": config["seed"],
        "Splits": config["splits"]["count"],
        "Selection rule": config["selection"]["rule"],
    }
    pairs = {"Run": run, "Machine": content["machine"], "Versions": content["versions"]}
    rules = [
        row(
            rule,
            *(f"{entry[key]:g}" for key in ("jobs", "wall_seconds", "cpu_seconds")),
            f"{entry['peak_mb']:.0f}" if entry["peak_mb"] else DASH,
        )
        for rule, entry in content["rules"].items()
    ]
    panels = [
        Panel(
            "stacked",
            ["", ""],
            [Block(title, [*starmap(row, entries.items())])],
            align="ll",
        )
        for title, entries in pairs.items()
    ]
    header = ["", "jobs", "wall time (s)", "CPU time (s)", "peak memory (MB)"]
    return Table(
        name="provenance",
        caption="Provenance",
        panels=[
            *panels,
            Panel("stacked", header, [Block("Rule", rules)], align="lrrrr"),
        ],
        notes=[],
        explanation="Where these results come from. Times are sums over a rule's jobs.",
    )


def commit(code: Mapping[str, Any], digits: int | None = None) -> str:
    """Name the commit of some code, in full or by its first digits, and say if the code was changed since."""
    changed = " with uncommitted changes" if code["modified"] else ""
    return f"{(code['commit'] or 'unknown')[:digits]}{changed}"
