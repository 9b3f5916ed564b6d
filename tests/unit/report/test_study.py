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
OVERLAY = config.load_files(
    ROOT / "config.yaml", ROOT / "beyond/studies/sensitivity.yaml"
)
SETTINGS = shown.study_settings(OVERLAY)
STUDY = SETTINGS.study
ROWS = study_rows.rows(OVERLAY)


def changed(config=OVERLAY, **study):
    """The settings of a configuration with these changes of its study."""
    return shown.study_settings(
        config.model_copy(update={"study": config.study.model_copy(update=study)})
    )


GRID = {
    "fairgat": {"tasks": [LINK], "grid": {"eta": [0.75, 1.0]}},
    "gat": {"tasks": [LINK]},
}
BASE = [0.90, 0.91, 0.93, 0.92, 0.94]
GAIN = [0.01, 0.02, 0.01, 0.03, 0.02]  # of the variant that differs on every split


def contents():
    """Every row on every split: S3 centred differs by GAIN, others vary."""
    rng = np.random.default_rng(0)
    for row in {
        (row.run_on, row.method): row for row in reversed(ROWS)
    }.values():  # some are there twice
        for k in range(5):
            accuracy = BASE[k] + (rng.normal(scale=0.01) if row.changes else 0)
            if row.method == "fairgat-centred":
                accuracy = BASE[k] + GAIN[k]
            yield metrics(
                row.run_on,
                row.method,
                "default",
                k,
                scores(row.task, accuracy, 0.05 + 0.01 * k),
                task=row.task,
            )


def compared(contents, settings=SETTINGS):
    """What the study makes of these judged runs."""
    contents = list(contents)
    tasks = {content.run.dataset: content.run.task for content in contents}
    scored = judging.table(contents)
    chosen = [
        selection.select(shard, tasks[dataset], "validation", "fair", 0.01, None)
        for (dataset, _), shard in scored.groupby(["dataset", "method"], sort=False)
    ]
    return study.compared(settings, scored, chosen)


@pytest.fixture(scope="module")
def frame():
    return compared(contents())


def test_differences_are_paired_over_the_splits(frame):
    row = frame.query(
        "dataset == 'recidivism' and method == 'fairgat-centred' and metric == 'accuracy'"
    ).iloc[0]
    expected = stats.ttest_rel(np.add(BASE, GAIN), BASE).confidence_interval(0.95)
    assert row["difference"] == pytest.approx(np.mean(GAIN))
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["mean"] == pytest.approx(np.mean(np.add(BASE, GAIN)))
    assert row["std"] == pytest.approx(np.std(np.add(BASE, GAIN), ddof=1))
    assert row["n_splits"] == 5
    shuffled = sorted(
        contents(),
        key=lambda judged: (judged.run.split * 7 + len(judged.run.method)) % 5,
    )
    again = compared(shuffled)  # pairs are found by split
    pd.testing.assert_frame_equal(again, frame)


def test_the_scores_behind_the_differences():
    """Of every cell, on both parts, so that an analysis may choose on validation; every measure of what is compared."""
    given = small_studies.settings(
        {"cora": LINK}, GRID, part="test", metrics=["accuracy"]
    )
    made = [
        metrics(
            "cora",
            method,
            cell,
            k,
            scores(LINK, good, 0.1) | {"auc": 0.5},
            scores(LINK, good - 0.1, 0.2),
            LINK,
        )
        for method, cell, good in [
            ("gat", "default", 0.8),
            ("fairgat", "eta~1.0", 0.7),
            ("fairgat", "eta~0.75", 0.6),
        ]
        for k in range(3)
    ]
    scored = judging.table(made)
    behind = study.scores(given, scored, compared(made, given))
    assert (
        list(behind) == study.SCORES and not behind.duplicated(study.SCORES[:-1]).any()
    )
    accuracy = (
        behind[behind["metric"] == "accuracy"]
        .groupby(["part", "method", "cell"])["value"]
        .mean()
    )
    assert accuracy["test", "fairgat", "eta~0.75"] == pytest.approx(0.5)
    assert accuracy["validation", "fairgat", "eta~0.75"] == pytest.approx(0.6)
    gaps = behind[behind["metric"] == "dp_mixed"]
    assert {*gaps["cell"]} == {"default", "eta~1.0"} and {*gaps["part"]} == {"test"}


