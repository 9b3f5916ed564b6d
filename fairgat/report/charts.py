"""The explorer's views as Altair charts, whose controls are Vega-Lite's own parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.markers import MarkerStyle

from fairgat import measures
from fairgat.config import TASKS, Task
from fairgat.config.shown import FigureSettings
from fairgat.report import labels, style
from fairgat.scores.paired import REFERENCE
from fairgat.scores.selection import RULES

# Stand for the axes' titles, which follow the choice: Vega-Lite takes fixed ones only, and the page's script mends it.
MEASURE, UTILITY = "the chosen measure", "the chosen utility"
# Of the verdicts, the same on every page; the colours are Okabe and Ito's.
_COLOURS = dict(zip(labels.VERDICTS, ["#009e73", "#0072b2", "#d55e00", "#cccccc", "#999999"], strict=True))
_SHAPES = dict(zip(labels.VERDICTS, ["circle", "triangle-up", "triangle-down", "diamond", "cross"], strict=True))


def fits(shown: pd.DataFrame, utilities: Sequence[str], methods: Sequence[str], rule: str) -> dict[str, dict[str, Any]]:
    """Find the ends of the axes.

    Args:
        shown: as `points` gives them.
        utilities: columns of it.
        methods: titles of those whose chosen cells, with their deviations, are to fill the axes; all where none of them
            was run.
        rule: the selection rule that chooses cells.

    Returns:
        By "data set|part|measure or utility": the lower and upper end that fit these methods (`near`), and all cells
        (`all`). What is missing everywhere has none.
    """
    ends = {}
    for (dataset, part), mine in shown.groupby(["dataset", "part"]):
        columns = {name: (name, mine) for name in utilities}
        columns |= {name: ("value", rows) for name, rows in mine.groupby("measure")}
        for name, (column, rows) in columns.items():
            rows = rows.dropna(subset=column)
            near = rows[rows["method"].isin(methods) & rows[f"by_{rule}"]]
            if len(rows):
                fitted = _ends(near if len(near) else rows, column)
                ends[f"{dataset}|{part}|{name}"] = {"near": fitted, "all": _ends(rows, column)}
    return ends


def _ends(rows: pd.DataFrame, column: str) -> list[float]:
    half = rows[f"{column}_std"].fillna(0)
    low, high = (rows[column] - half).min(), (rows[column] + half).max()
    margin = 0.1 * (high - low) or 1.0
    return [round(low - margin, 3), round(high + margin, 3)]


def scatter(settings: FigureSettings, task: Task, shown: pd.DataFrame, lines: pd.DataFrame) -> alt.Chart:
    """Draw every cell of every method, and the learning curves of those that are tapped.

    Args:
        shown, lines: as `fairgat.report.explorer.points` and `curves` give them.
    """
    datasets = [title for title in settings.titles_of(task).values() if title in set(shown["dataset"])]
    methods = {name: title for name, title in settings.method_titles.items() if title in set(shown["method"])}
    utilities = [name for name in measures.names(task, "utility") if name in shown]
    compared = [methods[name] for name in (REFERENCE, labels.SUBJECT) if name in methods]
    both = len(compared) == 2
    ends = fits(shown, utilities, compared if both else [*methods.values()], settings.rule)
    extents = {"near": f"fitted to {' and '.join(compared) if both else 'the chosen cells'}", "all": "of all cells"}
    controls = [
        _choice("dataset", "Data set ", datasets),
        _choice("measure", "Measure ", list(dict.fromkeys(shown["measure"]))),
        _choice("utility", "Against ", {name: str(labels.metric(name)) for name in utilities}),
        _choice("part", "Scores on ", ["test", "validation"]),
        _choice("rule", "Large: the cell chosen by the rule ", list(RULES), settings.rule),
        _choice("extent", "Axes ", extents),
    ]
    # A data set may lack a measure that is chosen.
    found = "(ends[dataset + '|' + part + '|' + {axis}] || {{near: [0, 1], all: [0, 1]}})[extent]"
    ends_of = {f"{axis}_ends": found.format(axis=axis) for axis in ("measure", "utility")}
    legend = alt.selection_point(
        name="methods", fields=["method"], bind="legend", toggle="true",
        value=[{"method": title} for title in methods.values()],
    )  # fmt: skip
    # A tap adds or removes a cell, on whatever data set is shown.
    first = shown[(shown["dataset"] == datasets[0]) & shown[f"by_{settings.rule}"] & shown["method"].isin(compared)]
    first = (first if len(first) else shown.head(1)).drop_duplicates("method")
    point = alt.selection_point(
        name="cells", fields=["method", "cell"], empty=False, on="click", toggle="true",
        value=first[["method", "cell"]].to_dict("records"),
    )  # fmt: skip
    looks = style.looks(methods)
    scale = alt.Scale(domain=[*methods.values()], range=[look.colour for look in looks.values()])
    shapes = alt.Scale(domain=[*methods.values()], range=[_shape(look.marker) for look in looks.values()])
    signs = {
        "color": alt.Color("method:N", title="Method (tap: on and off)", scale=scale),
        "shape": alt.Shape("method:N", title="Method (tap: on and off)", scale=shapes),
    }

    def axis(name: str) -> alt.Scale:
        ends = (alt.expr(f"{name}_ends[{end}]") for end in (0, 1))
        return alt.Scale(zero=False, nice=False, domainMin=next(ends), domainMax=next(ends))

    base = (
        alt.Chart(shown)
        .transform_filter("datum.dataset === dataset && datum.measure === measure && datum.part === part")
        .transform_filter(legend)
        .transform_calculate(
            y="datum[utility]", y_text="datum[utility + '_text']",
            low="datum.value - datum.value_std", high="datum.value + datum.value_std",
            y_low="datum[utility] - datum[utility + '_std']", y_high="datum[utility] + datum[utility + '_std']",
        )
        .encode(
            x=alt.X("value:Q", title=MEASURE, scale=axis("measure"), axis=alt.Axis(tickCount=7)),
            y=alt.Y("y:Q", title=UTILITY, scale=axis("utility")),
            tooltip=[
                "method:N", "cell:N", alt.Tooltip("y_text:N", title="utility"),
                alt.Tooltip("value_text:N", title="measure"), "splits:Q",
                alt.Tooltip("paper:N", title="published (utility, measure)"), "folder:N",
            ],
        )
    )  # fmt: skip
    others = base.transform_filter("!datum['by_' + rule]").encode(
        stroke=alt.condition(point, alt.value("black"), alt.value(None)), **signs
    )
    others = others.mark_point(filled=True, size=60, opacity=0.5, cursor="pointer", clip=True)
    chosen = base.transform_filter("datum['by_' + rule]")
    across = chosen.mark_rule(clip=True).encode(x="low:Q", x2="high:Q", color=signs["color"])
    upright = chosen.mark_rule(clip=True).encode(y="y_low:Q", y2="y_high:Q", color=signs["color"])
    large = chosen.mark_point(filled=True, size=200, opacity=1, cursor="pointer", clip=True).encode(
        stroke=alt.condition(point, alt.value("black"), alt.value("white")), **signs
    )
    # The legend listens for taps only where the layer that it belongs to has the parameter.
    layers = alt.layer(others.add_params(legend, point), across, upright, large)
    cells = layers.add_params(
        *controls, alt.param(name="ends", value=ends), *(alt.param(name=n, expr=e) for n, e in ends_of.items())
    ).properties(width=600, height=360, title=alt.TitleParams(alt.expr("dataset + ', ' + part"), anchor="start"))
    about = f"{TASKS[task].title}: utility against a fairness measure of every cell, and learning curves"
    if lines.empty:
        return _styled(cells, about)
    names = shown.drop_duplicates("folder").set_index("folder")[["dataset", "method", "cell"]]
    below = _curves(lines.join(names, on="folder", how="inner"), point, scale, shapes)
    return _styled(alt.vconcat(cells, *below).resolve_scale(color="independent", shape="independent"), about)


def _curves(
    lines: pd.DataFrame, point: alt.Parameter, scale: alt.Scale, shapes: alt.Scale
) -> tuple[alt.LayerChart, alt.FacetChart]:
    """Name the tapped cells of the data set that is shown, and draw their learning curves, a panel for each score."""
    scores = [name for name in lines if name not in ("folder", "epoch", "dataset", "method", "cell")]
    color, shape = (
        encode("method:N", scale=of, legend=None) for encode, of in [(alt.Color, scale), (alt.Shape, shapes)]
    )
    dashes = alt.StrokeDash("cell:N", legend=None)
    listed = (
        alt.Chart(lines)
        .transform_filter("datum.dataset === dataset")
        .transform_filter(point)
        .transform_calculate(name="datum.dataset + ', ' + datum.method + '\\n' + datum.cell")
        .encode(y=alt.Y("name:N", axis=None), color=color)
    )
    key = alt.layer(
        listed.mark_rule(strokeWidth=1.5).encode(x=alt.value(0), x2=alt.value(40), strokeDash=dashes),
        listed.mark_point(filled=True, size=60, opacity=1).encode(x=alt.value(20), shape=shape),
        listed.mark_text(align="left", lineBreak="\n", dy=-6).encode(x=alt.value(48), text="name:N"),
    ).properties(
        width=600, height=alt.Step(34), view=alt.ViewConfig(stroke=None),
        title=alt.TitleParams("Learning curves on validation", anchor="start"),
    )  # fmt: skip
    curve = alt.Chart().encode(
        x=alt.X("epoch:Q", axis=alt.Axis(tickCount=7)),
        y=alt.Y("value:Q", title=None).scale(zero=False),
        color=color,
        tooltip=["dataset:N", "method:N", "cell:N", "epoch:Q", "value:Q"],
    )
    line = curve.mark_line(strokeWidth=1.5).encode(detail="cell:N", strokeDash=dashes)
    markers = curve.transform_filter("datum.place % 8 === 1").mark_point(filled=True, size=45, opacity=1)
    panels = (
        alt.layer(line, markers.encode(shape=shape), data=lines)
        .properties(width=600, height=110)
        .facet(row=alt.Row("score:N", title=None, sort=scores))
        .transform_filter("datum.dataset === dataset")
        .transform_filter(point)
        .transform_flatten(["epoch", *scores])
        .transform_fold(scores, as_=["score", "value"])
        .transform_window(place="row_number()", groupby=["folder", "score"])
        .resolve_scale(y="independent")
    )
    return key, panels


def verdicts(settings: FigureSettings, numbers: pd.DataFrame) -> alt.Chart:
    """Draw every published number against ours; `numbers` as `fairgat.report.explorer.verdicts` gives them."""
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
    about = "Every published number against its reproduction"
    return _styled(chart.properties(width=600, height=420, title="On the dashed line both agree"), about)


def _shape(marker: str) -> str:
    """A marker of the figures as an SVG path between -1 and 1."""
    drawn = MarkerStyle(marker)
    lines = drawn.get_path().transformed(drawn.get_transform()).to_polygons(closed_only=False)
    return "".join("M" + "L".join(f"{2 * x:.2f},{-2 * y:.2f}" for x, y in line) + "Z" for line in lines)


def _choice(
    name: str, label: str, options: Sequence[str] | Mapping[str, str], value: str | None = None
) -> alt.Parameter:
    """A list to choose from; a mapping gives the values' labels."""
    bound = alt.binding_select(
        options=list(options),
        labels=list(options.values()) if isinstance(options, Mapping) else list(options),
        name=label,
    )
    return alt.param(name=name, value=value or next(iter(options)), bind=bound)


def _styled(chart: Any, about: str) -> Any:
    """Set the chart's style, and the label that screen readers read."""
    legend = {"columns": alt.expr("windowSize()[0] < 700 ? 3 : 6"), "symbolLimit": 0, "symbolOpacity": 1}
    return (
        chart.properties(description=about)
        .configure(font="system-ui, sans-serif")
        .configure_legend(orient="bottom", labelFontSize=12, **legend)
        .configure_axis(labelFontSize=12, titleFontSize=12, labelOverlap=True)
    )
