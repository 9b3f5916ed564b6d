"""The sensitivity study: a valid overlay whose variants each differ in one decision, and its table and figure."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from reporting_fixtures import LINK, NODE, metrics, scores, write
from scipy import stats

from fairgat import cells, config, methods
from fairgat.data import datasets
from fairgat.errors import ConfigError
from fairgat.reporting import sensitivity, style
from fairgat.reporting import settings as reporting_settings
from fairgat.reporting.model import Block, Panel, Table
from fairgat.reporting.render import render
from fairgat.scores import paired
from fairgat.scores import runs as records

ROOT = Path(__file__).resolve().parents[3]
STUDY = yaml.safe_load((ROOT / "fairgat/reporting/sensitivity.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def overlay():
    return config.load_files(ROOT / "config.yaml", ROOT / "configs/sensitivity.yaml")


@pytest.fixture(scope="module")
def shipped():
    return config.load_files(ROOT / "config.yaml")


# ----------------------------------------------------------------------------------------------------- the overlay


def test_the_overlay_is_valid(overlay):
    methods.check(overlay)
    datasets.check(overlay)


def test_what_is_not_varied_is_as_shipped(overlay, shipped):
    for part in ("training", "splits", "seed", "aggregation"):
        assert getattr(overlay, part) == getattr(shipped, part)
    for name, entry in shipped.datasets.items():
        assert overlay.datasets[name] == entry
    for name, entry in shipped.methods.items():
        unsearched = {"grid": entry.grid, "grids": entry.grids}
        assert overlay.methods[name].model_copy(update=unsearched) == entry


def test_every_variant_is_run_and_described(overlay):
    described = [entry["method"] for entry in STUDY["methods"]]
    assert len(set(described)) == len(described)
    bases = {entry["of"] for entry in STUDY["methods"]} | {"gat"}
    assert set(overlay.only_methods) == {*described, *bases}
    assert {entry["dataset"] for entry in STUDY["datasets"]} <= set(overlay.only_datasets)


def settled(overlay, method, dataset, module):
    """Every setting of a method's one cell on a data set, defaults included, as `module` reads them."""
    (cell,) = overlay.cells(method, dataset)
    given = overlay.methods[method].settings | cells.from_path(cell)
    return methods.settings(module, given).model_dump()


@pytest.mark.parametrize("entry", STUDY["methods"], ids=lambda entry: entry["method"])
def test_a_variant_differs_from_its_method_in_one_setting(overlay, entry):
    variant, base = entry["method"], entry["of"]
    module = overlay.module(variant)  # where it differs from the method's own, it only knows more settings
    run = [name for task in overlay.methods[variant].tasks for name in overlay.datasets_of(task)]
    assert run and set(overlay.methods[variant].tasks) <= set(overlay.methods[base].tasks)
    for dataset in [*run, "pubmed"] if "cora" in run else run:
        if dataset not in overlay.methods[base].published:
            continue  # another form of a data set: the method alone is run on it
        ours, theirs = (settled(overlay, name, dataset, module) for name in (variant, base))
        changed = [name for name in ours if ours[name] != theirs[name]]
        assert len(changed) == 1
        assert f"({changed[0]})" in entry["changes"]


@pytest.mark.parametrize("entry", STUDY["datasets"], ids=lambda entry: entry["dataset"])
def test_another_form_of_a_data_set_differs_in_one_option(overlay, entry):
    ours, theirs = overlay.datasets[entry["dataset"]], overlay.datasets[entry["of"]]
    assert ours.task == theirs.task
    assert datasets.source_of(entry["dataset"], ours) is datasets.source_of(entry["of"], theirs)
    ours, theirs = (
        datasets.options_of(name, overlay.datasets[name]).model_dump() for name in (entry["dataset"], entry["of"])
    )
    changed = [name for name in ours if ours[name] != theirs[name]]
    assert len(changed) == 1
    assert f"({changed[0]})" in entry["changes"]
    for method in entry["methods"]:
        assert overlay.cells(method, entry["dataset"]) == overlay.cells(method, entry["of"])


def test_methods_run_at_their_published_cells(overlay):
    for block in reporting_settings.sensitivity_settings(overlay):
        for row in block["rows"]:
            (cell,) = overlay.cells(row["method"], row["dataset"])
            published = overlay.methods[row["of"]].published.get(block["name"], {})
            assert cells.from_path(cell) == published


