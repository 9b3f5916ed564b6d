"""Studies: what is compared, and the table and figure of it."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_studies
from scipy import stats
from small_results import LINK, NODE, metrics, scores

from fairgat import config
from fairgat.config import shown, study_rows
from fairgat.report import forest, percent, study, study_table, style
from fairgat.report.render import render
from fairgat.scores import judging, selection

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = Path(__file__).parent / "golden"
OVERLAY = config.load_files(
    ROOT / "config.yaml", ROOT / "beyond/studies/sensitivity.yaml"
)
SETTINGS = shown.study_settings(OVERLAY)
STUDY = SETTINGS.study

BASE = [0.90, 0.91, 0.93, 0.92, 0.94]
GAIN = [0.01, 0.02, 0.01, 0.03, 0.02]  # of the variant that differs on every split
GRID = {
    "fairgat": {"tasks": [LINK], "grid": {"eta": [0.75, 1.0]}},
    "gat": {"tasks": [LINK]},
}


def compared(judged, settings=SETTINGS):
    """What the study makes of these judged runs."""
    judged = list(judged)
    tasks = {each.run.dataset: each.run.task for each in judged}
    runs = judging.table(judged)
    chosen = []
    for (dataset, _), shard in runs.groupby(["dataset", "method"], sort=False):
        task = tasks[dataset]
        chosen.append(selection.select(shard, task, "validation", "fair", 0.01, None))
    return study.compared(settings, runs, chosen)


def each_run_once(rows):
    """The rows of a study; a run may be in several of them."""
    return {(row.run_on, row.method): row for row in rows}.values()


def of_the_overlay():
    """Every row on every split: S3 centred gains GAIN, other variants vary."""
    rng = np.random.default_rng(0)
    for row in each_run_once(study_rows.rows(OVERLAY)):
        for k in range(5):
            accuracy = BASE[k]
            if row.method == "fairgat-centred":
                accuracy += GAIN[k]
            elif row.changes:
                accuracy += rng.normal(scale=0.01)
            given = scores(row.task, accuracy, 0.05 + 0.01 * k)
            yield metrics(row.run_on, row.method, "default", k, given, task=row.task)


@pytest.fixture(scope="module")
def frame():
    return compared(of_the_overlay())


def line_of(frame, **values):
    """The one line with these values."""
    wanted = frame[list(values)] == pd.Series(values)
    (line,) = frame[wanted.all(axis=1)].itertuples()
    return line


# --------------------------------------------------------------------- what is compared


def test_differences_are_paired_over_the_splits(frame):
    line = line_of(
        frame, dataset="recidivism", method="fairgat-centred", metric="accuracy"
    )

    variant = np.add(BASE, GAIN)
    interval = stats.ttest_rel(variant, BASE).confidence_interval(0.95)
    assert line.difference == pytest.approx(np.mean(GAIN))
    assert (line.low, line.high) == pytest.approx((interval.low, interval.high))
    assert line.mean == pytest.approx(np.mean(variant))
    assert line.std == pytest.approx(np.std(variant, ddof=1))
    assert line.n_splits == 5


def test_the_order_of_the_runs_does_not_matter(frame):
    def any_order(judged):
        return (judged.run.split * 7 + len(judged.run.method)) % 5

    again = compared(sorted(of_the_overlay(), key=any_order))

    pd.testing.assert_frame_equal(again, frame)


@pytest.fixture(scope="module")
def behind():
    """The scores behind a study of test accuracy, of two cells of FairGAT and GAT."""
    settings = small_studies.settings(
        {"cora": LINK}, GRID, part="test", metrics=["accuracy"]
    )
    runs = []
    for method, cell, accuracy in [
        ("gat", "default", 0.8),
        ("fairgat", "eta~1.0", 0.7),
        ("fairgat", "eta~0.75", 0.6),
    ]:
        for k in range(3):
            validation = scores(LINK, accuracy, 0.1) | {"auc": 0.5}
            test = scores(LINK, accuracy - 0.1, 0.2)
            runs.append(metrics("cora", method, cell, k, validation, test, LINK))
    frame = compared(runs, settings)
    return study.scores(settings, judging.table(runs), frame)


def test_behind_the_differences_each_score_stands_once(behind):
    assert list(behind) == study.SCORES
    assert not behind.duplicated(study.SCORES[:-1]).any()


def test_behind_the_differences_every_cell_stands_on_both_parts(behind):
    """So that an analysis may choose on validation."""
    accuracy = behind[behind["metric"] == "accuracy"]
    means = accuracy.groupby(["part", "method", "cell"])["value"].mean()

    assert means["test", "fairgat", "eta~0.75"] == pytest.approx(0.5)
    assert means["validation", "fairgat", "eta~0.75"] == pytest.approx(0.6)


def test_behind_the_differences_other_measures_are_of_what_is_compared(behind):
    gaps = behind[behind["metric"] == "dp_mixed"]

    assert set(gaps["cell"]) == {"default", "eta~1.0"}
    assert set(gaps["part"]) == {"test"}


@pytest.fixture(scope="module")
def of_two_rules():
    """A study on test scores whose epochs two rules choose; GAT's only by its own.

    The second cell of FairGAT has the best test scores, and the worst on validation.
    """
    settings = small_studies.settings(
        {"recidivism": NODE},
        {"fairgat": {"grid": {"eta": [0.75, 1.0]}}},
        part="test",
        metrics=["accuracy"],
        epochs=[["accuracy", "accuracy"], ["qian", "accuracy"]],
    )
    runs = []
    for method, cell, on_validation, ours, qian in [
        ("gat", "default", 0.8, 0, 0.5),
        ("fairgat", "eta~1.0", 0.8, 0.2, 0.4),
        ("fairgat", "eta~0.75", 0.2, 0.9, 0.9),
    ]:
        for k in range(3):
            on_test = 0.01 * k
            if method == "fairgat":
                on_test += 0.02 * (k - 1)
            validation = scores(NODE, on_validation, 0.1)
            test = scores(NODE, on_test + ours, 0.1)
            by_qian = scores(NODE, on_test + qian, 0.1)
            protocols = {"qian": {"validation": validation, "test": by_qian}}
            runs.append(
                metrics(
                    "recidivism",
                    method,
                    cell,
                    k,
                    validation,
                    test,
                    protocols=protocols,
                )
            )
    return compared(runs, settings)


def test_every_rule_for_the_epoch_is_compared_at_the_selected_cell(of_two_rules):
    expected = [math.nan, 0.2, 0.4]  # GAT is not compared with itself

    assert of_two_rules["cell"].tolist() == ["default", "eta~1.0", "eta~1.0"]
    found = of_two_rules["difference"].tolist()
    assert found == pytest.approx(expected, nan_ok=True)


def test_the_published_difference_stands_beside_ours(of_two_rules):
    published = of_two_rules["paper_difference"].tolist()
    assert published[1] == pytest.approx(0.9493 - 0.9563)


def test_the_interval_for_other_people_is_wider_by_what_splits_share(of_two_rules):
    line = of_two_rules.iloc[1]

    half = (line["high"] - line["low"]) / 2
    splits, test_share, train_share = 3, 0.3, 0.4
    variance = 1 / splits + test_share / train_share
    wider = math.sqrt(variance * splits)
    assert line["corrected"] == pytest.approx(wider * half, abs=1e-12)


def test_what_is_counted_in_the_graphs_is_published_row_by_row():
    groups = {
        "race=0": {"nodes": 3, "r_chi": 0.5},
        "race=1": {"nodes": 1, "r_chi": 1.0, "homophily": None},
    }
    counts = {
        "nodes": 4,
        "label_gap": 0.25,
        "labels": {"0": 2, "1": 2},
        "by_group": groups,
        "group_homophily": None,
    }

    rows = study.graphs([{"dataset": "d", "counts": counts}])

    rows = rows.fillna({"group": ""})
    assert rows.values.tolist() == [
        ["d", "", "nodes", 4],
        ["d", "", "label_gap", 0.25],
        ["d", "race=0", "nodes", 3],
        ["d", "race=0", "r_chi", 0.5],
        ["d", "race=1", "nodes", 1],
        ["d", "race=1", "r_chi", 1.0],
    ]


# ---------------------------------------------------------------------------- the table


def a_part_of_the_overlay(**changes):
    """A few methods and data sets of it, with other words; `changes` of the study."""
    names = [
        "fairgnn",
        "fairgnn-covariance-10",
        "nifty",
        "nifty-fresh-gradient",
        "fairgat",
        "fairgat-centred",
        "fairgat-no-self-loops",
        "gat",
    ]
    rows = []
    for row in OVERLAY.study.rows:
        rows.append(row.model_copy(update={"changes": "A change."}))
    methods = dict(OVERLAY.methods)
    for name in names:
        note = {"note_of_more_groups": "other shares."}
        methods[name] = methods[name].model_copy(update=note)
    asked = {
        "study": OVERLAY.study.model_copy(update={"rows": rows, **changes}),
        "methods": methods,
        "only_methods": names,
        "only_datasets": ["recidivism", "recidivism-by-row", "cora"],
    }
    return OVERLAY.model_copy(update=asked)


def of_every_kind(rows):
    """Two rules for the epoch, missing scores, one answer for all, two failures."""
    rng = np.random.default_rng(1)
    for row in each_run_once(rows):
        of_nodes = row.task == NODE
        for k in range(4):
            first_gap = None
            if (k, row.method) != (3, "gat"):
                first_gap = rng.normal(0.05, 0.01)
            other_gaps = rng.normal(0.05, 0.01, size=1 if of_nodes else 5)
            validation = scores(
                row.task, rng.normal(0.9, 0.01), [first_gap, *other_gaps]
            )
            validation["auc"] = 0.6 if row.changes else 0.5
            if of_nodes:
                for group in range(3):
                    rate = rng.choice([0.005, 0.995])
                    validation[f"positive_rate_{group}"] = rate

            later = validation | {"accuracy": validation["accuracy"] + 0.01 * k}
            protocols = {}
            if of_nodes:
                protocols["qian"] = {"validation": later, "test": less(later)}
            failure = None
            if (k, row.method) in [(0, "fairgnn-covariance-10"), (1, "nifty")]:
                failure = "it diverged"
            yield metrics(
                row.run_on,
                row.method,
                "default",
                k,
                validation,
                less(validation),
                row.task,
                failure,
                protocols,
            )


def less(scores):
    return {name: value - 0.01 for name, value in scores.items()}


@pytest.mark.parametrize("part", ["validation", "test"])
def test_the_table_is_as_it_was(part):
    """With several rules for the epoch, a metric that a task lacks, and notes."""
    overlay = a_part_of_the_overlay(
        part=part,
        metrics=["accuracy", "auc", "statistical_parity"],
        epochs=[("accuracy", "accuracy"), ("qian", "accuracy"), ("qian", "qian")],
    )
    settings = shown.study_settings(overlay)
    frame = compared(of_every_kind(study_rows.rows(overlay)), settings)

    text = render(study_table.table(settings.study, frame), "csv")

    golden = GOLDEN / f"study-{part}.csv"
    assert text == golden.read_text(encoding="utf-8")


def test_a_difference_is_bold_where_its_interval_leaves_out_0(frame):
    (block, *_) = study_table.table(STUDY, frame).panels[1].blocks
    cells = {str(row.cells[0].text): row.cells for row in block.rows}

    centred, other = cells["S3 centred"][1], cells["no self-loops"][1]
    half = stats.t.ppf(0.975, 4) * np.std(GAIN, ddof=1) / math.sqrt(5)
    assert centred.text == "+1.80"
    assert centred.std == f"{100 * half:.2f}"
    assert centred.bold
    assert not other.bold


def test_what_rounds_to_nothing_has_no_sign():
    cell = percent.signed(-1e-6, -2e-6, 0.0)
    assert cell.text == "+0.00"
    assert percent.score(-1e-6).text == "0.00"


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([5, 6], "; bold where that leaves out 0"),
        ([5, 3], "; bold where that leaves out 0 over 5 splits or more"),
        ([4, np.nan], "; none is bold, as there are fewer than 5 splits"),
        ([np.nan], ""),  # nothing is compared, over however many splits
    ],
)
def test_what_is_bold_is_said_of_what_is_compared(pairs, said):
    words = percent.half_intervals(pd.Series(pairs))
    assert words == f"± half a 95 % interval{said}"


def test_the_table_says_over_how_many_splits(frame):
    on_cora = frame["dataset_title"] == "Cora"
    fewer = frame.assign(n_splits=frame["n_splits"].mask(on_cora, 3))

    usual = study_table.table(STUDY, frame).explanation
    some_fewer = study_table.table(STUDY, fewer).explanation

    assert "over the same 5 splits, ±" in usual
    assert "over the same 5 splits (Cora 3), ±" in some_fewer


def test_the_table_says_what_was_not_run(frame):
    some = frame[frame["of"] == "gat"]

    everything = study_table.table(STUDY, frame).explanation
    text = study_table.table(STUDY, some).explanation

    assert "Not run here" not in everything
    _, _, left_out = text.partition("Not run here: ")
    assert "S3 centred" in left_out


# --------------------------------------------------------------------------- the figure


def panels_shown(figure):
    return [ax for ax in figure.axes if ax.axison]


def row_names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


@pytest.mark.parametrize(
    ("task", "panels", "shows_gat"),
    [(NODE, 4, True), (LINK, 16, False)],  # no variant of GAT in link prediction
)
def test_the_figure_has_a_panel_for_each_data_set_and_measure(
    frame, task, panels, shows_gat
):
    figure = forest.figure(STUDY, frame, task)

    shown_panels = panels_shown(figure)
    assert len(shown_panels) == panels
    names = row_names(shown_panels[0])
    assert {"FairGAT", "S3 centred"} <= set(names)
    assert ("GAT" in names) == shows_gat


def test_a_method_as_it_is_has_its_published_score_in_the_figure():
    settings = small_studies.settings(
        {"recidivism": NODE}, {"fairgat": {}}, part="test", metrics=["accuracy"]
    )
    runs = []
    for method, accuracy in (("gat", 0.9), ("fairgat", 0.92)):
        for k in range(3):
            given = scores(NODE, accuracy + 0.01 * k, 0.1)
            runs.append(metrics("recidivism", method, "default", k, given))

    figure = forest.figure(settings.study, compared(runs, settings), NODE)

    (ax,) = figure.axes
    assert row_names(ax) == ["gat", "fairgat"]
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    published = [line.get_xdata()[0] for line in hollow]
    assert published == pytest.approx([95.63 - 91, 94.93 - 95.63])


def on_forms_of_credit(methods, *rows):
    """A study of these methods on two other forms of one data set."""
    forms = ["with-age", "plain"]
    names = ["credit", *forms]
    form_rows = []
    for name in forms:
        varied = {"of": "credit", "dataset": name, "methods": list(methods)}
        form_rows.append({"title": name, "changes": "Another form.", **varied})
    content = {
        "datasets": {name: {"task": NODE} for name in names},
        "methods": {name: {"tasks": [NODE]} for name in methods},
        "study": {"name": "mine", "title": "Mine", "rows": [*rows, *form_rows]},
    }
    return shown.study_settings(config.load(content))


def test_each_form_of_a_data_set_has_its_own_colour_in_the_figure():
    settings = on_forms_of_credit(["gat"])
    runs = []
    for row in each_run_once(settings.comparisons):
        for k in range(5):
            accuracy = 0.8 + 0.01 * k + 0.001 * len(row.run_on)
            given = scores(NODE, accuracy, 0.1)
            runs.append(metrics(row.run_on, row.method, "default", k, given))

    figure = forest.figure(settings.study, compared(runs, settings), NODE)

    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == ["with-age", "plain"]
    colours = {handle.get_color() for handle in legend.legend_handles}
    assert len(colours) == 2


def test_a_variant_is_compared_on_other_forms_of_a_data_set_too():
    variant = {"title": "FairGAT", "changes": "x", "of": "gat", "method": "fairgat"}

    rows = on_forms_of_credit(["gat", "fairgat"], variant).comparisons

    found = [(row.run_on, row.of, row.method) for row in rows if row.changes]
    assert found == [
        ("credit", "gat", "fairgat"),
        ("with-age", "gat", "gat"),
        ("plain", "gat", "gat"),
        ("with-age", "fairgat", "fairgat"),
        ("plain", "fairgat", "fairgat"),
    ]


def test_the_figure_cuts_what_lies_far_beyond_and_says_its_number(frame):
    centred = frame["method"] == "fairgat-centred"
    far = centred & (frame["metric"] == "accuracy")
    moved = frame.assign(
        difference=frame["difference"].mask(far, -0.9),
        low=frame["low"].mask(far, -0.91),
        high=frame["high"].mask(far, -0.89),
    )

    figure = forest.figure(STUDY, moved, NODE)

    ax = figure.axes[0]
    assert ax.get_xlim()[0] > -80
    assert "−90.0" in [text.get_text() for text in ax.texts]
    assert "goes on beyond" in figure.get_supxlabel()


def test_the_figure_cuts_nothing_where_all_is_far(frame):
    ends = ["difference", "low", "high"]
    all_far = frame.assign(**{name: 4 * frame[name] for name in ends})

    figure = forest.figure(STUDY, all_far, NODE)

    assert "goes on beyond" not in figure.get_supxlabel()


def test_the_figure_may_show_fewer_metrics_than_the_table(frame):
    metrics = {
        "metrics": ["accuracy", "equal_opportunity"],
        "figure_metrics": ["equal_opportunity"],
    }

    figure = forest.figure(STUDY.model_copy(update=metrics), frame, NODE)

    labels = [ax.get_xlabel() for ax in panels_shown(figure)]
    assert labels == [style.label("equal_opportunity")]
