import numpy as np
import pandas as pd
import pytest
from reporting_fixtures import LINK, NODE, metrics, scores, write

from fairgat.config import load
from fairgat.reporting import figures, style
from fairgat.reporting import settings as reporting_settings
from fairgat.scores import runs as records
from fairgat.scores import selection
from fairgat.scores.runs import FAIRNESS


@pytest.fixture(scope="module")
def config():
    """Names with a dollar sign, which matplotlib would take for a formula."""
    both = {"tasks": [NODE, LINK]}
    return load(
        {
            "datasets": {
                "recidivism": {"task": NODE, "title": "Recidi$vi$m_{"},
                "cora": {"task": LINK},
                "pubmed": {"task": LINK, "enabled": False, "reason": "no files"},
            },
            "methods": {"gat": both, "fairgat": both | {"grid": {"eta": [0.75, 1.0]}}},
            "tables": {"ablation": ["gat", "fairgat"], "runtime": ["gat"], "link_prediction": ["gat", "fairgat"]},
        }
    )


@pytest.fixture(scope="module")
def sources(config, tmp_path_factory):
    """Every kind of file that a figure is drawn from; fairgat's first cell failed on Cora."""
    folder = tmp_path_factory.mktemp("results")
    found = {}
    for task, dataset in [(NODE, "recidivism"), (LINK, "cora")]:
        contents = []
        for method in config.methods:
            for number, cell in enumerate(config.cells(method, dataset)):
                failure = "diverged" if (dataset, method, number) == ("cora", "fairgat", 0) else None
                score = scores(task, 0.9 - 0.01 * number, 0.1 - 0.02 * number)
                contents += [
                    metrics(dataset, method, cell, k, score, task=task, failure=failure if k else None)
                    for k in range(2)
                ]
        paths = write(folder, contents)
        for path in paths:
            lines = [f"{epoch},0.5,{0.1 * epoch},{0.01 * epoch}" for epoch in range(1, 5)]
            header = f"epoch,loss,validation_accuracy,validation_{FAIRNESS[task][0]}"
            (path.parent / "history.csv").write_text("\n".join([header, *lines]) + "\n")
        chosen = {
            (dataset, method): selection.select(
                [record for record in records.read_all(paths) if record.method == method], "fair", 0.02, None
            )
            for method in config.methods
        }
        found[task] = {
            "metrics": paths,
            "selections": chosen,
            "histories": [path.parent / "history.csv" for path in paths],
            "summary": pd.DataFrame(
                [(dataset, m, k, 0.9, 0.01) for m in config.methods for k in ("accuracy", *FAIRNESS[task])],
                columns=["dataset", "method", "metric", "mean", "std"],
            ),
        }
    return found


def everything(config, sources, name):
    chosen = reporting_settings.figure_settings(config, name)
    data = sources.get(chosen["task"])
    if chosen["kind"] == "tradeoff":
        return figures.tradeoff(chosen, data["metrics"], data["selections"])
    if chosen["kind"] == "curves":
        return figures.curves(chosen, data["selections"], data["histories"])
    if chosen["kind"] == "runtime":
        return figures.runtime(chosen, {"recidivism": {"epoch_seconds": {"gat": [0.1, 0.2, 0.4]}}})
    if chosen["kind"] == "published":
        rows = [("fair", t, "recidivism", "gat", m, 95.0, 0.2, 96.0, 0.3) for t in ("comparison", "link_prediction")
                for m in ("accuracy", "dp_mixed")]  # fmt: skip
        columns = ["rule", "table", "dataset", "method", "metric", "paper_mean", "paper_std", "mean", "std"]
        return figures.published(chosen, pd.DataFrame(rows, columns=columns))
    return figures.scores(chosen, data["summary"], name)


@pytest.mark.parametrize("name", reporting_settings.FIGURES)
def test_every_figure_is_drawn(config, sources, tmp_path, name):
    style.save(everything(config, sources, name), {"svg": tmp_path / "figure.svg"})
    assert "</svg>" in (tmp_path / "figure.svg").read_text()


def test_equal_figures_are_equal_files(config, sources, tmp_path):
    for run in "ab":
        figure = everything(config, sources, "runtime")
        style.save(figure, {form: tmp_path / f"{run}.{form}" for form in style.FORMATS})
    for form in style.FORMATS:
        assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


def test_pareto():
    cost, gain = np.array([3.0, 1.0, 2.0, 2.0, 4.0]), np.array([9.0, 5.0, 7.0, 8.0, 9.0])
    assert figures.pareto(cost, gain).tolist() == [1, 3, 0]  # (2, 7) and (4, 9) are beaten
    assert figures.pareto(np.array([]), np.array([])).tolist() == []


def test_tradeoff_shows_every_cell_that_finished(config, sources):
    figure = everything(config, sources, "tradeoff_link_prediction")
    ax = figure.axes[0]
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert sum(len(line.get_xdata()) for line in hollow) == 2  # gat's one cell and fairgat's second
    node = everything(config, sources, "tradeoff_node_classification").axes[0]
    points = [
        tuple(p) for line in node.lines if line.get_markerfacecolor() == "none" for p in line.get_xydata().round(6)
    ]
    assert sorted(points) == [(8, 89), (10, 90), (10, 90)]  # percent; gat's one, fairgat's two


def test_curves_are_of_the_selected_cell(config, sources):
    ax = everything(config, sources, "curves_node_classification").axes[0]
    assert [line.get_ydata().round(6).tolist() for line in ax.lines] == [[10, 20, 30, 40]] * 2


def test_long_curves_are_drawn_a_few_epochs_at_a_time(config, sources, monkeypatch):
    monkeypatch.setattr(figures, "_POINTS", 2)
    ax = everything(config, sources, "curves_node_classification").axes[0]
    assert ax.lines[0].get_xdata().tolist() == [1.5, 3.5]
    assert ax.lines[0].get_ydata().tolist() == pytest.approx([15, 35])


def test_runtime_marks_the_median(config, sources):
    ax = everything(config, sources, "runtime").axes[0]
    assert ax.lines[1].get_xdata().tolist() == pytest.approx([0.2])


def test_figures_of_a_task_without_data_are_left_out(config):
    subset = config.model_copy(update={"only_datasets": ["cora"]})
    assert reporting_settings.figures(subset) == [
        "tradeoff_link_prediction",
        "curves_link_prediction",
        "link_prediction",
        "published",
    ]


def test_the_figure_of_an_empty_table_is_left_out(config):
    tables = config.tables | {"ablation": []}
    emptied = reporting_settings.figures(config.model_copy(update={"tables": tables}))
    assert emptied == [name for name in reporting_settings.figures(config) if name != "ablation"]


def test_methods_that_share_a_colour_differ_in_their_lines():
    names = ("gat", "fairgat", "fairgnn", "edits", "nifty", "fairgat-steps-12", "fairgat-steps-13", "fairgat-steps-23")
    looks = style.looks([{"name": name, "title": name} for name in names]).values()
    assert len({(look.colour, look.line) for look in looks}) == len(names)


def test_known_methods_keep_their_colour():
    alone = style.looks([{"name": "fairgat", "title": "FairGAT"}])
    among = style.looks([{"name": n, "title": n} for n in ("mine", "gat", "fairgat", "yours")])
    assert alone["fairgat"].colour == among["fairgat"].colour
    assert len({(look.colour, look.marker) for look in among.values()}) == 4
