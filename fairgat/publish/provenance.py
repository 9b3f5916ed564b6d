"""Record where results come from: command, commit, machine, versions, costs."""

import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.config.reading import MODULES
from fairgat.environment import machine, revision
from fairgat.files import read_json
from fairgat.report.model import DASH, Block, Panel, Row, Table, row

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
    made: Mapping[str, str],
    judged_from: str | None = None,
) -> dict[str, Any]:
    """Gather the content of provenance.json.

    Args:
        command: what the user typed.
        source: the folder of the Snakefile, whose commit is recorded; the runs say
            themselves which trained them.
        config: the settings that decide results beside the code, as
            `fairgat.config.Config` dumps them.
        benchmarks: the folder of Snakemake's benchmark files.
        selections: every selection.json, which says which code trained.
        made: the files that people read, under the results directory, with the SHA-256
            of each: what `fairgat publish` copies, if they are still these.
        judged_from: the results of the earlier run that trained, if this one did not.
    """
    content = {
        "command": command,
        **revision(source, DECIDES),
        "trained_at": trained_at(selections),
        "machine": machine(),
        "versions": _versions(),
        "config": modules_from_root(config, Path(source)),
        "rules": costs(benchmarks),
        "hours": hours(benchmarks),
        "files": dict(made),
    }
    if judged_from:
        content |= training_of(Path(judged_from), content["trained_at"])
    return content


def modules_from_root(content: Any, root: Path) -> Any:
    """Name the modules that a configuration has by path from the repository's root on.

    The configuration has them by absolute paths, and provenance is published. Those
    outside the repository stay as they are.
    """
    if not isinstance(content, Mapping):
        return content
    named = {}
    for key, value in content.items():
        if key not in MODULES:
            named[key] = modules_from_root(value, root)
        elif isinstance(value, list):
            named[key] = [_from_root(each, root) for each in value]
        else:
            named[key] = _from_root(value, root)
    return named


def _from_root(value: Any, root: Path) -> Any:
    return value.removeprefix(f"{root}/") if isinstance(value, str) else value


def training_of(results: Path, trained_at: list[dict[str, Any]]) -> dict[str, Any]:
    """Give `trained_at` and `training` of results that judge an earlier run's models.

    `trained_at` says which code trained them. `training` is the part TRAINING of the
    earlier run's provenance; where that run only judged, too, its own `training`.

    Args:
        results: its results directory. One without provenance.json says nothing.
        trained_at: what the runs themselves say of it, where they are at hand.
    """
    path = results / "provenance.json"
    if not path.exists():
        return {}
    earlier = read_json(path)
    training = earlier.get("training")  # what it handed on, if it only judged
    if not training:
        training = {key: earlier[key] for key in TRAINING if key in earlier}
    return {
        "trained_at": trained_at or earlier["trained_at"],
        "training": training,
    }