def test_the_blocks(overlay, shipped):
    blocks = {block["name"]: block for block in reporting_settings.sensitivity_settings(overlay)}
    assert list(blocks) == ["recidivism", "cora", "citeseer"]
    rows = blocks["recidivism"]["rows"]
    bases = [row["method"] for row in rows if row["changes"] is None]
    assert bases == ["gat", "fairgnn", "edits", "nifty", "fairgat", "fairgat-steps-12"]
    assert [(row["dataset"], row["method"]) for row in rows[:3]] == [
        ("recidivism", "gat"),
        ("recidivism-unscaled", "gat"),
        ("recidivism-by-row", "gat"),
    ]
    assert "fairgat-capped" not in [row["method"] for row in rows]
    assert "fairgat-capped" in [row["method"] for row in blocks["cora"]["rows"]]
    assert {row["dataset"] for row in blocks["cora"]["rows"]} == {"cora"}
    assert reporting_settings.sensitivity_settings(shipped) == []
    assert reporting_settings.same_splits(shipped) == {}
    assert reporting_settings.same_splits(overlay) == {
        "recidivism-unscaled": "recidivism",
        "recidivism-by-row": "recidivism",
    }


def test_the_rows_follow_only_methods(overlay):
    """Snakemake lays config.yaml under the overlay, so that the order of `methods` is another one there."""
    turned = overlay.model_copy(update={"methods": dict(reversed(overlay.methods.items()))})
    assert reporting_settings.sensitivity_settings(turned) == reporting_settings.sensitivity_settings(overlay)


def test_a_grid_of_several_cells_is_refused():
    both = {"tasks": [NODE], "grid": {"eta": [0.75, 1.0]}}
    content = {
        "datasets": {"recidivism": {"task": NODE}},
        "methods": {"fairgat": both, "fairgat-centred": both | {"module": "fairgat"}},
    }
    with pytest.raises(ConfigError, match="the grid has more for fairgat, fairgat-centred"):
        reporting_settings.sensitivity_settings(config.load(content))


# ---------------------------------------------------------------------------------------------- table and figure

SPLITS = range(5)
BASE = [0.90, 0.91, 0.93, 0.92, 0.94]
GAIN = [0.01, 0.02, 0.01, 0.03, 0.02]  # of the variant that differs on every split


@pytest.fixture(scope="module")
def blocks(overlay):
    return reporting_settings.sensitivity_settings(overlay)


def runs(blocks):
    """Every row on every split: S3 centred differs by GAIN, FairGNN with covariance 10 fails, others vary."""
    rng = np.random.default_rng(0)
    for block in blocks:
        names = len(records.FAIRNESS[block["task"]])
        for row in block["rows"]:
            for k in SPLITS:
                accuracy = BASE[k] + (0 if row["changes"] is None else rng.normal(scale=0.01))
                if row["method"] == "fairgat-centred":
                    accuracy = BASE[k] + GAIN[k]
                failure = "it diverged" if row["method"] == "fairgnn-covariance-10" and k == 3 else None
                validation = scores(block["task"], accuracy, [0.05 + 0.01 * k] * names)
                test = scores(block["task"], 0.123, 0.456)  # must be seen nowhere
                yield metrics(row["dataset"], row["method"], "default", k, validation, test, block["task"], failure)


@pytest.fixture(scope="module")
def frame(blocks, tmp_path_factory):
    paths = write(tmp_path_factory.mktemp("results"), runs(blocks))
    return sensitivity.compare(blocks, records.read_all(paths), ddof=1)


def line(frame, dataset, method, metric="accuracy", run_on=None):
    run_on = run_on or dataset
    return frame.query("dataset == @dataset and method == @method and metric == @metric and run_on == @run_on").iloc[0]


def test_differences_are_paired_over_the_splits(frame):
    row = line(frame, "recidivism", "fairgat-centred")
    test = stats.ttest_rel(np.add(BASE, GAIN), BASE)
    expected = test.confidence_interval(0.95)
    assert row["difference"] == pytest.approx(np.mean(GAIN))
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["mean"] == pytest.approx(np.mean(np.add(BASE, GAIN)))
    assert row["std"] == pytest.approx(np.std(np.add(BASE, GAIN), ddof=1))
    assert row["n_splits"] == 5


def test_pairs_are_found_by_split_and_not_by_order(blocks, frame, tmp_path):
    shuffled = sorted(runs(blocks), key=lambda content: (content["split"] * 7 + len(content["method"])) % 5)
    again = sensitivity.compare(blocks, records.read_all(write(tmp_path, shuffled)), ddof=1)
    pd.testing.assert_frame_equal(again, frame)


def test_another_form_of_a_data_set_is_compared_with_it(frame):
    row = line(frame, "recidivism", "gat", run_on="recidivism-by-row")
    base = line(frame, "recidivism", "gat")
    assert row["difference"] == pytest.approx(row["mean"] - base["mean"])
    assert pd.isna(base["difference"]) and pd.isna(row["paper_mean"])
    assert (base["paper_mean"], base["paper_std"]) == (0.9563, 0.002)


