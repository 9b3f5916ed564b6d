"""explore.html: everything of a finished run is in it, and nothing is loaded from elsewhere."""

import re
import shutil
import subprocess

import pytest
from small_results import NASTY, NODE

from fairgat import frames
from fairgat.config import shown
from fairgat.report import explorer
from fairgat.scores.runs import read


@pytest.fixture(scope="module")
def given(audited):
    """The settings and the files."""
    files = {kind: audited.files(kind) for kind in explorer.READS}
    return shown.explorer_settings(audited.config), files


@pytest.fixture(scope="module")
def page(given):
    return explorer.page(*given)


def test_every_finished_cell_is_a_point_and_so_is_what_was_published(given):
    settings, files = given
    points = explorer.points(settings, NODE, files)
    here = points.query(
        "dataset == 'Recidivism' and part == 'test' and measure == 'ΔSP (%), lower is better'"
    )
    ours, paper = here.query("method == 'FairGAT' and kind != 'a cell'").to_dict(
        "records"
    )
    assert (ours["utility_text"], ours["value_text"], ours["splits"]) == (
        "94.73 ± 0.10",
        "8.00 ± 0.00",
        3,
    )
    assert (
        ours["cell"] == "alpha_chi_max 0.25, eta 1.0"
    )  # within a point of the best, and fairer
    assert (ours["utility_low"], ours["utility_high"]) == (94.63, 94.83)
    assert (
        ours["folder"] == f"runs/{NODE}/recidivism/fairgat/alpha_chi_max~0.25/eta~1.0"
    )
    assert (paper["utility_text"], paper["value_text"]) == (
        "94.93 ± 0.15",
        "7.39 ± 1.76",
    )
    finished = read(*files["cells"]).query("dataset in ('recidivism', 'odd')")
    finished = finished.drop_duplicates(["dataset", "method", "cell"])
    assert (points["kind"] != explorer.PUBLISHED).sum() == len(
        finished
    ) * 2 * 2  # parts and measures


def test_it_opens_with_a_verdict(given, tmp_path):
    settings, files = given
    runs = read(*files["runs"])
    mine = (
        (runs["method"] == "fairgat")
        & (runs["dataset"] == "recidivism")
        & (runs["metric"] != "equal_opportunity")
    )
    runs.loc[mine, "value"] -= (
        0.001 * runs["split"]
    )  # else all splits differ by one amount, which has no interval
    frames.write(tmp_path / "runs.csv", runs)
    numbers, *verdicts = explorer.verdicts(
        settings, files | {"runs": [tmp_path / "runs.csv"]}
    )
    assert re.search(r"The paper's 117 numbers beside ours: .*\d+ not run", numbers)
    (said,) = (text for text in verdicts if text.startswith("Recidivism"))
    assert (
        said
        == "Recidivism: FairGAT is better in ΔSP, worse in Accuracy, of 3 measures on 3 splits."
    )


def test_the_page_needs_no_network(page):
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert (
        not re.findall(r"""(?:src|<link[^>]* href)=["']?(?!["']?data:)""", markup)
        and "<script" not in markup
    )


def test_it_opens_in_a_browser_without_an_error(page, tmp_path):
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("chromium is not installed")
    (tmp_path / "explore.html").write_text(page)
    command = [
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={tmp_path}/profile",
        "--enable-logging=stderr",
        "--virtual-time-budget=5000",
        "--dump-dom",
        f"file://{tmp_path}/explore.html",
    ]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True
    )
    assert (
        "Uncaught" not in run.stderr
        and len(re.findall(r'<svg[^>]*class="marks"', run.stdout)) == 1
    )
    assert run.stdout.count("<select") == 2
    assert NASTY.split(" ")[0].replace("&", "&amp;") in run.stdout
