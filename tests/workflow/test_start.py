"""A run is started in a copy, from another folder, as a module of another workflow."""

import os
import shutil
import subprocess

import numpy as np
import pytest

from tests.workflow.conftest import DEMO, RESULTS, Workflow

OTHER = """
configfile: "mine.yaml"
module fairgat:
    snakefile: {snakefile}
    config: config["fairgat"]
use rule * from fairgat as fairgat_*
rule all:
    default_target: True
    input: "fair/data/graphs/demo-social.stats.json"
    output: "counts.json"
    shell: "cp {{input}} {{output}}"
"""
SETTINGS = """
fairgat:
  results_dir: fair
  only_datasets: [demo-social]
  datasets: { demo-social: { task: node_classification, options: { nodes: 300 } } }
"""


def test_a_copied_checkout_has_nothing_to_do(demo, tmp_path):
    """Copied as `cp -r` does it, with new times for everything."""
    folder = shutil.copytree(
        demo.folder, tmp_path / "copy", copy_function=shutil.copyfile
    )
    (folder / "workflow_scripts/train.py").touch()
    run = Workflow(folder).snakemake("-n")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout


def test_another_content_runs_again_and_another_time_alone_does_not(finished):
    """As `git checkout` and `touch` leave it, and as `cp -p` and rsync do."""
    for path in [
        *finished.folder.glob("fairgat/**/*.py"),
        *finished.folder.glob("workflow_scripts/*.py"),
    ]:
        path.touch()
    assert not finished.planned()
    module = finished.folder / "fairgat/methods/gat.py"
    module.write_text(module.read_text() + "\n# an older copy\n")
    os.utime(module, (0, 0))
    assert any(line.startswith("Train gat ") for line in finished.planned())


def test_what_snakemake_would_pass_over_is_refused(demo):
    run = demo.snakemake("-n", "--configfile", "configs/own.yaml")
    assert run.returncode != 0
    assert f"Write: --configfile {DEMO} configs/own.yaml" in run.stdout


def test_results_of_another_checkout_are_not_gone_on_with(fresh):
    fresh.results.mkdir(parents=True)
    (fresh.results / ".snakemake-key").write_text("of another checkout")
    run = fresh.snakemake("-n")
    assert run.returncode != 0
    assert f"{RESULTS} was made from another folder" in run.stdout


def test_a_file_of_earlier_versions_names_its_successor(demo):
    folder = f"{RESULTS}/runs/node_classification/demo-social/gat/default/split-0"
    run = demo.snakemake("-n", "--", f"{folder}/metrics.json")
    assert run.returncode != 0
    assert "Ask for run.json" in run.stdout


@pytest.mark.parametrize("path", ["methods/gat.py", "report/tables/theory.py"])
def test_an_error_in_the_code_of_a_finished_run_is_said_in_a_dry_run(finished, path):
    module = finished.folder / "fairgat" / path
    text = module.read_text() + "\nx = (\n"
    module.write_text(text)

    run = finished.snakemake("-n")

    assert run.returncode != 0
    assert module.name in run.stdout
    last_line = len(text.splitlines())
    assert f"line {last_line}" in run.stdout
    assert "Nothing to be done" not in run.stdout
    assert "Traceback" not in run.stdout


