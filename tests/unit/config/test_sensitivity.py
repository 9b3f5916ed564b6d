"""The overlay beyond/studies/sensitivity.yaml: its variants each differ in one decision."""

from pathlib import Path

import pytest

from fairgat import cells, config, methods
from fairgat.config import shown, study_rows
from fairgat.data import datasets

ROOT = Path(__file__).resolve().parents[3]
OVERLAY = config.load_files(
    ROOT / "config.yaml", ROOT / "beyond/studies/sensitivity.yaml"
)
SHIPPED = config.load_files(ROOT / "config.yaml")
ROWS = study_rows.rows(OVERLAY)


def test_the_overlay_is_valid_and_varies_nothing_else():
    methods.check(OVERLAY)
    datasets.check(OVERLAY)
    for part in ("training", "splits", "seed", "aggregation"):
        assert getattr(OVERLAY, part) == getattr(SHIPPED, part)
    for name, entry in SHIPPED.datasets.items():
        assert OVERLAY.datasets[name] == entry
    for name, entry in SHIPPED.methods.items():
        unsearched = {"grid": entry.grid, "grids": entry.grids}
        assert OVERLAY.methods[name].model_copy(update=unsearched) == entry
    variants = {row.method for row in OVERLAY.study.rows if row.method}
    assert set(OVERLAY.only_methods) == {
        *variants,
        "gat",
        *(row.of for row in OVERLAY.study.rows if row.method),
    }


def settled(method, dataset, module):
    """Every setting of a method's one cell on a data set, defaults included, as `module` reads them."""
    (cell,) = OVERLAY.cells(method, dataset)
    return methods.settings(
        module, OVERLAY.methods[method].settings | cells.from_path(cell)
    ).model_dump()


@pytest.mark.parametrize(
    "row", OVERLAY.study.rows, ids=lambda row: row.method or row.dataset
)
def test_a_variant_differs_in_one_setting(row):
    if row.method:
        module = OVERLAY.module(
            row.method
        )  # where it differs from the method's own, it only knows more settings
        run = [
            name
            for task in OVERLAY.methods[row.method].tasks
            for name in OVERLAY.datasets_of(task)
        ]
        of = (
            "fairgat" if row.of.startswith("fairgat") else row.of
        )  # where it is the variant of a variant
        run = [name for name in run if name in (OVERLAY.methods[of].published or run)]
        pairs = [
            (settled(row.method, name, module), settled(row.of, name, module))
            for name in run
        ]
    else:
        pairs = [
            [
                datasets.options_of(n, OVERLAY.datasets[n]).model_dump()
                for n in (row.dataset, row.of)
            ]
        ]
        assert all(
            OVERLAY.cells(name, row.dataset) == OVERLAY.cells(name, row.of)
            for name in row.methods
        )
    assert pairs
    for ours, theirs in pairs:
        changed = [name for name in ours if ours[name] != theirs[name]]
        assert len(changed) == 1
        assert f"({changed[0]})" in row.changes


def test_the_rows():
    """Each method as it is, then its variants, by the order of only_methods."""
    assert list(dict.fromkeys(row.dataset for row in ROWS)) == [
        "recidivism",
        "cora",
        "citeseer",
    ]
    people, papers = (
        [row for row in ROWS if row.dataset == name] for name in ("recidivism", "cora")
    )
    readings = [
        f"fairgat-{name}"
        for name in ("constant-deviation", "unscaled-scores", "unscaled-logit")
    ]
    bases = [row.method for row in people if not row.changes]
    assert bases == [
        "gat",
        "fairgnn",
        "edits",
        "nifty",
        "fairgat",
        *readings,
    ]  # variants that have a variant
    assert [row.method for row in papers if not row.changes] == [
        "gat",
        "fairgat",
        "fairdrop",
    ]
    forms = ["recidivism", "recidivism-unscaled", "recidivism-by-row"]
    assert [(row.run_on, row.method, row.of) for row in people[:3]] == [
        (form, "gat", "gat") for form in forms
    ]
    capped = [
        any(row.method == "fairgat-capped" for row in rows) for rows in (people, papers)
    ]
    assert capped == [False, True]
    assert not any(row.rules for row in ROWS)
    rules = OVERLAY.study.model_copy(
        update={"epochs": [("accuracy", "accuracy"), ("qian", "accuracy")]}
    )
    varied = study_rows.rows(OVERLAY.model_copy(update={"study": rules}))
    assert {row.rules for row in varied if row.task == "node_classification"} == {
        " (accuracy)",
        " (qian / accuracy)",
    }
    assert not any(row.rules for row in varied if row.task == "link_prediction")
    # Snakemake lays config.yaml under the overlay, so that the order of `methods` is another one there.
    turned = OVERLAY.model_copy(
        update={"methods": dict(reversed(OVERLAY.methods.items()))}
    )
    assert study_rows.rows(turned) == ROWS
    assert shown.study_settings(OVERLAY).comparisons == ROWS


def test_every_method_runs_at_its_published_cell():
    for row in ROWS:
        of = "fairgat" if row.of.startswith("fairgat") else row.of
        published = (
            {"delta": 0.16}
            if of == "fairdrop"
            else OVERLAY.methods[of].published.get(row.dataset, {})
        )
        if row.method != "fairdrop-blind":
            assert OVERLAY.cells(row.method, row.run_on) == [cells.to_path(published)]
