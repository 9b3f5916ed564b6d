"""explore.html: one page to look around in a run, which needs no network.

`points`, `curves` and `verdicts` are what the three views show; `page` puts them into Altair charts, whose controls are
Vega-Lite's own parameters, and vl-convert's scripts beside them.
"""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import jinja2
import numpy as np
import pandas as pd
import vl_convert
from matplotlib.markers import MarkerStyle

from fairgat import frames
from fairgat.config import TASKS, Task
from fairgat.config.shown import ExplorerSettings
from fairgat.paper import means
from fairgat.plan import cell_folder
from fairgat.report import labels, percent, style
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, histories
from fairgat.report.render import plain
from fairgat.scores.runs import read, under
from fairgat.scores.selection import RULES
from fairgat.tasks import measures
from fairgat.tasks.measures import PERCENT, Measure, Unit

POINTS = 50  # of a learning curve
TEMPLATE = "templates/explore.html.j2"  # in full, so that the rule sees it, as in render.py
_KEYS = ["dataset", "method", "cell"]
# Of the verdicts, the same on every page; the colours are Okabe and Ito's.
_COLOURS = dict(zip(labels.VERDICTS, ["#009e73", "#0072b2", "#d55e00", "#cccccc", "#999999"], strict=True))
_SHAPES = dict(zip(labels.VERDICTS, ["circle", "triangle-up", "triangle-down", "diamond", "cross"], strict=True))