def test_scores_that_were_cut_off_make_no_table(finished):
    shard = finished.results / "runs/node_classification/demo-social/gat/runs.csv"
    lines = shard.read_text().splitlines(keepends=True)
    shard.write_text("".join(lines[: len(lines) // 2]))
    means = ("--", f"{RESULTS}/summary/node_classification/cells.csv")
    run = finished.snakemake(*means)
    assert run.returncode != 0
    assert f"{shard.relative_to(finished.folder)} was changed after" in run.stdout
    shard.unlink()  # as it says
    assert finished.snakemake(*means).returncode == 0
    assert shard.read_text() == "".join(lines)


def test_from_another_folder_with_the_report(finished, tmp_path):
    start = ("-s", str(finished.folder / "Snakefile"))
    demo = (str(finished.folder / DEMO),)
    run = Workflow(tmp_path).snakemake(*start, "-n", "-q", "rules", overlays=demo)
    assert run.returncode == 0, run.stdout
    assert "train" in run.stdout

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in (".snakemake", "results"):
        (finished.folder / name).rename(folder / name)
    run = Workflow(folder).snakemake(*start, "--report", "report.html", overlays=demo)
    assert run.returncode == 0, run.stdout
    assert (folder / "report.html").stat().st_size > 1e6


def test_as_a_module_of_another_workflow(fresh, tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "mine.yaml").write_text(SETTINGS)
    snakefile = fresh.folder / "Snakefile"
    (folder / "Snakefile").write_text(OTHER.format(snakefile=f'"{snakefile}"'))
    run = Workflow(folder).snakemake(overlays=())
    assert run.returncode == 0, run.stdout
    assert (folder / "counts.json").exists()
    run = Workflow(folder).snakemake("-n", "fairgat_all", overlays=())
    assert run.returncode == 0, run.stdout
    assert "fair/tables/comparison.md" in run.stdout


def test_as_a_module_out_of_a_repository(fresh, tmp_path):
    """Git takes a folder of this machine for GitHub."""
    hub = tmp_path / "hub/someone/fairgat"
    shutil.copytree(fresh.folder, hub)
    git = [
        "git",
        "-C",
        str(hub),
        "-c",
        "user.name=someone",
        "-c",
        "user.email=someone@example.org",
    ]
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-q", "-m", "Everything"],
        ["tag", "v1"],
    ):
        subprocess.run([*git, *command], check=True, capture_output=True)
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "mine.yaml").write_text(SETTINGS)
    (folder / "Snakefile").write_text(
        OTHER.format(snakefile='github("someone/fairgat", path="Snakefile", tag="v1")')
    )
    run = Workflow(folder).snakemake(
        overlays=(),
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{tmp_path}/hub/.insteadOf",
        GIT_CONFIG_VALUE_0="https://github.com/",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        PYTHONPATH=str(hub),  # as if it were installed
    )
    assert run.returncode == 0, run.stdout
    assert (folder / "counts.json").exists()


def test_edits_is_given_memory_for_all_pairs_of_nodes(fresh):
    """As a cluster is asked for it."""
    for path in ("raw/demo-social/manifest.json", "inputs/demo-social/file"):
        (fresh.results / "data" / path).parent.mkdir(parents=True)
        (fresh.results / "data" / path).write_text("")
    graph = fresh.results / "data/graphs/demo-social.npz"
    graph.parent.mkdir()
    np.savez_compressed(graph, labels=np.zeros(50_000, dtype=np.int64))
    graph.with_suffix(".columns.json").write_text("")
    split = fresh.results / "data/splits/node_classification/demo-social/split-0.npz"
    split.parent.mkdir(parents=True)
    split.write_text("")
    submit = "echo {resources.mem_mb} > asked; false"

    fresh.snakemake(
        *("--executor", "cluster-generic", "--cluster-generic-submit-cmd", submit),
        *("--jobs", "1", "--"),
        f"{RESULTS}/data/debiased/demo-social/edits/split-0.npz",
    )

    needed = 2 * 4 * 50_000**2 / 1e6
    assert needed < int((fresh.folder / "asked").read_text()) < 1.2 * needed


OWN = {
    "mine.py": "from fairgat.methods.gat import NodeClassification, Settings\n"
    "from .helper import WEIGHT\n",
    "helper.py": "WEIGHT = 2.0\n",
    "mine.yaml": "only_datasets: [demo-social]\nonly_methods: [mine]\n"
    "methods: {mine: {module: mine.py, tasks: [node_classification]}}\n",
}


def test_a_method_by_its_path_reaches_submitted_jobs(fresh):
    """With what it imports; as on Slurm, each job is a Snakemake of its own."""
    (fresh.folder / "my").mkdir()
    for name, text in OWN.items():
        (fresh.folder / "my" / name).write_text(text)
    run = "runs/node_classification/demo-social/mine/default/split-0/run.json"
    submit = ("--executor", "cluster-generic", "--cluster-generic-submit-cmd", "bash")
    said = fresh.snakemake(
        *submit,
        "--jobs",
        "1",
        "--",
        f"{RESULTS}/{run}",
        overlays=(DEMO, "my/mine.yaml"),
    )
    assert said.returncode == 0, said.stdout[-5000:]
    assert (fresh.results / run).exists()
