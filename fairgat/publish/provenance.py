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

# What decides results; docs/ and results/reference are made from them.
DECIDES = (
    "Snakefile",
    "rules",
    "workflow_scripts",
    "fairgat",
    "beyond",
    "config.yaml",
    "configs",
)
TRAINING = ("command", "commit", "modified", "machine", "versions", "rules", "hours")
"""What is kept of the provenance of a run that trained, where another one judges it."""
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
    judged_from: str | None = None,
) -> dict[str, Any]:
    """Gather the content of provenance.json.

    Args:
        command: what the user typed.
        source: the folder of the Snakefile, whose commit is recorded; the runs say themselves which trained them.
        config: the settings that decide results beside the code, as `fairgat.config.Config` dumps them.
        benchmarks: the folder of Snakemake's benchmark files.
        selections: every selection.json, which says which code trained.
        made: the files that people read, under the results directory: what `fairgat publish` copies.
        judged_from: the results of the earlier run that trained, if this one did not.
    """
    content = {
        "command": command,
        **revision(source, DECIDES),
        "trained_at": trained_at(selections),
        "machine": machine(),
        "versions": {"python": platform.python_version()} | dict(_versions()),
        "config": dict(config),
        "rules": costs(benchmarks),
        "hours": hours(benchmarks),
        "files": list(made),
    }
    if judged_from:
        content |= training_of(Path(judged_from), content["trained_at"])
    return content


def training_of(results: Path, trained_at: list[dict[str, Any]]) -> dict[str, Any]:
    """Give `trained_at` and, as `training`, where an earlier run was trained.

    Args:
        results: its results directory. One without provenance.json says nothing.
        trained_at: what the runs themselves say of it, where they are at hand.
    """
    path = results / "provenance.json"
    if not path.exists():
        return {}
    earlier = read_json(path)
    # judged twice: by a run that did not train either
    training = earlier.get("training") or {
        key: earlier[key] for key in TRAINING if key in earlier
    }
    return {
        "trained_at": trained_at or earlier["trained_at"],
        "training": training,
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

    Jobs shorter than Snakemake's sampling interval have no memory.
    """
    frame = measured(benchmarks)
    sums = frame.groupby("rule").agg(
        jobs=("s", "size"),
        wall_seconds=("s", "sum"),
        cpu_seconds=("cpu_time", "sum"),
        peak_mb=("max_rss", "max"),
    )
    return sums.round(1).astype({"jobs": object}).to_dict("index")


def hours(benchmarks: str | Path) -> list[dict[str, Any]]:
    """List what the training of each `method` on each `dataset` took: `jobs` and `cpu_hours`."""
    frame = measured(benchmarks)
    frame = frame[frame["rule"] == "train"]
    place = frame["place"].str.split("/", expand=True).reindex(columns=range(4))
    frame = frame.assign(dataset=place[2], method=place[3])
    sums = frame.groupby(["dataset", "method"]).agg(
        jobs=("s", "size"), cpu_seconds=("cpu_time", "sum")
    )
    sums["cpu_hours"] = (sums.pop("cpu_seconds") / 3600).round(3)
    return sums.reset_index().to_dict("records")


def measured(benchmarks: str | Path) -> pd.DataFrame:
    """Read Snakemake's benchmark of each job.

    The folder has one folder or file per rule. `place` is a job's path in it; seconds `s`,
    `cpu_time` and the memory `max_rss` are 0 where they were not sampled.
    """
    columns = ["s", "cpu_time", "max_rss"]
    parts = []
    for path in sorted(Path(benchmarks).rglob("*.tsv")):
        place = path.relative_to(benchmarks).with_suffix("")
        job = pd.read_csv(path, sep="\t")
        parts.append(job.assign(place=place.as_posix(), rule=place.parts[0]))
    if not parts:
        return pd.DataFrame(columns=[*columns, "place", "rule"])
    frame = pd.concat(parts)
    numbers = frame[columns].apply(pd.to_numeric, errors="coerce")
    return frame.assign(**numbers.fillna(0.0))


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
    if training := content.get("training"):
        pairs["Machine that trained"] = training["machine"]
        pairs["Versions that trained"] = training["versions"]
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
    trained = content.get("training", content).get("hours", [])
    times = [
        row(
            f"{each['method']} on {each['dataset']}",
            each["jobs"],
            f"{each['cpu_hours']:.2f}",
        )
        for each in trained
    ]
    header = ["", "jobs", "wall time (s)", "CPU time (s)", "peak memory (MB)"]
    return Table(
        name="provenance",
        caption="Provenance",
        panels=[
            *panels,
            Panel("stacked", header, [Block("Rule", rules)], align="lrrrr"),
            Panel(
                "stacked",
                ["", "jobs", "CPU hours"],
                [Block("Training", times)],
                align="lrr",
            ),
        ],
        notes=[],
        explanation="Where these results come from. Times are sums over a rule's jobs.",
    )


def commit(code: Mapping[str, Any], digits: int | None = None) -> str:
    """Name the commit of some code, in full or by its first digits, and say if the code was changed since."""
    changed = " with uncommitted changes" if code["modified"] else ""
    return f"{(code['commit'] or 'unknown')[:digits]}{changed}"
