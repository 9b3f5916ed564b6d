"""`fairgat audit --again`: judge a finished run by this version, from its published scores and without training."""

import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairgat import audit, frames
from fairgat.config import TASKS, Config, Task
from fairgat.config.shown import (
    audit_settings,
    explorer_settings,
    figure_settings,
    table_settings,
)
from fairgat.environment import revision
from fairgat.errors import DataError
from fairgat.files import read_json, read_text, replacing, write_json, write_text
from fairgat.paper import means
from fairgat.plan import ROOT, Plan
from fairgat.plan.modules import Declared
from fairgat.publish.provenance import DECIDES
from fairgat.report import explorer, style
from fairgat.report.model import noted
from fairgat.report.render import FORMATS, document, render
from fairgat.scores import runs, selection, summary

# Settings that decide what was run, and those that decide how it is judged.
SAME = (
    "seed",
    "splits",
    "training",
    "aggregation",
    "only_datasets",
    "only_methods",
    "skip",
)
JUDGE = ("selection", "audit")


def judge(results: Path, settings: Config, source: str) -> None:
    """Make the audit again, and the tables and figures that are there and that scores suffice for.

    Averages, chosen cells and verdicts are this version's; the scores themselves stay. provenance.json says by which
    code, by which settings it is judged, and `without` which pages. Nothing is written before all is made.

    Args:
        results: the run; `settings` are its own, `source` the files that they are from.

    Raises:
        DataError: the configuration would not run just this, or judge it by less.
    """
    provenance = read_json(results / "provenance.json")
    recorded = provenance.get("config", {})
    _check_same(results, recorded, settings, source)
    with TemporaryDirectory() as folder:
        fresh = Path(folder)
        for path in (
            results / name
            for name in ("summary", "runtime")
            if (results / name).exists()
        ):
            shutil.copytree(path, fresh / path.name)
        try:
            stay = _make(
                Plan(settings.model_copy(update={"results_dir": folder})), results
            )
        except DataError as error:  # in a copy, which nobody has seen
            raise DataError(str(error).replace(folder, str(results))) from None
        now = settings.model_dump(mode="json")
        judged = {
            "config": recorded | {key: now[key] for key in JUDGE},
            "audited_at": revision(ROOT, DECIDES) | {"without": stay},
        }
        write_json(fresh / "provenance.json", provenance | judged)
        for path in sorted(fresh.rglob("*.*")):
            place = results / path.relative_to(fresh)
            if place.exists() or (
                place.parent.name == "audit" and place.suffix != ".html"
            ):  # .md shows the same
                with replacing(place) as file:
                    file.write(path.read_bytes())
    print(
        f"As before: {', '.join(stay) or 'nothing'}. The pages of this folder: fairgat publish --pages-only\n"
    )


def _make(plan: Plan, results: Path) -> list[str]:
    """Make everything anew in the plan's folder; name the pages that `results` has and that read more than scores."""
    for task in filter(plan.pairs, TASKS):
        _summarise(plan, task, results)
    _audit(plan)
    left = [f"tables/{name}.md" for name in plan.tables() if not _table(plan, name)]
    left += [
        f"figures/{name}.svg" for name in plan.figures() if not _figure(plan, name)
    ]
    write_text(plan.path("explore.html"), _explorer(plan))
    write_text(plan.path("tables/all_tables.tex"), _all_tables(plan, results))
    shutil.rmtree(plan.path("runs"))  # the selections
    return [name for name in [*left, "costs/costs.md"] if (results / name).exists()]


