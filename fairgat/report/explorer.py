"""explore.html: one page to explore a run, which needs no network.

`points`, `curves` and `verdicts` are what the views show; `page` puts the charts that charts.py makes of them beside
vl-convert's scripts.
"""

import json
from typing import Any

import altair as alt
import jinja2
import numpy as np
import pandas as pd
import vl_convert

from fairgat import frames, measures
from fairgat.config import TASKS, Task
from fairgat.config.shown import FigureSettings
from fairgat.environment import revision
from fairgat.measures import PERCENT, Measure, Unit
from fairgat.paper import means
from fairgat.plan import cell_folder
from fairgat.report import charts, labels, percent
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, histories
from fairgat.report.render import plain
from fairgat.scores.runs import read, under
from fairgat.scores.selection import RULES

READS = ("cells", "winners", "histories", "audit")
POINTS = 50  # of a learning curve
TEMPLATE = "templates/explore.html.j2"  # in full, so that the rule sees it, as in render.py
_KEYS = ["dataset", "method", "cell"]


def points(settings: FigureSettings, task: Task, cells: pd.DataFrame, winners: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each cell, part and explored measure other than a utility, in the measures' units.

    Columns: `dataset` and `method` (titles), `cell` (in words), `part`, `measure` (a label), `value` and each utility
    (`accuracy`, `auc`) with their `_std` and `_text` (mean ± std), `splits`, `paper` (the published mean ± std),
    `folder`, and for each selection rule, such as `by_fair`, whether it chose the cell. A measure that is missing on
    every split has no row.

    Args:
        cells, winners: as `fairgat.scores.runs.read` gives them.
    """
    cells = under(cells, *settings.protocols)
    wide = cells.set_index([*_KEYS, "part", "metric"])[["mean", "std", "n_splits"]].unstack("metric")
    chosen = {
        rule: set(winners.loc[winners["rule"] == rule, _KEYS].itertuples(index=False, name=None)) for rule in RULES
    }
    titles, methods, rows = settings.titles_of(task), settings.method_titles, []
    published = {(d, m, name): values for d, m, name, *values in means(task).itertuples(index=False)}
    explored = measures.of_task(task, "explored")
    utilities = [each for each in explored if "utility" in each.roles]
    for (dataset, method, cell, part), row in wide.iterrows():
        if dataset not in titles or method not in methods:
            continue
        shown = [each for each in explored if each.name in row["mean"] and not np.isnan(row["mean", each.name])]
        against = {}
        for each in (each for each in utilities if each in shown):
            against |= _numbers(each.name, row["mean", each.name], row["std", each.name], each)
        for measure in [each for each in shown if each not in utilities]:
            better = f", {measure.better} is better" if measure.better else ""
            paper = {each: published.get((dataset, method, each.name)) for each in (utilities[0], measure)}
            rows.append(
                {"dataset": titles[dataset], "method": methods[method], "cell": in_words(cell),
                 "part": part, "measure": f"{labels.metric(measure.name)}{better}", **against,
                 **_numbers("value", row["mean", measure.name], row["std", measure.name], measure),
                 "splits": int(row["n_splits", measure.name]),
                 "paper": ", ".join(_text(*value, each.unit) for each, value in paper.items() if value) or "–",
                 "folder": cell_folder(task, dataset, method, cell),
                 **{f"by_{rule}": (dataset, method, cell) in chosen[rule] for rule in RULES}}
            )  # fmt: skip
    return pd.DataFrame(rows)


def curves(task: Task, cells: pd.DataFrame, files: Files) -> pd.DataFrame:
    """Make each cell's learning curves: means over the splits and over a few epochs at a time, in the measures' units.

    A row for each cell, which keeps the page small: `folder`, and lists of POINTS or fewer numbers, `epoch` and one for
    each score (its label).

    Args:
        task, cells: as for `points`.
        files: of the kind `histories`, which may be empty.
    """
    explored, rows = {f"validation_{each.name}": each for each in measures.of_task(task, "explored")}, []
    for key in cells[_KEYS].drop_duplicates().itertuples(index=False, name=None):
        splits = histories(files, task, *key)
        runs = pd.concat(splits) if splits else pd.DataFrame()
        known = {column: str(labels.metric(each.name)) for column, each in explored.items() if column in runs}
        if runs.empty or not known:  # every split failed at once
            continue
        width = -(-int(runs["epoch"].max()) // POINTS)
        window = ((runs["epoch"] - 1) // width).rename("window")
        values = runs[list(known)] * [explored[column].unit.factor for column in known]
        thin = values.rename(columns=known).groupby(window).mean().round(2)
        thin["epoch"] = runs["epoch"].groupby(window).mean().round(1)
        rows.append({"folder": cell_folder(task, *key)} | thin.to_dict("list"))
    return pd.DataFrame(rows)


def verdicts(settings: FigureSettings, numbers: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each published number that was run, with the audit's verdict; `numbers` are the audit's."""
    titles, methods = settings.dataset_titles, settings.method_titles
    shown = numbers.dropna(subset=["mean"])
    shown = shown[shown["dataset"].isin(titles) & shown["method"].isin(methods)]
    return pd.DataFrame(
        {"dataset": shown["dataset"].map(titles), "method": shown["method"].map(methods),
         "measure": [str(labels.metric(name)) for name in shown["metric"]], "rule": shown["rule"],
         "published": shown["paper_mean"], "ours": shown["mean"].round(3), "verdict": shown["verdict"],
         "paper": [_text(m / 100, s / 100) for m, s in zip(shown["paper_mean"], shown["paper_std"], strict=True)],
         "reproduced": [_text(m / 100, s / 100) for m, s in zip(shown["mean"], shown["std"], strict=True)],
         "interval": [
             str(percent.formatted("{:+.2f} to {:+.2f}", *ends)) for ends in shown[["ci_low", "ci_high"]].to_numpy()
         ],
         "p_holm": shown["p_holm"].round(4)}
    )  # fmt: skip


def page(settings: FigureSettings, files: Files) -> str:
    """Make explore.html.

    Args:
        files: of the kinds in `READS`.
    """
    cells, winners, views = read(*files["cells"]), read(*files["winners"]), {}
    for task in TASKS:
        shown = points(settings, task, cells, winners)
        if len(shown):
            views[TASKS[task].title] = charts.scatter(settings, task, shown, curves(task, cells, files))
    numbers = verdicts(settings, frames.read(*files["audit"]))
    if len(numbers):
        views["Published and reproduced"] = charts.verdicts(settings, numbers)
    names = json.dumps(
        {each.name: str(labels.metric(each.name)) for task in TASKS for each in measures.of_task(task, "utility")}
    )
    with alt.data_transformers.disable_max_rows():
        specs = {f"view-{number}": chart.to_dict() for number, chart in enumerate(views.values())}
    environment = jinja2.Environment(loader=jinja2.PackageLoader("fairgat.report", ""), autoescape=True)
    return environment.get_template(TEMPLATE).render(
        views={f"view-{number}": title for number, title in enumerate(views)},
        specs=_in_script(json.dumps(specs)),
        titles=_in_script(json.dumps({charts.MEASURE: "measure", charts.UTILITY: f"{names}[utility]"})),
        scripts=_in_script(vl_convert.javascript_bundle()),
        curves=bool(files["histories"]),
        commit=(revision()["commit"] or "unknown")[:12],
    )


def _in_script(text: str) -> str:
    return text.replace("</script", "<\\/script")  # the same to JavaScript, and no end of a script to HTML


def _numbers(name: str, mean: float, std: float, measure: Measure) -> dict[str, Any]:
    """A mean, its deviation and both as text, as columns."""
    factor = measure.unit.factor
    deviation = None if pd.isna(std) else round(factor * std, 3)
    return {name: round(factor * mean, 3), f"{name}_std": deviation, f"{name}_text": _text(mean, std, measure.unit)}


def _text(mean: float, std: float, unit: Unit = PERCENT) -> str:
    return plain(percent.score(mean, std, unit))