def test_epochs_of_several_rules_are_compared_at_the_selected_cell():
    """On test scores: the variant by a rule of its own, and by the one that its method has, too."""
    rules, varied = (
        [["accuracy", "accuracy"], ["qian", "accuracy"]],
        {"fairgat": {"grid": {"eta": [0.75, 1.0]}}},
    )
    given = small_studies.settings(
        {"recidivism": NODE}, varied, part="test", metrics=["accuracy"], epochs=rules
    )
    made = []
    for method, cell, gains in [
        ("gat", "default", (0, 0.5)),
        ("fairgat", "eta~1.0", (0.2, 0.4)),
        ("fairgat", "eta~0.75", (0.9, 0.9)),
    ]:
        for k in range(3):
            good = (
                0.8 if cell != "eta~0.75" else 0.2
            )  # this cell has the best test scores, and the worst on validation
            noise = 0.02 * (k - 1) * (method == "fairgat")
            validation = scores(NODE, good, 0.1)
            ours, qian = (
                {
                    "validation": validation,
                    "test": scores(NODE, 0.01 * k + gain + noise, 0.1),
                }
                for gain in gains
            )
            made.append(
                metrics(
                    "recidivism",
                    method,
                    cell,
                    k,
                    validation,
                    ours["test"],
                    protocols={"qian": qian},
                )
            )
    frame = compared(made, given)
    assert frame["cell"].tolist() == ["default", "eta~1.0", "eta~1.0"]
    assert frame["difference"].tolist() == [
        pytest.approx(np.nan, nan_ok=True),
        pytest.approx(0.2),
        pytest.approx(0.4),
    ]
    assert frame["paper_difference"].tolist()[1] == pytest.approx(0.9493 - 0.9563)
    line = frame[frame["difference"].notna()].iloc[0]
    wider = math.sqrt((1 / 3 + 0.3 / 0.4) / (1 / 3))
    assert line["corrected"] == pytest.approx(
        wider * (line["high"] - line["low"]) / 2, abs=1e-12
    )


def test_a_method_as_it_is_has_its_published_score_in_the_figure():
    given = small_studies.settings(
        {"recidivism": NODE}, {"fairgat": {}}, part="test", metrics=["accuracy"]
    )
    made = [
        metrics("recidivism", method, "default", k, scores(NODE, good + 0.01 * k, 0.1))
        for method, good in (("gat", 0.9), ("fairgat", 0.92))
        for k in range(3)
    ]
    (ax,) = forest.figure(given.study, compared(made, given), NODE).axes
    assert [text.get_text() for text in ax.get_yticklabels()] == ["gat", "fairgat"]
    hollow = [
        each.get_xdata()[0] for each in ax.lines if each.get_markerfacecolor() == "none"
    ]
    assert hollow == pytest.approx([95.63 - 91, 94.93 - 95.63])


GOLDEN = Path(__file__).parent / "golden"


def few():
    """A part of the overlay with other words."""
    of = {
        "fairgnn": ["covariance-10"],
        "nifty": ["fresh-gradient"],
        "fairgat": ["centred", "no-self-loops"],
        "gat": [],
    }
    names = [
        name
        for base, variants in of.items()
        for name in (base, *(f"{base}-{each}" for each in variants))
    ]
    rows = [
        row.model_copy(update={"changes": "A change."}) for row in OVERLAY.study.rows
    ]
    study = OVERLAY.study.model_copy(update={"rows": rows})
    more = {
        name: OVERLAY.methods[name].model_copy(
            update={"note_of_more_groups": "other shares."}
        )
        for name in names
    }
    asked = {
        "only_methods": names,
        "only_datasets": ["recidivism", "recidivism-by-row", "cora"],
    }
    return OVERLAY.model_copy(
        update={"study": study, "methods": OVERLAY.methods | more, **asked}
    )


def of_every_kind(rows):
    """Scores of two rules for the epoch: some are missing, some methods say the same of everyone, two failed."""
    rng = np.random.default_rng(1)
    for row in {(row.run_on, row.method): row for row in rows}.values():
        people, failing = row.task == NODE, ("fairgnn-covariance-10", "nifty")
        for k in range(4):
            gaps = [None if k == 3 and row.method == "gat" else rng.normal(0.05, 0.01)]
            gaps += list(rng.normal(0.05, 0.01, size=1 if people else 5))
            given = scores(row.task, rng.normal(0.9, 0.01), gaps) | {
                "auc": 0.5 + 0.1 * (row.changes != "")
            }
            if people:
                given |= {
                    f"positive_rate_{group}": rng.choice([0.005, 0.995])
                    for group in range(3)
                }
            judged, later = (
                {
                    "validation": each,
                    "test": {
                        name: value and value - 0.01 for name, value in each.items()
                    },
                }
                for each in (given, given | {"accuracy": given["accuracy"] + 0.01 * k})
            )
            failure = "it diverged" if (k, row.method) in enumerate(failing) else None
            protocols = {"qian": later} if people else {}
            yield metrics(
                row.run_on,
                row.method,
                "default",
                k,
                given,
                judged["test"],
                row.task,
                failure,
                protocols,
            )


