"""The workflow begun later, on the training of an earlier run."""

import pytest

from tests.workflow.conftest import RESULTS

JUDGED = "results/judged"
AGAIN = ("--config", f"judge_from={RESULTS}", f"results_dir={JUDGED}")


def same(folder):
    """Which tables, figures, scores and audit pages are the demo's, and which not."""
    kinds = {True: [], False: []}
    for name in ("tables", "figures", "summary", "audit"):
        for path in sorted((folder / JUDGED / name).rglob("*.*")):
            if path.suffix == ".sha256":  # lists PNG files, too
                continue
            place = path.relative_to(folder / JUDGED)
            equal = path.read_bytes() == (folder / RESULTS / place).read_bytes()
            kinds[equal].append(place.as_posix())
    return kinds[True], kinds[False]


@pytest.mark.slow
def test_a_finished_run_is_judged_anew_and_nothing_is_trained(finished):
    planned = finished.planned(*AGAIN)
    assert {line.split()[0] for line in planned} == {
        *("Take", "Judge", "Average", "Render", "Collect", "Draw", "Compare", "Record")
    }
    run = finished.snakemake(*AGAIN)
    assert run.returncode == 0, run.stdout[-5000:]
    equal, other = same(finished.folder)
    assert not [name for name in other if not name.endswith(".png")]
    assert "tables/theory.md" in equal and "audit/paired.csv" in equal


def test_published_scores_suffice_for_the_tables_of_scores(finished):
    for run in finished.results.glob("runs/*/*/*/*/split-1"):
        (run / "predictions.npz").unlink()
    target = f"{JUDGED}/tables/comparison.md"
    run = finished.snakemake(*AGAIN, "--", target)
    assert run.returncode == 0, run.stdout[-5000:]
    assert "Judge " not in run.stdout
    equal, other = same(finished.folder)
    assert "tables/comparison.md" in equal and not other