def _summarise(plan: Plan, task: Task, results: Path) -> None:
    """Average the scores of a task, and choose each method's cell."""
    settings, by = plan.config, plan.config.selection
    scores = runs.read(*plan.files("runs", task))
    if other := {*plan.pairs(task)} ^ {
        *scores[["dataset", "method"]].itertuples(index=False, name=None)
    }:
        both = ", ".join(f"{method} on {dataset}" for dataset, method in sorted(other))
        raise DataError(
            f"{results} or the configuration has, and the other lacks, {both}: give the run's own files"
        )
    selections = []
    for dataset, method in plan.pairs(task):
        rows = scores.query("dataset == @dataset and method == @method")
        protocol, published = (
            settings.training.of(task).reported,
            settings.methods[method].published.get(dataset),
        )
        selections.append(
            selection.select(rows, task, protocol, by.rule, by.tolerance, published)
        )
        write_json(plan.selection(task, dataset, method), selections[-1])
    cells = summary.cells(scores, settings.aggregation.ddof)
    winners = summary.winners(selections, cells, means(task))
    for kind, frame in {"cells": cells, "winners": winners}.items():
        frames.write(plan.files(kind, task)[0], frame)


def _audit(plan: Plan) -> None:
    more = plan.config.audit.more_splits
    files = {kind: plan.files(kind) for kind in ("winners", "runs", "runtime")} | {
        "more_splits": [more] if more else []
    }
    for name, text in audit.make(audit_settings(plan.config), files).items():
        write_text(plan.path(f"audit/{name}"), text)


def _readable(plan: Plan, page: Declared) -> bool:
    return all(
        Path(path).exists() for paths in plan.sources(page).values() for path in paths
    )


def _table(plan: Plan, name: str) -> bool:
    """Make a table, unless it reads more than scores; say whether it was made."""
    page = plan.table(name)
    if made := _readable(plan, page):
        shown = table_settings(plan.config, name, page.task)
        build = import_module(f"fairgat.report.tables.{page.module}").build
        table = noted(build(shown, plan.sources(page)), shown.config.note)
        for form in FORMATS:
            write_text(plan.path(f"tables/{name}.{form}"), render(table, form))
    return made


def _figure(plan: Plan, name: str) -> bool:
    """Draw a figure, unless it reads more than scores; say whether it was drawn."""
    page = plan.figure(name)
    if made := _readable(plan, page):
        draw = import_module(f"fairgat.report.figures.{page.module}").draw
        figure = draw(figure_settings(plan.config, name, page.task), plan.sources(page))
        style.save(
            figure,
            {form: plan.path(f"figures/{name}.{form}") for form in style.FORMATS},
        )
    return made


def _explorer(plan: Plan) -> str:
    return explorer.page(
        explorer_settings(plan.config),
        {kind: plan.files(kind) for kind in explorer.READS},
    )


def _all_tables(plan: Plan, results: Path) -> str:
    """Put the LaTeX tables that are there in one document: the new one of each, or that of before."""
    names = [
        name
        for name in (f"tables/{table}.tex" for table in plan.tables())
        if (results / name).exists()
    ]
    places = [
        Path(plan.path(name)) if Path(plan.path(name)).exists() else results / name
        for name in names
    ]
    return document(map(read_text, places), plan.config.heading)


def _check_same(
    results: Path, recorded: Mapping[str, Any], settings: Config, files: str
) -> None:
    """Refuse to judge a run with a configuration that would not run it, or judge it by less.

    `recorded` is the run's own configuration, as provenance.json has it; `settings` are from `files`.
    """
    now = settings.model_dump(mode="json")
    for kind in ("datasets", "methods"):
        for name in recorded.get(kind, {}):
            if name not in now[kind]:
                raise DataError(
                    f"{results} has {name}, which {files} lacks: give the configuration files of the run"
                )
    for key in SAME:
        then = recorded.get(key, now[key])
        if (
            any(then[name] != now[key].get(name) for name in then)
            if isinstance(then, dict)
            else then != now[key]
        ):
            raise DataError(
                f"{results} was made with {key}: {then}, and {files} has {now[key]}: give its own"
            )
    if (recorded.get("audit") or {}).get(
        "more_splits"
    ) and not settings.audit.more_splits:
        raise DataError(
            f"{results} was judged with `audit.more_splits`, which {files} lacks: give all files of the run"
        )
    if not settings.compares_with_paper:
        raise DataError(
            f"{results} has none of the paper's data sets; snakemake makes its pages, and trains nothing"
        )
