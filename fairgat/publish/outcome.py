"""Say at the end of a run where the tables are and what failed, told from the files it left."""

import re
from pathlib import Path

from fairgat import frames
from fairgat.config import TASKS
from fairgat.errors import DataError
from fairgat.plan import Plan
from fairgat.publish.reference import audited
from fairgat.report.failures import numbered
from fairgat.scores.runs import FAILURE

_SHOWN = 20  # failed runs


def describe(plan: Plan, since: float, report: str | None = None) -> str:
    """Describe what a run of the workflow has made and what it has not.

    Args:
        since: when it began, in seconds of the epoch.
        report: the page that Snakemake makes next, if it does.
    """
    results = Path(plan.config.results_dir)
    failed = _failed(results, since)
    lines = [*_tables(plan, results, since), *_audit(results, since)]
    lines += _not_made(plan)
    if report and not failed:
        lines.append(f"The report, one page with everything in it: {report}")
    lines += _runs_without_result(plan, since if failed else 0)
    if failed:
        lines += [
            "Failed:",
            *(f"    see {log}" for log in failed),
            *_without(plan, failed),
            *_network(failed),
        ]
        lines.append(
            "What is finished stays finished: the same command goes on from here."
        )
    return "\n".join(lines)


def _new(path: Path, since: float) -> bool:
    return path.exists() and path.stat().st_mtime >= since


def _tables(plan: Plan, results: Path, since: float) -> list[str]:
    tables = [
        *(results / f"tables/{name}.md" for name in plan.config.tables),
        *sorted(results.glob("studies/*/*.md")),
    ]
    new = [f"    {table}" for table in tables if _new(table, since)]
    return (
        ["Tables (as Markdown; LaTeX, HTML and CSV are beside them):", *new]
        if new
        else []
    )


def _not_made(plan: Plan) -> list[str]:
    """Name the pages that an earlier run has not kept enough for."""
    earlier = plan.config.judge_from
    if not earlier:
        return []
    tables = [name for name in plan.config.tables if name not in plan.tables()]
    figures = [
        name for name in plan.config.figure_modules if name not in plan.figures()
    ]
    lines = []
    for kind, names in (("tables", tables), ("figures", figures)):
        if names:
            lines.append(
                f"Not made, as {earlier} lacks what they need: {kind} {', '.join(names)}"
            )
    return lines


def _audit(results: Path, since: float) -> list[str]:
    if _new(results / "audit/paper_vs_reproduced.csv", since) and audited(results):
        return [f"Does the paper hold? fairgat audit --results-dir {results}"]
    return []


def _failed(results: Path, since: float) -> list[Path]:
    """The logs of the jobs that began and did not succeed: Snakemake writes a job's benchmark only at a good end."""
    failed = []
    for log in sorted(results.glob("logs/**/*.log")):
        benchmark = (
            results
            / "benchmarks"
            / log.relative_to(results / "logs").with_suffix(".tsv")
        )
        if _new(log, since) and not _new(benchmark, log.stat().st_mtime):
            failed.append(log)
    return failed


def _without(plan: Plan, failed: list[Path]) -> list[str]:
    """How to run the others, where a data set could not be made: it has no graph or no splits."""
    names = []
    for name in sorted(plan.config.datasets):
        logs = [
            f"logs/{rule}/{name}.log"
            for rule in ("download", "preprocess", "statistics")
        ]
        if any(
            log.match(pattern)
            for log in failed
            for pattern in (*logs, f"logs/split/*/{name}/*.log")
        ):
            names.append(name)
    skip = ",".join([*plan.config.skip, *names])
    left = set(plan.config.datasets_run) - {*names}
    return (
        [f"To have the tables without {', '.join(names)}: --config skip={skip}"]
        if names and left
        else []
    )


def _network(failed: list[Path]) -> list[str]:
    """Say once that there is no connection, and what to do."""
    hosts = set[str]()
    for log in failed:
        if log.parent.name == "download":
            text = log.read_text(encoding="utf-8", errors="replace")
            hosts |= {*re.findall(r"no connection to (\S+)", text)}
    if not hosts:
        return []
    return [
        f"No connection to {' and '.join(sorted(hosts))}: nothing could be downloaded. "
        "The demo needs no network (make demo); for files fetched elsewhere, see "
        "`fairgat data where`."
    ]


def _runs_without_result(plan: Plan, since: float) -> list[str]:
    """The failed runs in the shards of scores made since then, one line for a cell's splits that failed alike.

    Where jobs failed, older shards may be of other code.
    """
    alike = ["method", "cell", "dataset", "reason"]
    paths = [
        path for task in TASKS for path in plan.shards(task) if _new(Path(path), since)
    ]
    try:
        runs = frames.read(*paths, columns=(*alike, "split", "metric"))
    except DataError as error:
        return [str(error)]
    groups = runs[runs["metric"] == FAILURE].groupby(alike, sort=False)["split"]
    lines = [
        f"    {method} ({cell}) on {dataset}, {numbered(list(splits))}: {reason}"
        for (method, cell, dataset, reason), splits in groups
    ]
    more = [f"    and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return (
        [
            "Training runs without a result, which the tables mark:",
            *lines[:_SHOWN],
            *more,
        ]
        if lines
        else []
    )
