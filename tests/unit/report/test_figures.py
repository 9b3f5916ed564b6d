"""Figures: each is drawn from the files of a finished run."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairgat import frames, measures
from fairgat.config import Look, merge, read_file, read_yaml, shown
from fairgat.errors import DataError
from fairgat.report import style
from fairgat.report.figures import account, curves, differences, tradeoff

GOLDEN = Path(__file__).parent / "golden/figures.txt"


@pytest.fixture(scope="module")
def draw(audited):
    """Draw a figure, as its rule does."""

    def drawn(name):
        page = audited.figure(name)
        module = import_module(f"fairgat.report.figures.{page.module}")
        settings = shown.figure_settings(audited.config, name, page.task)
        return module.draw(settings, audited.sources(page))

    return drawn


def contents(figure):
    """The size of a figure; of each panel titles, limits and what is drawn in it."""
    lines = [f"  inches: {numbers(figure.get_size_inches())}"]
    for ax in figure.axes:
        title = ax.get_title().replace("\n", " ")
        titles = [ax.get_title("left"), title, ax.get_xlabel(), ax.get_ylabel()]
        lines.append(f"  panel: {'; '.join(filter(None, titles))}")
        lines.append(f"    from {numbers(ax.get_xlim())} and {numbers(ax.get_ylim())}")
        for line in ax.lines:
            hollow = " hollow" if is_hollow(line) else ""
            points = numbers(line.get_xydata())
            lines.append(f"    {line.get_marker()}{hollow} {points}")
        for collection in ax.collections:
            if hasattr(collection, "get_segments"):
                for segment in collection.get_segments():
                    lines.append(f"    line {numbers(segment)}")
        for bar in ax.patches:
            corners = bar.get_bbox().get_points()
            lines.append(f"    bar {numbers(corners)}")
        for text in ax.texts:
            lines.append(f"    {text.get_text()}")
    return lines


def numbers(values):
    return " ".join(f"{value:.4g}" for value in np.ravel(values))


def is_hollow(line):
    return line.get_fillstyle() == "none" or line.get_markerfacecolor() == "none"


def hollow_points(ax):
    """The points of a panel that are drawn hollow, one for each cell."""
    points = []
    for line in ax.lines:
        if is_hollow(line):
            rounded = line.get_xydata().round(6)
            points += map(tuple, rounded)
    return points


def test_every_figure_shows_what_it_did(plan, draw, tmp_path):
    """Where a change is meant, golden/figures.txt shows it to who reads the commit."""
    lines = []
    for name in plan.config.figures:
        lines += [name, *contents(draw(name))]

    now = tmp_path / "figures.txt"
    now.write_text("\n".join(lines) + "\n", encoding="utf-8")
    golden = GOLDEN.read_text(encoding="utf-8")
    assert lines == golden.splitlines(), f"{now} has what is drawn now"


@pytest.mark.parametrize("form", style.FORMATS)
def test_a_figure_drawn_twice_has_the_same_bytes(draw, tmp_path, form):
    first, second = tmp_path / "a", tmp_path / "b"

    style.save(draw("runtime"), {form: first})
    style.save(draw("runtime"), {form: second})

    assert first.read_bytes() == second.read_bytes()


# --------------------------------------------------------------------------- trade-offs


def test_the_pareto_front_has_no_point_that_another_beats():
    cost = np.array([3.0, 1.0, 2.0, 2.0, 4.0])
    gain = np.array([9.0, 5.0, 7.0, 8.0, 9.0])

    front = tradeoff.pareto(cost, gain)

    assert front.tolist() == [1, 3, 0]  # (2, 7) and (4, 9) are beaten


def test_what_is_missing_is_on_no_pareto_front():
    cost = np.array([0.0, 1.0, np.nan])
    gain = np.array([np.nan, 5.0, 9.0])

    assert tradeoff.pareto(cost, gain).tolist() == [1]


def test_the_pareto_front_of_nothing_is_empty():
    nothing = np.array([])
    assert tradeoff.pareto(nothing, nothing).tolist() == []


def test_a_trade_off_shows_every_cell_that_finished(draw):
    links = draw("tradeoff_link_prediction").axes[0]
    nodes = draw("tradeoff_node_classification").axes[0]

    of_gat, of_fairgat = 1, 3  # the fourth of FairGAT's cells failed on a split
    assert len(hollow_points(links)) == of_gat + of_fairgat

    fairgat = [(4, 92.73), (6, 93.73), (8, 94.73), (10, 95.73)]  # percent
    gat = ablation = (10, 95.73)
    edits = (6, 93.73)  # the third of its cells
    expected = sorted([*fairgat, gat, ablation, edits])
    assert sorted(hollow_points(nodes)) == expected


CELLS = pd.DataFrame(
    {
        "dataset": "recidivism",
        "method": "fairgat",
        "cell": ["eta~0.5", "eta~1.0"],
        "accuracy": [0.8, 0.9],
        "statistical_parity": [0.1, 0.2],
        "own": [0.3, 0.4],
        "selected": [True, False],
    }
)


@pytest.mark.parametrize(
    ("better", "title", "label", "fronts"),
    [
        ("lower", "up and to the left is better", "own", 2),
        ("higher", "up is better", "own, right: better", 2),
        (None, "up is better", "own", 1),
    ],
)
def test_a_trade_off_says_which_way_is_better_in_each_panel(
    draw, monkeypatch, better, title, label, fronts
):
    """Of a measure that is neither good nor bad, no cell is the best."""
    accuracy = measures.find("accuracy")
    gap = measures.find("statistical_parity")
    own = replace(accuracy, name="own", label="own", tex="own", better=better)
    known = (accuracy, replace(own, roles=("shown",)), gap)
    monkeypatch.setattr(tradeoff.measures, "of_task", lambda *asked: known)
    monkeypatch.setattr(tradeoff, "_cells", lambda settings, files: CELLS)
    monkeypatch.setattr(style, "label", lambda name: name)

    figure = draw("tradeoff_node_classification")

    of_own, of_gap = figure.axes[:2]
    assert of_own.get_xlabel() == label
    assert figure.legends[0].get_title().get_text().endswith(title)
    drawn = [line for ax in (of_own, of_gap) for line in ax.lines]
    assert sum(line.get_drawstyle() == "steps-post" for line in drawn) == fronts


# ------------------------------------------------------------------------------- curves


def test_long_curves_are_drawn_a_few_epochs_at_a_time(draw, monkeypatch):
    monkeypatch.setattr(curves, "POINTS", 2)

    curve = draw("curves_link_prediction").axes[0].lines[0]

    assert curve.get_xdata().tolist() == [1.5, 3.5]
    assert curve.get_ydata().tolist() == pytest.approx([15, 35])


@pytest.fixture
def cut_off(plan):
    """GAT's second history.csv without its last epoch, for one test."""
    folder = plan.path("runs/node_classification/recidivism/gat/default/split-1")
    path = Path(folder) / "history.csv"
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    yield
    path.write_text(whole)


