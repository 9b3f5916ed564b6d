"""What may happen to a run on a cluster.

After each fault the tables are, byte for byte, those of an undisturbed local run.
"""

import compileall
import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cluster.conftest import HERE, Repository, Slurm, output_of
from tests.workflow.conftest import until

TABLES = ("comparison", "hyperparameters", "dataset_statistics")
RESULTS = "results/faults"
OVERLAYS = ("--configfile", "configs/demo.yaml", str(HERE / "faults.yaml"))
PROFILE = (
    "--profile",
    "profiles/slurm",
    "--cores",
    "1",
    "--slurm-init-seconds-before-status-checks",
    "5",
)


def targets(results: str) -> list[str]:
    return [
        "--config",
        f"results_dir={results}",
        "--",
        *(f"{results}/tables/{table}.md" for table in TABLES),
    ]


@dataclass
class Run:
    """A run with two cells in one batch."""

    slurm: Slurm
    repository: Repository
    before: set[str] = field(default_factory=set)
    process: subprocess.Popen | None = None

    def start(self, *arguments: str) -> subprocess.Popen:
        self.before = set(self.slurm.records()) | set(self.slurm.running())
        self.process = self.repository.start(
            *PROFILE, *arguments, *OVERLAYS, *targets(RESULTS)
        )
        return self.process

    def clear(self) -> None:
        """End what a test left behind that failed half-way."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for job in set(self.slurm.running()) - self.before:
            output_of("scancel", job)
        shutil.rmtree(self.repository.folder / ".snakemake/locks", ignore_errors=True)

    def finish(self, process: subprocess.Popen) -> str:
        said, _ = process.communicate(timeout=600)
        assert process.returncode == 0, said[-6000:]
        return said

    def cells(self) -> list[Path]:
        folder = (
            self.repository.folder
            / RESULTS
            / "runs/node_classification/demo-social/gat/default"
        )
        return sorted(folder.glob("split-*/run.json"))

    def batch(self) -> str:
        """The number of the Slurm job that trains, while it runs."""

        def training() -> str | None:
            jobs = [job for job in self.slurm.running() if job not in self.before]
            return next(
                (job for job in jobs if self.slurm.processes(job, "train.py")), None
            )

        return until(training)

    def second_cell(self) -> str:
        """Wait until one cell has ended and the other trains; gives their batch."""
        batch = self.batch()
        (finished,) = until(self.cells)
        until(
            lambda: any(
                job.create_time() > finished.stat().st_mtime
                for job in self.slurm.processes(batch, "train.py")
            )
        )
        return batch

    def states(self) -> list[str]:
        """How the batches of this run ended, in order."""
        jobs = {
            job: entry
            for job, entry in self.slurm.records().items()
            if job not in self.before
        }
        return [jobs[job]["JobState"] for job in sorted(jobs, key=int)]


@pytest.fixture(scope="module")
def undisturbed(repository) -> dict[str, bytes]:
    """The tables of a local run."""
    status, said = repository.run(
        "--cores", "2", *OVERLAYS, *targets("results/undisturbed")
    )
    assert status == 0, said[-5000:]
    return repository.tables("results/undisturbed")


@pytest.fixture
def run(slurm, repository, undisturbed) -> Iterator[Run]:
    slurm.start()  # all nodes up again, after a test that took one down
    folder = repository.folder / RESULTS
    for part in ("runs", "summary", "tables"):
        shutil.rmtree(folder / part, ignore_errors=True)
    run = Run(slurm, repository)
    yield run
    run.clear()
    assert repository.tables(RESULTS) == undisturbed


def test_a_training_job_is_killed(run):
    process = run.start()
    batch = run.second_cell()
    for job in run.slurm.processes(batch, "train.py"):
        job.send_signal(signal.SIGKILL)
    run.finish(process)
    assert run.states()[-2:] == ["FAILED", "COMPLETED"]


def test_a_batch_that_fails_for_good(run):
    process = run.start("--retries", "0")
    batch = run.second_cell()
    for job in run.slurm.processes(batch, "train.py"):
        job.send_signal(signal.SIGKILL)
    said, _ = process.communicate(timeout=600)
    assert process.returncode != 0
    assert "Traceback" not in said
    assert (
        f"see {RESULTS}/logs/train/node_classification/demo-social/gat/default/"
        in said.partition("Failed:")[2]
    )
    run.finish(run.start())


def test_a_job_is_cancelled(run):
    process = run.start()
    batch = run.second_cell()
    output_of("scancel", batch)
    run.finish(process)
    assert run.states()[-2:] == ["CANCELLED", "COMPLETED"]


def test_a_job_over_its_memory(run):
    # The collecting job, too: a batch gets what its neediest job asks for.
    process = run.start(
        "--set-resources", "collect:mem_mb=420", "train:mem_mb=attempt*420"
    )
    said = run.finish(process)
    assert run.states()[-1] == "COMPLETED"
    assert "FAILED" in run.states() or "OUT_OF_MEMORY" in run.states()
    logs = "".join(
        path.read_text()
        for path in run.repository.folder.glob("logs/slurm/group_cells_*/*.log")
    )
    assert "Exceeded job memory limit" in logs or "oom" in logs.lower(), said[-3000:]


def test_a_job_over_its_time(run):
    process = run.start(
        "--set-resources",
        "collect:runtime=0",
        "train:runtime=attempt if attempt == 1 else 20",
    )
    batch = run.second_cell()
    output_of("scontrol", "update", f"JobId={batch}", "TimeLimit=1")
    for job in run.slurm.processes(batch, "train.py"):
        job.suspend()  # it takes for ever
    run.finish(process)
    assert run.states()[-2:] == ["TIMEOUT", "COMPLETED"]


def test_a_node_goes_down(run):
    process = run.start()
    batch = run.second_cell()
    node = run.slurm.running()[batch]
    stepd = ["pgrep", "-f", rf"slurmstepd: \[{batch}\."]
    # The daemons first: one that saw its job die would report that the job failed
    doomed = [int(Path(f"/run/slurm-test/slurmd.{node}.pid").read_text())]
    doomed += map(
        int,
        subprocess.run(
            stepd, capture_output=True, text=True, check=False
        ).stdout.split(),
    )
    doomed += [job.pid for job in run.slurm.processes(batch)]
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.finish(process)
    assert run.states()[-2:] == ["NODE_FAIL", "COMPLETED"]


def test_the_run_itself_is_killed_and_started_again(run):
    process = run.start()
    run.second_cell()
    process.kill()
    said, _ = process.communicate()
    # docs/cluster.md: end what it left in the queue, unlock, run again.
    name = re.search(r"SLURM run ID: (\S+)", said)[1]
    output_of("scancel", f"--name={name}")
    until(lambda: not run.slurm.running())
    assert run.repository.run("--unlock")[0] == 0
    run.finish(run.start())


def test_a_disk_that_fills(tmp_path, undisturbed, repository):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        small = Repository(disk / "repository", kernels=tmp_path / "kernels")
        # Python 3.11 leaves half a .pyc where the disk is full (gh-126606).
        compileall.compile_dir(small.folder, quiet=1)
        filler = disk / "filler"
        with open(filler, "wb") as file:
            file.truncate(0)
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - 200_000)
        status, said = small.run("--cores", "1", *OVERLAYS, *targets(RESULTS))
        assert status != 0
        assert os.strerror(errno.ENOSPC) in said
        filler.unlink()
        small.run("--unlock")
        status, said = small.run("--cores", "1", *OVERLAYS, *targets(RESULTS))
        assert status == 0, said[-5000:]
        assert small.tables(RESULTS) == undisturbed
    finally:
        subprocess.run(["umount", str(disk)], check=True)
