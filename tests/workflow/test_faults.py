"""What may happen to a run on one machine.

After each fault the tables are those of an undisturbed run.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.workflow.conftest import DEMO, Workflow, until

pytestmark = pytest.mark.slow

RESULTS = "results/faults"
TABLE = f"{RESULTS}/tables/comparison.md"
OVERLAY = Path(__file__).with_name("faults.yaml")
CELLS = ("gat/default", "fairgat/alpha_chi_max~0.5/eta~1.0")


class Small(Workflow):
    """The workflow on one data set, two cells and a few epochs."""

    def start(self, *arguments: str, cores: int = 1, **options) -> subprocess.Popen:
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            str(cores),
            "--max-jobs-per-timespan",
            "100/1s",
        ]
        settings = [
            "--config",
            f"results_dir={RESULTS}",
            "--configfile",
            DEMO,
            str(OVERLAY),
        ]
        return subprocess.Popen(
            [*command, *arguments, *settings, "--", TABLE],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def run(self, *arguments: str, cores: int = 1, **options) -> tuple[int, str]:
        """Exit status and everything said."""
        process = self.start(*arguments, cores=cores, **options)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def finish(self) -> None:
        """Give the same command again, as a user does after any fault.

        On two cores, which must change no digit.
        """
        status, said = self.run(cores=2)
        assert status == 0, said[-5000:]

    def shown(self) -> list[bytes]:
        """The table, and the summary that has every digit."""
        return [
            (self.folder / path).read_bytes()
            for path in (TABLE, f"{RESULTS}/summary/node_classification/cells.csv")
        ]

    def output(self, cell: str) -> Path:
        return (
            self.folder
            / f"{RESULTS}/runs/node_classification/demo-social/{cell}/split-0/run.json"
        )

    def made(self) -> dict[str, int]:
        """The cells that are trained, and when."""
        return {
            cell: self.output(cell).stat().st_mtime_ns
            for cell in CELLS
            if self.output(cell).exists()
        }

    def logs_since(self, begin: float) -> list[Path]:
        """The logs of trainings that were opened since then."""
        logs = self.folder.glob(f"{RESULTS}/logs/train/**/*.log")
        return [log for log in logs if log.stat().st_mtime >= begin]

    def undo_training(self) -> None:
        """Go back to where the graph and the split are there and nothing is trained."""
        for part in ("runs", "summary", "tables"):
            shutil.rmtree(self.folder / RESULTS / part, ignore_errors=True)


def training(run: subprocess.Popen) -> list[psutil.Process]:
    """The processes of a run that train."""
    found = []
    for process in psutil.Process(run.pid).children(recursive=True):
        try:
            if process.name().startswith("python") and "".join(
                process.cmdline()[-1:]
            ).endswith("train.py"):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def second_cell(run: subprocess.Popen) -> None:
    """Wait until one cell has been trained and the other is in training."""
    first = until(lambda: training(run))[0]
    until(lambda: any(job != first for job in training(run)))


@pytest.fixture(scope="module")
def whole(demo, tmp_path_factory) -> tuple[Small, list[bytes]]:
    """A run on one core, and what it shows; in a copy of the demo, with its kernels."""
    small = Small(
        shutil.copytree(demo.folder, tmp_path_factory.mktemp("faults") / "repository")
    )
    status, said = small.run()
    assert status == 0, said[-5000:]
    return small, small.shown()


@pytest.fixture
def small(whole) -> Iterator[Small]:
    """That run, to disturb and to finish: it then shows what it showed."""
    small, shown = whole
    shutil.rmtree(
        small.folder / ".snakemake/locks", ignore_errors=True
    )  # where another test failed half-way
    yield small
    assert small.shown() == shown


def test_jobs_and_runs_that_are_killed(small):
    small.undo_training()
    run = small.start()
    until(lambda: training(run))[0].kill()
    said, _ = run.communicate(timeout=300)
    assert run.returncode != 0
    assert (
        f"see {RESULTS}/logs/train/node_classification/demo-social/"
        in said.partition("Failed:")[2]
    )
    before = small.made()
    assert len(before) == 1  # the other cell did not stop with it

    run = small.start()
    job = until(lambda: training(run))[0]
    until(lambda: small.logs_since(job.create_time()))  # the job is in its script
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    until(lambda: not job.is_running(), 15)
    status, said = small.run()
    assert status != 0
    assert "--unlock" in said  # what to do
    assert small.run("--unlock")[0] == 0
    small.finish()
    assert before.items() <= small.made().items()  # what was finished stayed finished


def test_ctrl_c(small):
    """The terminal sends it to Snakemake and to its jobs alike."""
    small.undo_training()
    handler = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what runs in the background may ignore it
    run = small.start(start_new_session=True)
    signal.signal(signal.SIGINT, handler)
    second_cell(run)
    before = small.made()
    time.sleep(0.5)  # so that the job is in its script
    os.killpg(run.pid, signal.SIGINT)
    said, _ = run.communicate(timeout=120)
    assert run.returncode != 0
    assert "Traceback" not in said
    stopped = small.made()  # the first cell's files may have landed meanwhile
    small.finish()  # no --unlock
    assert (
        before.items() <= stopped.items() <= small.made().items()
    )  # nothing half-written


def test_a_second_ctrl_c(small):
    """A job that is suspended heeds none, as one that computes may not for minutes."""
    small.undo_training()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = small.start(start_new_session=True)
    signal.signal(signal.SIGINT, handler)
    job = until(lambda: training(run))[0]
    until(lambda: small.logs_since(job.create_time()))  # the job is in its script
    job.suspend()
    os.killpg(run.pid, signal.SIGINT)
    time.sleep(5)
    assert run.poll() is None
    os.killpg(run.pid, signal.SIGINT)
    said, _ = run.communicate(timeout=30)
    assert run.returncode != 0 and not job.is_running()
    assert "Ctrl-C again kills them" in said and "Traceback" not in said
    small.finish()  # no --unlock


def test_two_runs_in_one_directory(small):
    small.undo_training()
    first = small.start()
    job = until(lambda: training(first))[0]
    job.suspend()  # so that the first run outlasts the second
    status, said = small.run()
    job.resume()
    assert status != 0
    assert "locked" in said
    rest, _ = first.communicate(timeout=300)
    assert first.returncode == 0, rest[-5000:]


def test_files_that_cannot_be_written_or_read(small):
    small.undo_training()
    # As on a full disk, writes fail: no file may grow beyond 1 kB. The workflow's own
    # few records are there already.
    limit = 1024
    status, said = small.run(
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert status != 0
    assert not small.made()
    assert not list(small.folder.glob(f"{RESULTS}/runs/**/*.tmp"))
    assert "cannot be written" in said or "File too large" in said

    graph = small.folder / f"{RESULTS}/data/graphs/demo-social.npz"
    graph.write_bytes(graph.read_bytes()[:-100])
    status, said = small.run()
    assert status != 0
    assert f"{graph.relative_to(small.folder)} " in said  # which file, and what to do
    assert "Delete it and run again" in said
    assert "Traceback" not in said
    graph.unlink()
    small.finish()

    record = small.output(CELLS[0])
    record.write_bytes(record.read_bytes()[:-100])
    status, said = small.run()
    assert status != 0
    assert f"{record.relative_to(small.folder)} " in said
    record.unlink()
    small.finish()