def trained_at(selections: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Add up the `runs` that each code trained, most runs first.

    A code is a `commit`, and whether it was `modified`.
    """
    counts: Counter = Counter()
    for path in selections:
        for entry in read_json(path)["trained_at"]:
            counts[entry["commit"], entry["modified"]] += entry["runs"]
    codes = []
    for (commit, modified), runs in counts.most_common():
        codes.append({"commit": commit, "modified": modified, "runs": runs})
    return codes


def _versions() -> dict[str, str]:
    """Find the versions of Python and of those of PACKAGES that are installed."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def costs(benchmarks: str | Path) -> dict[str, dict[str, float]]:
    """Sum up what the jobs of each rule took.

    `jobs`, `wall_seconds`, `cpu_seconds`, and `peak_mb`, the largest job's memory; jobs
    shorter than Snakemake's sampling interval have none.
    """
    of_rules = measured(benchmarks).groupby("rule")
    sums = of_rules.agg(
        jobs=("s", "size"),
        wall_seconds=("s", "sum"),
        cpu_seconds=("cpu_time", "sum"),
        peak_mb=("max_rss", "max"),
    )
    return sums.round(1).astype({"jobs": object}).to_dict("index")


def hours(benchmarks: str | Path) -> list[dict[str, Any]]:
    """List what training a `method` on a `dataset` took: `jobs` and `cpu_hours`."""
    frame = measured(benchmarks)
    frame = frame[frame["rule"] == "train"]
    place = frame["place"].str.split("/", expand=True).reindex(columns=range(4))
    frame = frame.assign(dataset=place[2], method=place[3])
    of_methods = frame.groupby(["dataset", "method"])
    sums = of_methods.agg(jobs=("s", "size"), cpu_hours=("cpu_time", "sum"))
    sums["cpu_hours"] = (sums["cpu_hours"] / 3600).round(3)
    return sums.reset_index().to_dict("records")


def measured(benchmarks: str | Path) -> pd.DataFrame:
    """Read Snakemake's benchmark of each job.

    The folder has one folder or file per rule. `place` is a job's path in it; seconds
    `s`, `cpu_time` and the memory `max_rss` are 0 where they were not sampled.
    """
    columns = ["s", "cpu_time", "max_rss"]
    parts = []
    for path in sorted(Path(benchmarks).rglob("*.tsv")):
        place = path.relative_to(benchmarks).with_suffix("")
        try:
            job = pd.read_csv(path, sep="\t").reindex(columns=columns)
        except pd.errors.EmptyDataError:  # the job was killed as it was written
            continue
        parts.append(job.assign(place=place.as_posix(), rule=place.parts[0]))
    if not parts:
        return pd.DataFrame(columns=[*columns, "place", "rule"])
    frame = pd.concat(parts)
    numbers = frame[columns].apply(pd.to_numeric, errors="coerce")
    return frame.assign(**numbers.fillna(0.0))


def page(content: Mapping[str, Any]) -> Table:
    """Show provenance.json as a page."""
    config = content["config"]
    trained = [f"{commit(code)}: {code['runs']} runs" for code in content["trained_at"]]
    run = {
        "Command": content["command"],
        "Commit": commit(content),
        "Trained at": ", ".join(trained),
        "Seed": config["seed"],
        "Splits": config["splits"]["count"],
        "Selection rule": config["selection"]["rule"],
    }
    training = content.get("training", {})
    about = {"Run": run, "Machine": content["machine"], "Versions": content["versions"]}
    if training:
        about["Machine that trained"] = training["machine"]
        about["Versions that trained"] = training["versions"]

    panels = []
    for title, entries in about.items():
        rows = [row(name, value) for name, value in entries.items()]
        panels.append(_panel(title, [""], rows, align="ll"))
    rules = [_rule(name, entry) for name, entry in content["rules"].items()]
    hours = (training or content).get("hours", [])
    of_rules = ["jobs", "wall time (s)", "CPU time (s)", "peak memory (MB)"]
    panels.append(_panel("Rule", of_rules, rules, align="lrrrr"))
    times = [_time(entry) for entry in hours]
    panels.append(_panel("Training", ["jobs", "CPU hours"], times, align="lrr"))
    return Table(
        name="provenance",
        caption="Provenance",
        panels=panels,
        notes=[],
        explanation="Where these results come from. Times are sums over a rule's jobs.",
    )


def _panel(title: str, header: Sequence[str], rows: list[Row], align: str) -> Panel:
    return Panel("stacked", ["", *header], [Block(title, rows)], align=align)


def _rule(name: str, entry: Mapping[str, Any]) -> Row:
    """Show what a rule cost."""
    sums = [f"{entry[key]:g}" for key in ("jobs", "wall_seconds", "cpu_seconds")]
    peak = f"{entry['peak_mb']:.0f}" if entry["peak_mb"] else DASH
    return row(name, *sums, peak)


def _time(entry: Mapping[str, Any]) -> Row:
    """Show what the training of a method on a data set took."""
    name = f"{entry['method']} on {entry['dataset']}"
    return row(name, entry["jobs"], f"{entry['cpu_hours']:.2f}")


def commit(code: Mapping[str, Any], digits: int | None = None) -> str:
    """Name the commit of some code, in full or by its first digits.

    And say if the code was changed since.
    """
    name = code["commit"] or "unknown"
    changed = " with uncommitted changes" if code["modified"] else ""
    return f"{name[:digits]}{changed}"
