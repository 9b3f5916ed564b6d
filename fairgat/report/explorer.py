"""explore.html: one figure to explore a run in, below what came of it; it is one file and needs no network."""

from pathlib import Path

import altair as alt
import jinja2
import pandas as pd
import vl_convert
from matplotlib.markers import MarkerStyle

from fairgat import frames, measures, paper
from fairgat.config import TASKS, Dataset, Task
from fairgat.plan import cell_folder
from fairgat.report import labels, percent, style
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, Settings
from fairgat.report.render import plain
from fairgat.report.tables.scores import BETTER, WORSE, compared, verdict
from fairgat.scores.runs import read, under

READS = ("cells", "winners", "runs", "audit")
TEMPLATE = (
    "templates/explore.html.j2"  # in full, so that the rule sees it, as in render.py
)
CELL, SELECTED, PUBLISHED = KINDS = ("a cell", "the selected cell", "published")
_PLACE = ["dataset", "method", "cell", "part"]


def page(settings: Settings, files: Files) -> str:
    """Make explore.html; `files` are of the kinds in `READS`."""
    shown = pd.concat([points(settings, task, files) for task in TASKS])
    with alt.data_transformers.disable_max_rows():
        spec = figure(settings, shown).to_json(indent=None) if len(shown) else ""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairgat.report", ""), autoescape=True
    )
    return environment.get_template(TEMPLATE).render(
        heading=settings.config.heading,
        note=settings.config.note,
        verdicts=verdicts(settings, files),
        spec=_in_script(spec),
        scripts=_in_script(vl_convert.javascript_bundle()),
    )


def _in_script(text: str) -> str:
    return text.replace(
        "</script", "<\\/script"
    )  # the same to JavaScript, and no end of a script to HTML


def verdicts(settings: Settings, files: Files) -> list[str]:
    """Say in a sentence each what came of the paper's numbers, and of FairGAT against GAT on each data set."""
    scores = compared(settings, files)
    mine = scores[scores["method"] == labels.SUBJECT].groupby("dataset", sort=False)
    said = [_of_published(path, settings.rule) for path in files["audit"]]
    said += [_of_fairgat(settings.config.datasets[name], lines) for name, lines in mine]
    return list(filter(None, said))


def _of_published(path: str | Path, rule: str) -> str:
    """Count the audit's verdicts; empty where none of the paper's numbers has a counterpart."""
    numbers = frames.read(path, columns=("rule", "verdict"))
    counts = numbers.loc[numbers["rule"] == rule, "verdict"].value_counts()
    words = ", ".join(
        f"{counts[word]} {word}" for word in labels.VERDICTS if word in counts
    )
    return (
        f"The paper's {counts.sum()} numbers beside ours: {words}."
        if set(counts.index) - {labels.NOT_RUN}
        else ""
    )


def _of_fairgat(dataset: Dataset, lines: pd.DataFrame) -> str:
    """Say in which measures the paired interval shows FairGAT to be better than GAT, and worse."""
    shown = [measures.find(name) for name in measures.names(dataset.task, "shown")]
    ends = {line.metric: (line.low, line.high) for line in lines.itertuples()}
    signs = {
        each.label: verdict(*ends[each.name], each)
        for each in shown
        if each.name in ends
    }
    better, worse = (
        ", ".join(label for label, sign in signs.items() if sign == which) or "nothing"
        for which in (BETTER, WORSE)
    )
    splits = lines["n_splits"].max()
    shares = f"of {len(signs)} measures on {splits} splits"
    return (
        f"{dataset.title}: FairGAT is better in {better}, worse in {worse}, {shares}."
    )


def points(settings: Settings, task: Task, files: Files) -> pd.DataFrame:
    """Make a row for each cell, part and explored measure, and for each published number: its mean and the utility's.

    Columns: titles, `value` and `utility` in the measures' units with `_low`, `_high` and `_text`, and `kind`.
    """
    utility = measures.find(measures.utility(task))
    explored = {
        each.name: each
        for each in measures.of_task(task, "explored")
        if "utility" not in each.roles
    }
    cells = under(read(*files["cells"]), *settings.protocols)[
        [*_PLACE, "metric", "mean", "std", "n_splits"]
    ]
    winners = read(*files["winners"])
    chosen = winners.loc[
        winners["rule"] == settings.rule, ["dataset", "method", "cell"]
    ].drop_duplicates()
    cells = cells.merge(chosen.assign(kind=SELECTED), how="left").fillna({"kind": CELL})
    if settings.config.compares_with_paper:
        printed = paper.means(task).rename(
            columns={"paper_mean": "mean", "paper_std": "std"}
        )
        cells = pd.concat(
            [cells, printed.assign(cell=PUBLISHED, part="test", kind=PUBLISHED)]
        )
    titles = {
        name: each.title
        for name, each in settings.config.datasets.items()
        if each.task == task
    }
    cells = cells[
        cells["dataset"].isin(titles) & cells["method"].isin(settings.rows)
    ].dropna(subset="mean")
    against = cells[cells["metric"] == utility.name].drop(
        columns=["metric", "n_splits", "kind"]
    )
    shown = cells[cells["metric"].isin(explored)].merge(
        against, on=_PLACE, suffixes=("", "_utility")
    )
    made = [
        {
            "dataset": titles[line.dataset],
            "method": settings.method_titles[line.method],
            "part": line.part,
            "cell": in_words(line.cell) if line.kind != PUBLISHED else PUBLISHED,
            "kind": line.kind,
            "measure": f"{labels.metric(line.metric)}, {explored[line.metric].better} is better",
            **_numbers("value", line.mean, line.std, explored[line.metric].unit),
            **_numbers("utility", line.mean_utility, line.std_utility, utility.unit),
            "splits": line.n_splits,
            "folder": cell_folder(task, line.dataset, line.method, line.cell)
            if line.kind != PUBLISHED
            else "",
        }
        for line in shown.itertuples()
    ]
    return pd.DataFrame(made)