def test_a_learning_curve_that_was_cut_off_is_not_drawn(draw, cut_off):
    with pytest.raises(DataError, match=r"gat on recidivism have \[4, 3.*\] epochs"):
        draw("curves_node_classification")


# ------------------------------------------------------------------------------ account


def test_an_account_is_of_the_logits_and_empty_for_rows_that_a_group_lacks(
    audited, tmp_path
):
    lines = frames.read(*audited.files("account"))
    no_group_has_label_1 = lines["over"] == "label 1"
    lines.loc[no_group_has_label_1, ["gap", *account.PARTS]] = np.nan
    other_layer = lines["layer"] != "logit"
    lines["spread"] = lines["spread"].mask(other_layer, 0.1)
    changed = tmp_path / "account.csv"
    frames.write(changed, lines)
    settings = shown.figure_settings(audited.config, "account", account.TASK)
    sources = audited.sources(audited.figure("account"))

    figure = account.draw(settings, sources | {"account": [changed]})

    everyone, positive = figure.axes[::2]
    gat = everyone.texts[0].get_text()
    assert gat.strip() == "−0.50"  # its gap, -1, in spreads of 2
    assert not positive.patches


def test_the_account_of_more_groups_names_the_one_that_is_drawn(audited, tmp_path):
    lines = frames.read(*audited.files("account"))
    others = [lines.assign(group=group, gap=2.0 * group) for group in (0, 2)]
    changed = tmp_path / "account.csv"
    frames.write(changed, pd.concat([lines, *others]))
    settings = shown.figure_settings(audited.config, "account", account.TASK)
    sources = audited.sources(audited.figure("account"))

    figure = account.draw(settings, sources | {"account": [changed]})

    assert figure.axes[0].get_title("right") == "group 2"  # whose gap in GAT is 4
    assert "less that of all others" in figure.get_suptitle()


def test_logits_that_are_all_equal_have_no_gap(audited, tmp_path):
    """As of a network that has collapsed, whose gap is left to rounding."""
    lines = frames.read(*audited.files("account"))
    of_gat = (lines["layer"] == "logit") & (lines["method"] == "gat")
    collapsed = of_gat & (lines["split"] == lines["split"].min())
    lines.loc[collapsed, ["gap", *account.PARTS]] = 4e-18
    lines.loc[collapsed, "spread"] = 0.0
    changed = tmp_path / "account.csv"
    frames.write(changed, lines)
    settings = shown.figure_settings(audited.config, "account", account.TASK)
    sources = audited.sources(audited.figure("account"))

    figure = account.draw(settings, sources | {"account": [changed]})

    gat = figure.axes[0].texts[0].get_text()
    n_splits = lines["split"].nunique()
    expected = -0.5 * (n_splits - 1) / n_splits  # -1 in spreads of 2 on the others
    assert gat.strip() == f"{expected:.2f}".replace("-", "−")


# ------------------------------------------------------------------ nothing to be drawn


