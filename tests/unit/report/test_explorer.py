"""explore.html: everything of a finished run is in it, and nothing is loaded from elsewhere."""

import re
import shutil
import subprocess

import pandas as pd
import pytest
from small_results import LINK, NASTY, NODE

from fairgat.config import shown
from fairgat.files import write_text
from fairgat.report import charts, explorer
from fairgat.scores.runs import read


@pytest.fixture(scope="module")
def files(audited):
    return {kind: audited.files(kind) for kind in ("cells", "winners", "histories", "audit")}


@pytest.fixture(scope="module")
def page(plan, files):
    return explorer.page(shown.explorer_settings(plan.config), files)


def test_every_finished_cell_is_a_point(plan, files):
    given, cells = shown.explorer_settings(plan.config), read(*files["cells"])
    points = explorer.points(given, NODE, cells, read(*files["winners"]))
    row = points.query("dataset == 'Recidivism' and cell == 'alpha_chi_max 0.25, eta 0.75' and part == 'test'").iloc[0]
    assert (row["method"], row["measure"], row["splits"]) == ("FairGAT", "ΔSP (%), lower is better", 3)
    assert (row["accuracy_text"], row["value_text"]) == ("95.73 ± 0.10", "10.00 ± 0.00")
    assert row["paper"] == "94.93 ± 0.15, 7.39 ± 1.76"
    assert row["folder"] == "runs/node_classification/recidivism/fairgat/alpha_chi_max~0.25/eta~0.75"
    chosen = points[points["by_accuracy"] & (points["method"] == "FairGAT")]
    assert set(chosen["cell"]) == {"alpha_chi_max 0.25, eta 0.75"}
    assert set(points["method"]) == {"GAT", "EDITS", "FairGAT", "Steps 1&2"}  # NIFTY failed
    finished = cells[cells["dataset"].isin(["recidivism", "odd"])].drop_duplicates(["dataset", "method", "cell"])
    assert len(points) == len(finished) * 2 * 2  # parts and measures


def test_axes_fit_the_chosen_cells_with_their_deviations(plan, files):
    given = shown.explorer_settings(plan.config)
    points = explorer.points(given, NODE, read(*files["cells"]), read(*files["winners"]))
    ends = charts.fits(points, ["accuracy"], ["GAT", "FairGAT"], "fair")["Recidivism|test|accuracy"]
    mine = points.query("dataset == 'Recidivism' and part == 'test'")
    near = mine[mine["by_fair"] & mine["method"].isin(["GAT", "FairGAT"])]
    for extent, rows in (("near", near), ("all", mine)):
        low, high = ends[extent]
        mean, std = rows["accuracy"], rows["accuracy_std"]
        assert low < (mean - std).min() < (mean + std).max() < high
    assert ends["near"][0] > ends["all"][0]  # a cell that nobody chose is far off
    lacking = points.assign(value=points["value"].where(points["dataset"] != "Recidivism"))
    known = charts.fits(lacking, ["accuracy"], ["GAT"], "fair")
    assert [key for key in known if "Recidivism|test" in key] == ["Recidivism|test|accuracy"]


def test_curves_are_means_over_the_splits_in_few_points(plan, files, tmp_path):
    paths = [tmp_path / f"runs/node_classification/x/gat/default/split-{k}/history.csv" for k in range(2)]
    for k, path in enumerate(paths):
        lines = [f"{epoch},{0.1 * k + 0.001 * epoch}" for epoch in range(1, 201)]
        write_text(path, "\n".join(["epoch,validation_accuracy", *lines, ""]))
    cells = pd.DataFrame({"dataset": "x", "method": "gat", "cell": ["default", "failed"]})
    curves = explorer.curves(NODE, cells, {"histories": paths})
    (curve,) = curves.to_dict("records")
    assert curve["folder"] == "runs/node_classification/x/gat/default"
    assert len(curve["epoch"]) == explorer.POINTS and curve["epoch"][:2] == [2.5, 6.5]
    assert curve["Accuracy (%)"][:2] == pytest.approx([5.25, 5.65])


def test_a_run_of_thousands_of_points_has_a_page(plan, files):
    points = explorer.points
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorer, "points", lambda *given: pd.concat([points(*given)] * 200))
        assert "FairGAT" in explorer.page(shown.explorer_settings(plan.config), files)


def test_the_page_needs_no_network(page, plan, files):
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|<link[^>]* href)=["']?(?!["']?data:)""", markup) and "<script" not in markup
    assert page.count("<section ") == 3  # two tasks, and published beside reproduced
    without = explorer.page(shown.explorer_settings(plan.config), files | {"histories": []})
    assert "no history.csv" in without and "no history.csv" not in page


def test_it_opens_in_a_browser_without_an_error(page, tmp_path):
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("chromium is not installed")
    (tmp_path / "explore.html").write_text(page)
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        f"--user-data-dir={tmp_path}/profile", "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom",
        f"file://{tmp_path}/explore.html",
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "Uncaught" not in run.stderr and len(re.findall(r'<svg[^>]*class="marks"', run.stdout)) == 3
    assert run.stdout.count("<select") == 6 + 6 + 2
    assert NASTY.split(" ")[0].replace("&", "&amp;") in run.stdout and LINK not in run.stdout.split("<section ")[0]