def points(settings: ExplorerSettings, task: Task, cells: pd.DataFrame, winners: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each cell, part and explored measure that is no utility, in the measures' units.

    Columns: `dataset` and `method` (titles), `cell` (in words), `part`, `measure` (a label), `value` and each utility
    (`accuracy`, `auc`) with their `_text` (mean ± std), `splits`, `paper` (the published mean ± std), `folder`, and for
    each selection rule, such as `by_fair`, whether it chose the cell. A measure that is missing on every split has no
    row.

    Args:
        settings: what is shown.
        task: the task.
        cells, winners: as `fairgat.scores.runs.read` gives them.
    """
    cells = under(cells, *settings.protocols)
    text = [_text(row.mean, row.std, measures.find(row.metric).unit) for row in cells.itertuples()]
    wide = cells.assign(text=text).set_index([*_KEYS, "part", "metric"])[["mean", "text", "n_splits"]].unstack("metric")
    chosen = {
        rule: set(winners.loc[winners["rule"] == rule, _KEYS].itertuples(index=False, name=None)) for rule in RULES
    }
    published, titles, rows = means(task), settings.datasets[task], []
    explored = measures.of_task(task, "explored")
    utilities = [each for each in explored if "utility" in each.roles]
    for (dataset, method, cell, part), row in wide.iterrows():
        if dataset not in titles or method not in settings.methods:
            continue
        shown = [each for each in explored if each.name in row["mean"] and not np.isnan(row["mean", each.name])]
        against = {
            each.name: round(each.unit.factor * row["mean", each.name], 3) for each in utilities if each in shown
        }
        against |= {f"{name}_text": row["text", name] for name in against}
        for measure in [each for each in shown if each not in utilities]:
            paper = {each: published.get((dataset, method, each.name)) for each in (utilities[0], measure)}
            rows.append(
                {"dataset": titles[dataset], "method": settings.methods[method], "cell": in_words(cell),
                 "part": part, "measure": _directed(measure),
                 "value": round(measure.unit.factor * row["mean", measure.name], 3),
                 "value_text": row["text", measure.name], **against, "splits": int(row["n_splits", measure.name]),
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
        files: of the kind `histories`; none where they are not at hand.
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


def verdicts(settings: ExplorerSettings, numbers: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each published number that was run, with the audit's verdict; `numbers` are the audit's."""
    titles = {name: title for datasets in settings.datasets.values() for name, title in datasets.items()}
    shown = numbers.dropna(subset=["mean"])
    shown = shown[shown["dataset"].isin(titles) & shown["method"].isin(settings.methods)]
    return pd.DataFrame(
        {"dataset": shown["dataset"].map(titles), "method": shown["method"].map(settings.methods),
         "measure": [str(labels.metric(name)) for name in shown["metric"]], "rule": shown["rule"],
         "published": shown["paper_mean"], "ours": shown["mean"].round(3), "verdict": shown["verdict"],
         "paper": [_text(m / 100, s / 100) for m, s in zip(shown["paper_mean"], shown["paper_std"], strict=True)],
         "reproduced": [_text(m / 100, s / 100) for m, s in zip(shown["mean"], shown["std"], strict=True)],
         "interval": [
             "–" if percent.missing(a) else f"{a:+.2f} to {b:+.2f}"
             for a, b in zip(shown["ci_low"], shown["ci_high"], strict=True)
         ],
         "p_holm": shown["p_holm"].round(4)}
    )  # fmt: skip


def page(settings: ExplorerSettings, files: Files) -> str:
    """Make explore.html.

    Args:
        settings: what is shown.
        files: of the kinds `cells`, `winners`, `histories` and `audit`.
    """
    cells, winners, views = read(*files["cells"]), read(*files["winners"]), {}
    for task in settings.datasets:
        shown = points(settings, task, cells, winners)
        if len(shown):
            views[TASKS[task].title] = _scatter(settings, task, shown, curves(task, cells, files))
    numbers = verdicts(settings, frames.read(*files["audit"]))
    if len(numbers):
        views["Published and reproduced"] = _verdicts(settings, numbers)
    with alt.data_transformers.disable_max_rows():
        specs = {f"view-{number}": chart.to_dict() for number, chart in enumerate(views.values())}
    environment = jinja2.Environment(loader=jinja2.PackageLoader("fairgat.report", ""), autoescape=True)
    return environment.get_template(TEMPLATE).render(
        views={f"view-{number}": title for number, title in enumerate(views)},
        specs=_in_script(json.dumps(specs)),
        scripts=_in_script(vl_convert.javascript_bundle()),
        curves=bool(files["histories"]),
    )


def _in_script(text: str) -> str:
    return text.replace("</script", "<\\/script")  # the same to JavaScript, and no end of a script to HTML


def _scatter(settings: ExplorerSettings, task: str, shown: pd.DataFrame, lines: pd.DataFrame) -> alt.Chart:
    datasets = [title for title in settings.datasets[task].values() if title in set(shown["dataset"])]
    methods = [title for title in settings.methods.values() if title in set(shown["method"])]
    utilities = [name for name in measures.names(task, "utility") if name in shown]
    heading = " or ".join(measures.find(name).label for name in utilities)
    data_set = _choice("dataset", "Data set ", datasets)
    measure = _choice("measure", "Measure ", list(dict.fromkeys(shown["measure"])))
    utility = _choice("utility", "Against ", utilities)
    part = _choice("part", "Scores of ", ["test", "validation"])
    rule = _choice("rule", "Ring: the cell chosen by the rule ", list(RULES), settings.rule)
    legend = alt.selection_point(
        name="methods", fields=["method"], bind="legend", toggle="true", value=[{"method": name} for name in methods]
    )
    first = shown.loc[shown["dataset"] == datasets[0]].sort_values(
        "method", key=lambda titles: titles.map(methods.index)
    )
    point = alt.selection_point(
        name="point", fields=["folder"], empty=False, on="click", value=[{"folder": first["folder"].iloc[0]}]
    )
    looks = style.looks({key: title for key, title in settings.methods.items() if title in methods})
    scale = alt.Scale(domain=methods, range=[look.colour for look in looks.values()])
    shapes = alt.Scale(domain=methods, range=[_shape(look.marker) for look in looks.values()])
    base = (
        alt.Chart(shown)
        .transform_filter("datum.dataset === dataset && datum.measure === measure && datum.part === part")
        .transform_filter(legend)
        .transform_calculate(y="datum[utility]", y_text="datum[utility + '_text']")
        .encode(
            x=alt.X("value:Q", title="the chosen measure").scale(zero=False, nice=True),
            y=alt.Y("y:Q", title=f"{heading} (%)").scale(zero=False, nice=True),
        )
    )
    dots = base.mark_point(filled=True, size=90, opacity=0.85, cursor="pointer").encode(
        color=alt.Color("method:N", title="Method (click: on and off)", scale=scale),
        shape=alt.Shape("method:N", title="Method (click: on and off)", scale=shapes),
        stroke=alt.condition(point, alt.value("black"), alt.value(None)),
        tooltip=[
            alt.Tooltip("method:N"), alt.Tooltip("cell:N"), alt.Tooltip("y_text:N", title=heading),
            alt.Tooltip("value_text:N", title="measure"), alt.Tooltip("splits:Q"),
            alt.Tooltip("paper:N", title=f"published ({utilities[0]}, measure)"), alt.Tooltip("folder:N"),
        ],
    )  # fmt: skip
    rings = base.transform_filter("datum['by_' + rule]").mark_point(
        size=260, strokeWidth=1.5, color="black", tooltip=False
    )
    # The legend listens for clicks only where the layer that it belongs to has the parameter.
    scatter = (rings + dots.add_params(legend, point)).add_params(data_set, measure, utility, part, rule)
    scatter = scatter.properties(width=600, height=360, title="Every cell of every method")
    if lines.empty:
        return _styled(scatter)
    scores = [name for name in lines if name not in ("folder", "epoch")]
    names = shown.drop_duplicates("folder").set_index("folder")
    lines = lines[lines["folder"].isin(names.index)].assign(
        method=lambda frame: frame["folder"].map(names["method"]), cell=lambda frame: frame["folder"].map(names["cell"])
    )
    drawn = (
        alt.Chart(lines)
        .transform_filter(point)
        .transform_flatten(["epoch", *scores])
        .transform_fold(scores, as_=["score", "value"])
        .mark_line(strokeWidth=1.5)
        .encode(
            x=alt.X("epoch:Q"),
            y=alt.Y("value:Q", title=None).scale(zero=False),
            color=alt.Color("method:N", scale=scale, legend=None),
            detail="cell:N",
            strokeDash=alt.StrokeDash("cell:N", title="Cell"),
            tooltip=["method:N", "cell:N", "epoch:Q", "value:Q"],
        )
        .properties(width=600, height=110)
        .facet(row=alt.Row("score:N", title=None, sort=scores))
        .resolve_scale(y="independent")
        .properties(title="Learning curves of the selected points")
    )
    return _styled(alt.vconcat(scatter, drawn).resolve_scale(color="independent", shape="independent"))


def _verdicts(settings: ExplorerSettings, numbers: pd.DataFrame) -> alt.Chart:
    rule = _choice("rule", "Cells chosen by the rule ", list(dict.fromkeys(numbers["rule"])), settings.rule)
    measure = _choice("measure", "Measure ", ["all", *dict.fromkeys(numbers["measure"])])
    words = [word for word in labels.VERDICTS if word in set(numbers["verdict"])]
    legend = alt.selection_point(
        name="verdicts", fields=["verdict"], bind="legend", toggle="true", value=[{"verdict": word} for word in words]
    )
    dots = (
        alt.Chart(numbers)
        .transform_filter("datum.rule === rule && (measure === 'all' || datum.measure === measure)")
        .transform_filter(legend)
        .mark_point(filled=True, size=80, opacity=0.85)
        .encode(
            x=alt.X("published:Q", title="published (%)").scale(zero=False),
            y=alt.Y("ours:Q", title="reproduced (%)").scale(zero=False),
            color=alt.Color("verdict:N", scale=alt.Scale(domain=words, range=[_COLOURS[word] for word in words])),
            shape=alt.Shape("verdict:N", scale=alt.Scale(domain=words, range=[_SHAPES[word] for word in words])),
            tooltip=["dataset:N", "method:N", "measure:N", "paper:N", "reproduced:N",
                     alt.Tooltip("interval:N", title="95 % of the difference"), "p_holm:Q", "verdict:N"],
        )
    )  # fmt: skip
    ends = pd.DataFrame({"both": [f(numbers[["published", "ours"]].to_numpy()) for f in (np.min, np.max)]})
    line = alt.Chart(ends).mark_line(color="#999999", strokeDash=[4, 4]).encode(x="both:Q", y="both:Q")
    chart = (line + dots.add_params(legend)).add_params(rule, measure)
    return _styled(chart.properties(width=600, height=420, title="On the dashed line both agree"))


def _shape(marker: str) -> str:
    """A marker of the figures as an SVG path between -1 and 1."""
    drawn = MarkerStyle(marker)
    lines = drawn.get_path().transformed(drawn.get_transform()).to_polygons(closed_only=False)
    return "".join("M" + "L".join(f"{2 * x:.2f},{-2 * y:.2f}" for x, y in line) + "Z" for line in lines)


def _choice(name: str, label: str, options: Sequence[str], value: str | None = None) -> alt.Parameter:
    return alt.param(name=name, value=value or options[0], bind=alt.binding_select(options=list(options), name=label))


def _styled(chart: Any) -> Any:
    return chart.configure(font="system-ui, sans-serif").configure_legend(orient="bottom", columns=3, symbolLimit=0)


def _text(mean: float, std: float, unit: Unit = PERCENT) -> str:
    return plain(percent.score(mean, std, unit))


def _directed(measure: Measure) -> str:
    """The label of a measure and which way is better."""
    return f"{labels.metric(measure.name)}{f', {measure.better} is better' if measure.better else ''}"
