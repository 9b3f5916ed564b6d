"""The overlay beyond/studies/sensitivity.yaml: each variant differs in one decision."""

from pathlib import Path

import pytest

from fairgat import cells, config, methods
from fairgat.config import shown, study_rows
from fairgat.data import datasets

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = config.load_files(ROOT / "config.yaml")
OVERLAY = config.load_files(
    ROOT / "config.yaml", ROOT / "beyond/studies/sensitivity.yaml"
)
ROWS = study_rows.rows(OVERLAY)
OF_METHODS = [row for row in OVERLAY.study.rows if row.method]
OF_DATASETS = [row for row in OVERLAY.study.rows if row.dataset]


def test_the_overlay_is_valid():
    methods.check(OVERLAY)
    datasets.check(OVERLAY)


@pytest.mark.parametrize("part", ["training", "splits", "seed", "aggregation"])
def test_the_protocol_stays(part):
    assert getattr(OVERLAY, part) == getattr(SHIPPED, part)


def test_data_sets_and_the_settings_of_methods_stay():
    for name, entry in SHIPPED.datasets.items():
        assert OVERLAY.datasets[name] == entry
    for name, entry in SHIPPED.methods.items():
        grids = {"grid": entry.grid, "grids": entry.grids}
        assert OVERLAY.methods[name].model_copy(update=grids) == entry


def test_every_variant_and_what_it_varies_is_run():
    compared = {"gat"}
    for row in OF_METHODS:
        compared |= {row.method, row.of}

    assert set(OVERLAY.only_methods) == compared


def base_of(row):
    """The method that a row, or the variant that it varies, is a variant of."""
    return "fairgat" if row.of.startswith("fairgat") else row.of


def settled(method, dataset, module):
    """Every setting of a method's one cell on a data set, as `module` reads them.

    Defaults included.
    """
    (cell,) = OVERLAY.cells(method, dataset)
    settings = OVERLAY.methods[method].settings | cells.from_path(cell)
    return methods.settings(module, settings).model_dump()


def assert_one_differs(row, ours, theirs):
    changed = [name for name in ours if ours[name] != theirs[name]]
    assert len(changed) == 1
    assert f"({changed[0]})" in row.changes


@pytest.mark.parametrize("row", OF_METHODS, ids=lambda row: row.method)
def test_a_variant_of_a_method_differs_in_one_setting(row):
    # Where a variant's module is another one, that only knows more settings.
    module = OVERLAY.module(row.method)
    published = OVERLAY.methods[base_of(row)].published
    run = []
    for task in OVERLAY.methods[row.method].tasks:
        run += OVERLAY.datasets_of(task)
    if published:
        run = [name for name in run if name in published]

    assert run
    for name in run:
        own = settled(row.method, name, module)
        assert_one_differs(row, own, settled(row.of, name, module))


@pytest.mark.parametrize("row", OF_DATASETS, ids=lambda row: row.dataset)
def test_a_form_of_a_data_set_differs_in_one_option(row):
    options = {}
    for name in (row.dataset, row.of):
        found = datasets.options_of(name, OVERLAY.datasets[name])
        options[name] = found.model_dump()

    assert_one_differs(row, options[row.dataset], options[row.of])
    for method in row.methods:
        assert OVERLAY.cells(method, row.dataset) == OVERLAY.cells(method, row.of)


def as_they_are(dataset):
    """The methods of a data set that are no variants, in the order of the rows."""
    own = [row for row in ROWS if row.dataset == dataset]
    return [row.method for row in own if not row.changes]


def test_rows_are_of_people_and_of_articles():
    found = dict.fromkeys(row.dataset for row in ROWS)

    assert list(found) == ["recidivism", "cora", "citeseer"]


def test_each_method_stands_as_it_is_by_the_order_of_only_methods():
    assert as_they_are("cora") == ["gat", "fairgat", "fairdrop"]
    # Variants that have a variant stand there, too.
    assert as_they_are("recidivism") == [
        "gat",
        "fairgnn",
        "edits",
        "nifty",
        "fairgat",
        "fairgat-constant-deviation",
        "fairgat-unscaled-scores",
        "fairgat-unscaled-logit",
    ]


def test_forms_of_a_data_set_stand_below_it():
    found = [(row.run_on, row.method, row.of) for row in ROWS[:3]]

    assert found == [
        ("recidivism", "gat", "gat"),
        ("recidivism-unscaled", "gat", "gat"),
        ("recidivism-by-row", "gat", "gat"),
    ]


def test_a_variant_of_one_task_has_no_row_in_the_other():
    capped = {row.dataset for row in ROWS if row.method == "fairgat-capped"}

    assert capped == {"cora", "citeseer"}


def test_one_rule_for_the_epoch_is_not_named():
    assert {row.rules for row in ROWS} == {""}


def test_several_rules_for_the_epoch_are_rows_of_node_classification():
    pairs = [("accuracy", "accuracy"), ("qian", "accuracy")]
    study = OVERLAY.study.model_copy(update={"epochs": pairs})

    varied = study_rows.rows(OVERLAY.model_copy(update={"study": study}))

    rules = {"node_classification": set(), "link_prediction": set()}
    for row in varied:
        rules[row.task].add(row.rules)
    assert rules["node_classification"] == {" (accuracy)", " (qian / accuracy)"}
    assert rules["link_prediction"] == {""}


def test_rows_do_not_depend_on_the_order_of_methods_in_files():
    """Snakemake lays config.yaml under the overlay, which gives another order."""
    turned = dict(reversed(OVERLAY.methods.items()))

    assert study_rows.rows(OVERLAY.model_copy(update={"methods": turned})) == ROWS


def test_a_page_of_the_study_has_its_rows():
    assert shown.study_settings(OVERLAY).comparisons == ROWS


ELSEWHERE = {"fairdrop": {"delta": 0.16}, "fairdrop-blind": {"delta": 0.0}}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} on {row.run_on}")
def test_every_method_runs_at_its_published_cell(row):
    (cell,) = OVERLAY.cells(row.method, row.run_on)

    published = OVERLAY.methods[base_of(row)].published.get(row.dataset, {})
    published = ELSEWHERE.get(row.method, published)
    assert cell == cells.to_path(published)