@pytest.mark.parametrize("part", ["validation", "test"])
def test_the_table_is_as_it_was(part):
    """With several rules for the epoch, a metric that a task lacks, and notes of every kind."""
    epochs = [("accuracy", "accuracy"), ("qian", "accuracy"), ("qian", "qian")]
    settings = changed(
        few(),
        part=part,
        metrics=["accuracy", "auc", "statistical_parity"],
        epochs=epochs,
    )
    frame = compared(of_every_kind(study_rows.rows(few())), settings)
    table = study_table.table(settings.study, frame)
    assert render(table, "csv") == (GOLDEN / f"study-{part}.csv").read_text(
        encoding="utf-8"
    )


def test_the_table_in_words_and_in_bold(frame):
    table = study_table.table(STUDY, frame)
    assert (
        "over the same 5 splits, ±" in table.explanation
        and "Not run here" not in table.explanation
    )
    rows = {str(row.cells[0].text): row.cells for row in table.panels[1].blocks[0].rows}
    half = stats.t.ppf(0.975, 4) * np.std(GAIN, ddof=1) / 5**0.5
    accuracy, other = rows["S3 centred"][1], rows["no self-loops"][1]
    assert (accuracy.text, accuracy.std, accuracy.bold) == (
        "+1.80",
        f"{100 * half:.2f}",
        True,
    ) and not other.bold
    assert (
        percent.signed(-1e-6, -2e-6, 0.0).text == "+0.00"
    )  # what rounds to nothing has no sign


def test_the_table_says_what_was_not_run_and_on_how_many_splits(frame):
    rows = frame[frame["of"] == "gat"]
    rows = rows.assign(
        n_splits=rows["n_splits"].mask(rows["dataset_title"] == "Cora", 3)
    )
    text = study_table.table(STUDY, rows).explanation
    assert "over the same 5 splits (Cora 3), ±" in text
    assert (
        "Not run here: " in text
        and "S3 centred" in text.rpartition("Not run here: ")[2]
    )


@pytest.mark.parametrize("task", [NODE, LINK])
def test_the_figure(frame, task, tmp_path):
    figure = forest.figure(STUDY, frame, task)
    shown = [ax for ax in figure.axes if ax.axison]
    assert len(shown) == (4 if task == NODE else 16)
    names = [text.get_text() for text in shown[0].get_yticklabels()]
    assert "FairGAT" in names and "S3 centred" in names
    assert ("GAT" in names) == (task == NODE)  # in link prediction no variant is of it
    style.save(figure, {"svg": tmp_path / "a.svg"})
    assert (tmp_path / "a.svg").stat().st_size > 1000


def test_the_figure_cuts_what_lies_far_beyond_and_says_its_number(frame):
    far = (frame["method"] == "fairgat-centred") & (frame["metric"] == "accuracy")
    moved = {"difference": -0.9, "low": -0.91, "high": -0.89}
    one_far = {name: frame[name].mask(far, value) for name, value in moved.items()}
    cut = forest.figure(STUDY, frame.assign(**one_far), NODE)
    ax = cut.axes[0]
    assert ax.get_xlim()[0] > -80
    assert "−90.0" in [text.get_text() for text in ax.texts]
    assert "goes on beyond" in cut.get_supxlabel()
    all_far = {name: 4 * frame[name] for name in moved}
    wide = forest.figure(STUDY, frame.assign(**all_far), NODE)
    assert "goes on beyond" not in wide.get_supxlabel()


def test_the_figure_may_show_fewer_metrics_than_the_table(frame):
    metrics = ["accuracy", "equal_opportunity"]
    study = STUDY.model_copy(
        update={"metrics": metrics, "figure_metrics": ["equal_opportunity"]}
    )
    figure = forest.figure(study, frame, NODE)
    labels = [ax.get_xlabel() for ax in figure.axes if ax.axison]
    assert labels == [style.label("equal_opportunity")]


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
    known = {
        (row.group, row.quantity): row.value
        for row in rows.fillna({"group": ""}).itertuples()
    }
    of_groups = {
        (name, quantity): groups[name][quantity]
        for name in groups
        for quantity in ("nodes", "r_chi")
    }
    assert known == {("", "nodes"): 4, ("", "label_gap"): 0.25} | of_groups
    assert set(rows["dataset"]) == {"d"}


def test_other_peoples_groups_have_every_measure():
    scored = judging.table(
        [metrics("cora", "gat", "default", 0, scores(LINK, 0.8, 0.1), task=LINK)]
    )
    rows = study.every_measure(SETTINGS, scored)
    assert set(rows["metric"]) >= {"accuracy", "dp_mixed"} and set(rows["part"]) == {
        "validation"
    }