def test_a_failed_split_leaves_no_number(frame, blocks):
    row = line(frame, "recidivism", "fairgnn-covariance-10")
    assert row[["mean", "difference", "low"]].isna().all()
    assert row["failure"] == "split 3: it diverged"
    text = render(sensitivity.table(blocks, frame), "md")
    assert "Not compared (split 3: it diverged)." in text
    assert re.search(r"– covariance 10 \S+ +\| +– \|", text)


def test_a_method_that_failed_leaves_its_variants_without_a_difference(blocks):
    content = [
        c | {"failure": "it diverged"} if c["method"] == "nifty" and c["dataset"] == "recidivism" else c
        for c in runs(blocks)
    ]
    found = [
        records.Record(
            c["task"], c["dataset"], c["method"], c["cell"], c["split"],
            {} if c.get("failure") else c["validation"], {}, c.get("failure"),
        )
        for c in content
    ]  # fmt: skip
    row = line(sensitivity.compare(blocks, found, 1), "recidivism", "nifty-fresh-gradient")
    assert pd.notna(row["mean"]) and pd.isna(row["difference"])
    assert row["failure"].startswith("what it is compared with: split 0: it diverged")


def test_test_scores_are_not_looked_at(frame, blocks):
    text = render(sensitivity.table(blocks, frame), "csv")
    assert "12.30" not in text and "45.60" not in text
    assert not frame[["mean", "difference"]].isin([0.123, 0.456]).any(axis=None)


def test_a_difference_that_rounds_to_nothing_has_no_sign():
    assert paired.signed(-1e-6, -2e-6, 0.0).text == "+0.00"


@pytest.mark.parametrize(("values", "half"), [([0.1], None), ([0.1, 0.1], 0.0), ([], None)])
def test_the_interval_of_few_splits(values, half):
    assert paired.interval(values) == half


def cells_of(table, panel, title, block=0):
    return next(row.cells for row in table.panels[panel].blocks[block].rows if row.cells[0].text == title)


def test_the_table(blocks, frame):
    table = sensitivity.table(blocks, frame)
    assert isinstance(table, Table) and all(isinstance(panel, Panel) for panel in table.panels)
    assert [[block.title for block in panel.blocks] for panel in table.panels] == [
        ["Recidivism"], ["Recidivism"], ["Cora", "Citeseer"], ["Cora", "Citeseer"],
    ]  # fmt: skip
    name, accuracy, *_ = cells_of(table, 1, "– S3 centred")
    notes = dict(table.notes)
    assert notes[name.mark] == "Step 3 subtracts each feature's mean as well (center)."
    half = stats.t.ppf(0.975, 4) * np.std(GAIN, ddof=1) / 5**0.5
    assert (accuracy.text, accuracy.std, accuracy.bold) == ("+1.80", f"{100 * half:.2f}", True)
    _, gap, *_ = cells_of(table, 1, "FairGAT, published (test)")
    assert str(gap.text) == f"{94.93 - 100 * np.mean(BASE):+.2f}"
    _, equal, *_ = cells_of(table, 1, "– no self-loops")
    assert not equal.bold
    _, sp = cells_of(table, 1, "– no self-loops")[1:3]
    assert (sp.text, sp.std, sp.bold) == ("+0.00", "0.00", False)  # the very same on every split
    _, mean, *_ = cells_of(table, 0, "– published (test)")
    assert (mean.text, mean.std) == ("95.63", "0.20")
    assert all(isinstance(block, Block) and block.rows for panel in table.panels for block in panel.blocks)


@pytest.mark.parametrize("form", ["md", "tex", "html", "csv"])
def test_every_variant_is_in_every_format(blocks, frame, form):
    text = sensitivity.text(blocks, frame, form)
    shown = text.replace(r"\_", "_")
    assert "nan" not in shown.lower().replace("nan}", "") and "None" not in shown
    for entry in [*STUDY["methods"], *STUDY["datasets"]]:
        assert entry["title"] in shown
    if form == "tex":
        assert text.count(r"\begin{table}") == 2  # one alone is longer than a page
        assert len(set(re.findall(r"\\label{.*}", text))) == 2
        assert r"$\mathbf{+1.80} \pm" in text


def test_a_table_of_one_task(blocks, frame):
    links = [block for block in blocks if block["task"] == LINK]
    assert len(sensitivity.table(links, frame).panels) == 2


@pytest.mark.parametrize("task", [NODE, LINK])
def test_the_figure(blocks, frame, task, tmp_path):
    figure = sensitivity.figure(blocks, frame, task)
    shown = [ax for ax in figure.axes if ax.axison]
    assert len(shown) == (3 if task == NODE else 14)
    names = [text.get_text() for text in shown[0].get_yticklabels()]
    assert "FairGAT" in names and "– S3 centred" in names
    assert ("GAT" in names) == (task == NODE)  # in link prediction no variant is of it
    style.save(figure, {"svg": tmp_path / "a.svg"})
    assert (tmp_path / "a.svg").stat().st_size > 1000
