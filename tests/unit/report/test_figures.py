"""Figures: each is drawn from the files of a finished run."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from fairgat import frames
from fairgat.config import Look, merge, read_file, read_yaml, shown
from fairgat.errors import DataError
from fairgat.report import style
from fairgat.report.figures import account, curves, tradeoff

GOLDEN = Path(__file__).parent / "golden/figures.txt"


@pytest.fixture(scope="module")
def draw(audited):
    """Draw a figure, as its rule does."""

    def drawn(name):
        page = audited.figure(name)
        module = import_module(f"fairgat.report.figures.{page.module}")
        return module.draw(
            shown.figure_settings(audited.config, name, page.task),
            audited.sources(page),
        )

    return drawn


def contents(figure):
    """The titles and labels of each panel, and what is drawn in it: points, deviations, bars and words."""

    def numbers(values):
        return " ".join(f"{value:.4g}" for value in np.ravel(values))

    for ax in figure.axes:
        titles = [
            ax.get_title("left"),
            ax.get_title().replace("\n", " "),
            ax.get_xlabel(),
            ax.get_ylabel(),
        ]
        yield f"  panel: {'; '.join(filter(None, titles))}"
        yield from (
            f"    {line.get_marker()} {numbers(line.get_xydata())}" for line in ax.lines
        )
        for each in ax.collections:
            yield from (
                f"    line {numbers(segment)}"
                for segment in getattr(each, "get_segments", list)()
            )
        yield from (
            f"    bar {numbers(bar.get_bbox().get_points())}" for bar in ax.patches
        )
        yield from (f"    {text.get_text()}" for text in ax.texts)


def test_every_figure_shows_what_it_did(plan, draw, tmp_path):
    """Every point and word; where a change is meant, golden/figures.txt shows it to who reads the commit."""
    lines = [
        line for name in plan.config.figures for line in (name, *contents(draw(name)))
    ]
    now = tmp_path / "figures.txt"
    now.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == GOLDEN.read_text(encoding="utf-8").splitlines(), (
        f"{now} has what is drawn now"
    )


def test_a_figure_has_the_same_bytes_in_every_format(draw, tmp_path):
    for run in "ab":
        style.save(
            draw("runtime"),
            {form: tmp_path / f"{run}.{form}" for form in style.FORMATS},
        )
    for form in style.FORMATS:
        assert (tmp_path / f"a.{form}").read_bytes() == (
            tmp_path / f"b.{form}"
        ).read_bytes()


def test_pareto():
    cost, gain = (
        np.array([3.0, 1.0, 2.0, 2.0, 4.0]),
        np.array([9.0, 5.0, 7.0, 8.0, 9.0]),
    )
    assert tradeoff.pareto(cost, gain).tolist() == [
        1,
        3,
        0,
    ]  # (2, 7) and (4, 9) are beaten
    assert tradeoff.pareto(np.array([]), np.array([])).tolist() == []


def hollow(ax):
    return [
        tuple(p)
        for line in ax.lines
        if line.get_markerfacecolor() == "none"
        for p in line.get_xydata().round(6)
    ]


def test_tradeoff_shows_every_cell_that_finished(draw):
    assert (
        len(hollow(draw("tradeoff_link_prediction").axes[0])) == 1 + 3
    )  # GAT's one cell, three of FairGAT's four
    points = hollow(draw("tradeoff_node_classification").axes[0])
    fairgat = [(4, 92.73), (6, 93.73), (8, 94.73), (10, 95.73)]  # percent
    assert sorted(points) == sorted(
        [*fairgat, (10, 95.73), (10, 95.73), (6, 93.73)]
    )  # GAT, an ablation, EDITS' third


def test_long_curves_are_drawn_a_few_epochs_at_a_time(draw, monkeypatch):
    monkeypatch.setattr(curves, "POINTS", 2)
    ax = draw("curves_link_prediction").axes[0]
    assert ax.lines[0].get_xdata().tolist() == [1.5, 3.5]
    assert ax.lines[0].get_ydata().tolist() == pytest.approx([15, 35])


def test_a_crowd_is_what_others_leave_no_room():
    crowd = np.array([[95.0], [95.1], [95.2], [95.3], [94.9], [70.0]])
    assert style.crowd(crowd).tolist() == [True] * 5 + [False]
    assert style.crowd(crowd[:5]) is None and style.crowd(np.ones((4, 1))) is None


def test_an_account_is_of_the_logits_and_empty_for_rows_that_a_group_lacks(
    audited, tmp_path
):
    lines = frames.read(*audited.files("account"))
    lines.loc[lines["over"] == "label 1", ["gap", *account.PARTS]] = (
        np.nan
    )  # nobody of one group has label 1
    lines["spread"] = lines["spread"].mask(lines["layer"] != "logit", 0.1)
    frames.write(tmp_path / "a.csv", lines)
    settings = shown.figure_settings(audited.config, "account", account.TASK)
    given = audited.sources(audited.figure("account")) | {
        "account": [tmp_path / "a.csv"]
    }
    everyone, positive = account.draw(settings, given).axes[::2]
    assert (
        everyone.texts[0].get_text().strip() == "−0.50" and not positive.patches
    )  # GAT's gap, -1, in spreads of 2


def test_methods_keep_their_looks_and_no_two_share_a_colour():
    blue = Look(colour="#0072B2", marker="o")
    titles = {name: name for name in ("a", "b", *(f"yours-{n}" for n in range(20)))}
    looks = style.looks(titles, {"a": blue, "b": blue, "yours-3": None})
    assert (looks["a"].colour, looks["a"].marker) == ("#0072B2", "o")
    assert len({look.colour for look in looks.values()}) == len(titles)
    assert [*looks] == [*titles]


def test_the_methods_of_the_house_have_looks_of_their_own():
    content = read_file("config.yaml")
    merge(content, read_yaml("configs/more-methods.yaml"))
    looks = [entry["look"]["colour"] for entry in content["methods"].values()]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("count", [0, 2, 7])
def test_a_legend_is_no_wider_than_its_figure(count):
    figure, _ = style.plt.subplots(figsize=(style.WIDTH, 4), layout="constrained")
    titles = {f"method-{n}": f"Method {n} with a long title" for n in range(count)}
    looks = style.looks(titles, {})
    style.legend(figure, looks.values())
    figure.draw_without_rendering()
    assert len(figure.legends) == (count > 0)
    boxes = [legend.get_window_extent() for legend in figure.legends]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes)
    style.plt.close(figure)


def test_a_learning_curve_that_was_cut_off_is_not_drawn(plan, draw):
    path = Path(
        plan.path("runs/node_classification/recidivism/gat/default/split-1/history.csv")
    )
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    try:
        with pytest.raises(
            DataError, match=r"gat on recidivism have \[4, 3.*\] epochs"
        ):
            draw("curves_node_classification")
    finally:
        path.write_text(whole)