def _numbers(
    name: str, mean: float, std: float, unit: measures.Unit
) -> dict[str, float | str]:
    """A mean, the ends of a deviation to each side, and both as text, as columns."""
    half = 0 if pd.isna(std) else std
    ends = {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}
    numbers = {key: round(unit.factor * value, 3) for key, value in ends.items()}
    return {**numbers, f"{name}_text": plain(percent.score(mean, std, unit))}


def figure(settings: Settings, shown: pd.DataFrame) -> alt.FacetChart:
    """Draw the utility against each other measure on one data set, to be chosen; axes fit to what is switched on."""
    looks = [
        look
        for look in style.looks(settings.method_titles).values()
        if look.title in set(shown["method"])
    ]
    titles = [look.title for look in looks]
    datasets = list(dict.fromkeys(shown["dataset"]))
    dataset, part = (
        _choice("dataset", "Data set ", datasets),
        _choice("part", "Scores on ", ["test", "validation"]),
    )
    methods = alt.selection_point(
        name="methods",
        fields=["method"],
        bind="legend",
        toggle="true",
        value=[{"method": title} for title in titles],
    )

    def of_method(channel: type, values: list[str]) -> alt.Color | alt.Shape:
        return channel("method:N", title="Method (tap: on and off)").scale(
            domain=titles, range=values
        )

    base = alt.Chart().encode(
        x=alt.X("value:Q", title=None).scale(zero=False),
        y=alt.Y(
            "utility:Q",
            title=str(labels.metric(measures.utility("node_classification"))),
        ).scale(zero=False),
        color=of_method(alt.Color, [look.colour for look in looks]),
    )
    marks = base.mark_point(filled=True, cursor="pointer").encode(
        shape=of_method(alt.Shape, [_shape(look.marker) for look in looks]),
        size=alt.Size("kind:N", title="Of them").scale(
            domain=KINDS, range=[40, 160, 110]
        ),
        opacity=alt.Opacity("kind:N", title="Of them").scale(
            domain=KINDS, range=[0.45, 1, 0.6]
        ),
        stroke=alt.condition(
            f"datum.kind === '{PUBLISHED}'", alt.value("red"), alt.value(None)
        ),
        tooltip=[
            "method:N",
            "cell:N",
            alt.Tooltip("utility_text:N", title="utility"),
            alt.Tooltip("value_text:N", title="measure"),
            "splits:Q",
            "folder:N",
        ],
    )
    ends = base.transform_filter(f"datum.kind === '{SELECTED}'")
    across = ends.mark_rule().encode(
        x=alt.X("value_low:Q", title=None), x2="value_high:Q"
    )
    upright = ends.mark_rule().encode(y="utility_low:Q", y2="utility_high:Q")
    return (
        alt.layer(across, upright, marks.add_params(methods), data=shown)
        .properties(width=330, height=260)
        .facet(
            facet=alt.Facet(
                "measure:N", title=None, sort=list(dict.fromkeys(shown["measure"]))
            ),
            columns=2,
        )
        .transform_filter("datum.dataset === dataset && datum.part === part")
        .transform_filter(methods)
        .resolve_scale(x="independent")
        .add_params(dataset, part)
        .properties(description="Utility against each fairness measure of every cell")
        .configure(font="system-ui, sans-serif")
        .configure_legend(orient="bottom", columns=4, symbolLimit=0, labelFontSize=12)
    )


def _choice(name: str, label: str, options: list[str]) -> alt.Parameter:
    """A list to choose from."""
    return alt.param(
        name=name,
        value=options[0],
        bind=alt.binding_select(options=options, name=label),
    )


def _shape(marker: str) -> str:
    """A marker of the figures as an SVG path between -1 and 1."""
    drawn = MarkerStyle(marker)
    lines = (
        drawn.get_path()
        .transformed(drawn.get_transform())
        .to_polygons(closed_only=False)
    )
    return "".join(
        "M" + "L".join(f"{2 * x:.2f},{-2 * y:.2f}" for x, y in line) + "Z"
        for line in lines
    )
