"""Say at the end of a run where the tables are and what failed, by its files."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairgat import frames
from fairgat.by_path import is_path
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
    lines = [*_tables(plan, since), *_audit(results, since)]
    lines += _not_made(plan)
    if not failed:
        if report:
            lines.append(f"The report, one page with everything in it: {report}")
        lines += _runs_without_result(plan, since=0)
        return "\n".join(lines)

    # Older scores may be of other code.
    lines += _runs_without_result(plan, since)
    lines.append("Failed:")
    lines += [f"    see {log}" for log in failed]
    lines += _without(plan, failed)
    lines += _network(failed)
    lines.append("What is finished stays finished: the same command goes on from here.")
    return "\n".join(lines)


def _new(path: Path, since: float) -> bool:
    return path.exists() and path.stat().st_mtime >= since


def _tables(plan: Plan, since: float) -> Iterator[str]:
    """Name the tables that were made."""
    results = Path(plan.config.results_dir)
    tables = [results / f"tables/{name}.md" for name in plan.config.tables]
    tables += sorted(results.glob("studies/*/*.md"))
    new = [table for table in tables if _new(table, since)]
    if new:
        yield "Tables (as Markdown; LaTeX, HTML and CSV are beside them):"
        for table in new:
            yield f"    {table}"


def _audit(results: Path, since: float) -> Iterator[str]:
    if _new(results / "audit/paper_vs_reproduced.csv", since) and audited(results):
        yield f"Does the paper hold? fairgat audit --results-dir {results}"


def _not_made(plan: Plan) -> Iterator[str]:
    """Name the pages that an earlier run has not kept enough for.

    And those of one's own that nothing is made for, which may be a surprise.
    """
    config = plan.config
    trained = Plan(config.model_copy(update={"judge_from": None}))
    could_be = {"tables": trained.tables(), "figures": trained.figures()}
    made = {"tables": plan.tables(), "figures": plan.figures()}
    for kind, names in could_be.items():
        missing = [name for name in names if name not in made[kind]]
        if missing:
            lacks = f"Not made, as {config.judge_from} lacks what they need"
            yield f"{lacks}: {kind} {', '.join(missing)}"

    modules = {
        "tables": {name: plan.table(name).module for name in config.tables},
        "figures": config.figure_modules,
    }
    for kind, pages in modules.items():
        own = [name for name, module in pages.items() if is_path(module)]
        missing = [name for name in own if name not in could_be[kind]]
        if missing:
            yield (
                f"Not made, as this run has none of what they read: {kind} "
                f"{', '.join(missing)} (times, theory and accounts are made for the "
                "methods that a table of them lists)"
            )


def _failed(results: Path, since: float) -> list[Path]:
    """List the logs of the jobs that began and did not succeed.

    Snakemake writes a job's benchmark only at a good end.
    """
    failed = []
    for log in sorted(results.glob("logs/**/*.log")):
        job = log.relative_to(results / "logs")
        benchmark = results / "benchmarks" / job.with_suffix(".tsv")
        if _new(log, since) and not _new(benchmark, log.stat().st_mtime):
            failed.append(log)
    return failed


def _without(plan: Plan, failed: Sequence[Path]) -> Iterator[str]:
    """Say how to run the others, where a data set has no graph or no splits."""
    config = plan.config
    names = [name for name in sorted(config.datasets) if _lost(name, failed)]
    left = set(config.datasets_run) - set(names)
    if names and left:
        skip = ",".join([*config.skip, *names])
        yield f"To have the tables without {', '.join(names)}: --config skip={skip}"


def _lost(dataset: str, failed: Sequence[Path]) -> bool:
    """Say whether a job failed that makes a data set."""
    rules = ("download", "preprocess", "statistics")
    logs = [f"logs/{rule}/{dataset}.log" for rule in rules]
    logs.append(f"logs/split/*/{dataset}/*.log")
    return any(log.match(pattern) for log in failed for pattern in logs)


def _network(failed: Sequence[Path]) -> Iterator[str]:
    """Say once that there is no connection, and what to do."""
    hosts = set[str]()
    for log in failed:
        if log.parent.name == "download":
            text = log.read_text(encoding="utf-8", errors="replace")
            hosts.update(re.findall(r"no connection to (\S+)", text))
    if hosts:
        names = " and ".join(sorted(hosts))
        yield (
            f"No connection to {names}: nothing could be downloaded. The demo needs "
            "no network (make demo). `fairgat data where` lists the files; fetched "
            "elsewhere, `fairgat data add FOLDER` takes them in, or `data_mirror` in "
            "the configuration names a mirror of them."
        )


def _runs_without_result(plan: Plan, since: float) -> list[str]:
    """List the failed runs among scores made since then.

    The splits of a cell that failed alike stand in one line.
    """
    alike = ["method", "cell", "dataset", "reason"]
    shards = [shard for task in TASKS for shard in plan.shards(task)]
    new = [shard for shard in shards if _new(Path(shard), since)]
    try:
        runs = frames.read(*new, columns=(*alike, "split", "metric"))
    except DataError as error:
        return [str(error)]

    lines = []
    failed = runs[runs["metric"] == FAILURE]
    for key, splits in failed.groupby(alike, sort=False)["split"]:
        method, cell, dataset, reason = key
        where = f"{method} ({cell}) on {dataset}, {numbered(list(splits))}"
        lines.append(f"    {where}: {reason}")
    if not lines:
        return []
    more = len(lines) - _SHOWN
    if more > 0:
        lines[_SHOWN:] = [f"    and {more} more"]
    return ["Training runs without a result, which the tables mark:", *lines]