def without_rows(path, folder):
    """A copy of a CSV file without its rows."""
    header, *_ = Path(path).read_text().splitlines(keepends=True)
    empty = folder / Path(path).name
    empty.write_text(header)
    return empty


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("theory", "theory"),
        ("account", "account"),
        ("tradeoff_node_classification", "cells"),
    ],
)
def test_a_figure_is_drawn_where_nothing_could_be_measured(
    audited, tmp_path, name, kind
):
    page = audited.figure(name)
    module = import_module(f"fairgat.report.figures.{page.module}")
    settings = shown.figure_settings(audited.config, name, page.task)
    sources = audited.sources(page)
    empty = [without_rows(path, tmp_path) for path in sources[kind]]

    figure = module.draw(settings, sources | {kind: empty})

    lines = [line for ax in figure.axes for line in ax.lines]
    assert {line.get_marker() for line in lines} <= {"None"}  # at most lines at 0


def test_the_figure_of_differences_says_that_it_lacks_gat(audited):
    name = "differences_node_classification"
    page = audited.figure(name)
    module = import_module(f"fairgat.report.figures.{page.module}")
    settings = shown.figure_settings(audited.config, name, page.task)
    without_gat = [each for each in settings.methods if each.name != "gat"]
    sources = audited.sources(page)
    selections = [path for path in sources["selection"] if "/gat/" not in path]

    figure = module.draw(
        settings.model_copy(update={"methods": without_gat}),
        sources | {"selection": selections},
    )

    (legend,) = figure.legends
    assert legend.get_title().get_text().startswith("No difference to GAT")


def test_the_figure_of_differences_says_how_many_splits_data_sets_have(
    audited, monkeypatch
):
    """One of them may have too few to decide anything."""
    name = "differences_node_classification"
    page = audited.figure(name)
    settings = shown.figure_settings(audited.config, name, page.task)
    one_data_set = differences.rows.table

    def two_data_sets(*arguments):
        frame = one_data_set(*arguments)
        splits = frame[["pairs", "n_splits"]].where(frame["pairs"].isna(), 20)
        other = frame.assign(dataset="other", **splits)
        return pd.concat([frame, other])

    monkeypatch.setattr(differences.rows, "table", two_data_sets)

    figure = differences.draw(settings, audited.sources(page))

    (legend,) = figure.legends
    title = legend.get_title().get_text()
    assert "on the same 3 to 20 splits" in title
    assert title.endswith("fewer than 5 decide nothing")


# -------------------------------------------------------------------------------- style


@pytest.mark.parametrize(
    ("metric", "label"),
    [
        ("ndkl_10", "NDKL, first 10 %"),
        ("statistical_parity_a^b_%", r"$\Delta_{S P}$ by a^b_% ($\%$)"),
        ("accuracy", r"Accuracy ($\%$)"),
    ],
)
def test_an_axis_is_labelled_as_matplotlib_reads_it(metric, label):
    assert style.label(metric) == label


def test_a_colour_is_one_however_it_is_spelt():
    chosen = {
        "a": Look(colour="#0072B2", marker="o"),
        "b": Look(colour="#0072b2", marker="s"),
    }
    looks = style.looks({"a": "A", "b": "B"}, chosen)
    assert looks["a"].colour.lower() != looks["b"].colour.lower()


CROWD = [[95.0], [95.1], [95.2], [95.3], [94.9]]


def test_a_crowd_is_what_others_leave_no_room():
    points = np.array([*CROWD, [70.0]])
    assert style.crowd(points).tolist() == [True] * 5 + [False]


@pytest.mark.parametrize(
    "points",
    [CROWD, [[1.0]] * 4, np.empty((0, 1)), [*CROWD, [96.0]]],
    ids=["none apart", "all alike", "none", "one a little apart"],
)
def test_without_a_crowd_no_closer_look_is_needed(points):
    assert style.crowd(np.array(points)) is None


def test_methods_keep_their_looks_and_no_two_share_a_colour():
    blue = Look(colour="#0072B2", marker="o")
    names = ["a", "b", *(f"yours-{n}" for n in range(20))]
    titles = {name: name for name in names}

    looks = style.looks(titles, {"a": blue, "b": blue, "yours-3": None})

    assert (looks["a"].colour, looks["a"].marker) == ("#0072B2", "o")
    colours = {look.colour for look in looks.values()}
    assert len(colours) == len(names)
    assert list(looks) == names


def test_the_methods_of_the_house_have_looks_of_their_own():
    content = read_file("config.yaml")
    merge(content, read_yaml("configs/more-methods.yaml"))

    colours = [entry["look"]["colour"] for entry in content["methods"].values()]

    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize("count", [0, 2, 7])
def test_a_legend_is_no_wider_than_its_figure(count):
    figure, _ = style.plt.subplots(figsize=(style.WIDTH, 4), layout="constrained")
    titles = {f"method-{n}": f"Method {n} with a long title" for n in range(count)}

    style.legend(figure, style.looks(titles, {}).values())
    figure.draw_without_rendering()

    assert len(figure.legends) == (1 if count else 0)
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    style.plt.close(figure)
