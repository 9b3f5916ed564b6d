"""`fairgat audit --again`: judge a finished run by this version, from its published scores and without training."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairgat import audit, frames
from fairgat.config import TASKS, Config, Task
from fairgat.config.shown import audit_settings, explorer_settings, figure_settings, table_settings
from fairgat.environment import revision
from fairgat.errors import DataError
from fairgat.files import read_json, read_text, write_json, write_text
from fairgat.paper import means
from fairgat.plan import ROOT, Plan
from fairgat.plan.modules import Declared
from fairgat.publish.provenance import DECIDES
from fairgat.report import explorer, style
from fairgat.report.inputs import Files
from fairgat.report.model import noted
from fairgat.report.render import FORMATS, document, render
from fairgat.scores import runs, selection, summary

SAME = ("seed", "splits", "aggregation", "only_datasets", "only_methods", "skip")  # settings that decide what was run


def judge(results: Path, settings: Config, source: str) -> None:
    """Make the audit again, and all pages that scores suffice for; provenance.json says by which code.

    Args:
        results: the run; `settings` are its own, `source` the files that they are from.

    Raises:
        DataError: the configuration would not run it, or judge it by less.
    """
    provenance = read_json(results / "provenance.json")
    _check_same(results, provenance.get("config", {}), settings, source)
    plan, more = Plan(settings.model_copy(update={"results_dir": str(results)})), settings.audit.more_splits
    with TemporaryDirectory() as folder:
        chosen = {path: place for task in TASKS for path, place in _select(plan, task, Path(folder)).items()}
        given = {kind: plan.files(kind) for kind in ("winners", "runs", "runtime")}
        given["more_splits"] = [more] if more else []
        for name, text in audit.make(audit_settings(settings), given).items():
            _write(results / "audit" / name, text)
        for name in plan.tables():
            _table(plan, name, chosen)
        for name in plan.figures():
            _figure(plan, name, chosen)
    if (page := results / "explore.html").exists():
        files = {kind: plan.files(kind) for kind in explorer.READS}
        write_text(page, explorer.page(explorer_settings(settings), files))
    if (whole := results / "tables/all_tables.tex").exists():
        texts = [read_text(results / f"tables/{name}.tex") for name in plan.tables()]
        write_text(whole, document(texts, settings.heading))
    write_json(results / "provenance.json", provenance | {"audited_at": revision(ROOT, DECIDES)})


def _write(path: Path, text: str) -> None:
    if path.exists() or path.suffix != ".html":  # .md shows the same
        write_text(path, text)


def _select(plan: Plan, task: Task, folder: Path) -> dict[str, str]:
    """Average the scores and choose each method's cell; map each path of selection.json to one in `folder`."""
    settings, by = plan.config, plan.config.selection
    if not plan.pairs(task):
        return {}
    scores = runs.read(*plan.files("runs", task))
    selections, places = [], {}
    for dataset, method in plan.pairs(task):
        rows = scores.query("dataset == @dataset and method == @method")
        protocol, published = settings.training.of(task).reported, settings.methods[method].published.get(dataset)
        selections.append(selection.select(rows, task, protocol, by.rule, by.tolerance, published))
        path = folder / task / dataset / f"{method}.json"
        write_json(path, selections[-1])
        places[plan.selection(task, dataset, method)] = str(path)
    cells = summary.cells(scores, settings.aggregation.ddof)
    winners = summary.winners(selections, cells, means(task))
    for kind, frame in {"cells": cells, "winners": winners}.items():
        frames.write(plan.files(kind, task)[0], frame)
    return places


def _sources(plan: Plan, page: Declared, chosen: Mapping[str, str]) -> Files | None:
    """List what a page reads; None where any of it is not published."""
    files = {kind: [chosen.get(path, path) for path in paths] for kind, paths in plan.sources(page).items()}
    missing = [path for paths in files.values() for path in paths if not Path(path).exists()]
    return None if missing else files


def _table(plan: Plan, name: str, chosen: Mapping[str, str]) -> None:
    page, place = plan.table(name), Path(plan.path(f"tables/{name}"))
    if files := _sources(plan, page, chosen):
        shown = table_settings(plan.config, name, page.task)
        table = noted(import_module(f"fairgat.report.tables.{page.module}").build(shown, files), shown.config.note)
        for form in FORMATS:
            _write(place.with_suffix(f".{form}"), render(table, form))


def _figure(plan: Plan, name: str, chosen: Mapping[str, str]) -> None:
    page, place = plan.figure(name), Path(plan.path(f"figures/{name}"))
    there = {form: path for form in style.FORMATS if (path := place.with_suffix(f".{form}")).exists()}
    if (files := _sources(plan, page, chosen)) and there:
        shown = figure_settings(plan.config, name, page.task)
        style.save(import_module(f"fairgat.report.figures.{page.module}").draw(shown, files), there)


def _check_same(results: Path, recorded: Mapping[str, Any], settings: Config, files: str) -> None:
    """Refuse to judge a run with a configuration that would not run it, or judge it by less.

    `recorded` is the run's own configuration, as provenance.json has it; `settings` are from `files`.
    """
    now = settings.model_dump(mode="json")
    for kind in ("datasets", "methods"):
        for name in recorded.get(kind, {}):
            if name not in now[kind]:
                raise DataError(f"{results} has {name}, which {files} lacks: give the configuration files of the run")
    for key in SAME:
        if recorded.get(key, now[key]) != now[key]:
            raise DataError(f"{results} was made with {key}: {recorded[key]}, and {files} has another")
    if (recorded.get("audit") or {}).get("more_splits") and not settings.audit.more_splits:
        raise DataError(f"{results} was judged with `audit.more_splits`, which {files} lacks")
    if not settings.compares_with_paper:
        raise DataError(f"{results} has none of the paper's data sets, so there is nothing to judge")
