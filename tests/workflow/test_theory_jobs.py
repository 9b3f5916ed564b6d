"""The theory's rules in a run of the demo."""

import csv


def test_every_method_of_the_table_is_measured(finished):
    for method in ("gat", "fairgat-steps-12", "fairgat-steps-13", "fairgat-steps-23", "fairgat"):
        rows = list(csv.DictReader((finished.folder / f"results/demo/theory/demo-social/{method}.csv").open()))
        assert len(rows) == 2 * 4  # splits and layers
        assert all(float(row["delta_out"]) <= float(row["bound_sharp"]) * (1 + 1e-4) for row in rows)
        fair = "fairgat" in method and "23" not in method
        assert all((float(row["alpha_chi_std"]) < 1e-6) == fair for row in rows if row["alpha_chi_std"])


def test_its_table_and_figure_are_there(finished):
    assert "Theorem 1" in (finished.folder / "results/demo/tables/theory.md").read_text()
    for form in ("pdf", "png", "svg"):
        assert (finished.folder / f"results/demo/figures/theory.{form}").stat().st_size > 1000


def test_editing_the_theory_measures_anew_and_trains_nothing(finished):
    with finished.edited("fairgat/theory/layers.py"):
        planned = finished.planned()
    assert any("Measuring the terms" in line for line in planned)
    assert not any(line.startswith("Train ") for line in planned)
