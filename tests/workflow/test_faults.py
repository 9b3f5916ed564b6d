"""What may happen to a run on one machine. After each, the tables are byte for byte those of an undisturbed run."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.workflow.conftest import Workflow

RESULTS = "results/faults"
TABLES = [f"{RESULTS}/tables/{table}.md" for table in ("comparison", "hyperparameters", "dataset_statistics")]
OVERLAY = Path(__file__).with_name("faults.yaml")
CELLS = ("gat/default", "fairgat/alpha_chi_max~0.5/eta~1.0")


class Small(Workflow):
    """The workflow on one data set, two cells and a few epochs."""

    def start(self, *arguments: str, cores: int = 1, **options) -> subprocess.Popen:
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
        settings = ["--config", f"results_dir={RESULTS}", "--configfile", "configs/demo.yaml", str(OVERLAY)]
        return subprocess.Popen(
            [*command, *settings, "--", *TABLES],
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

    def finish(self, cores: int = 2) -> str:
        """What a user does after any fault: the same command again. On two cores, which must change no digit."""
        status, said = self.run(cores=cores)
        assert status == 0, said[-5000:]
        return said

    def tables(self) -> list[bytes]:
        """The tables, and the summary that has every digit."""
        summary = f"{RESULTS}/summary/node_classification.csv"
        return [(self.folder / path).read_bytes() for path in [*TABLES, summary]]

    def output(self, cell: str, name: str = "metrics.json") -> Path:
        return self.folder / f"{RESULTS}/runs/node_classification/demo-social/{cell}/split-0/{name}"

    def undo_training(self) -> None:
        """Back to where the graph and the split are there and nothing is trained."""
        for part in ("runs", "selection", "summary", "tables"):
            shutil.rmtree(self.folder / RESULTS / part, ignore_errors=True)


def until(condition: Callable[[], object], seconds: float = 60) -> object:
    """The first true value of the condition."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)
    return value


def jobs_of(run: subprocess.Popen, script: str) -> list[psutil.Process]:
    """The processes of a run that execute a script."""
    found = []
    for process in psutil.Process(run.pid).children(recursive=True):
        try:
            if process.name().startswith("python") and "".join(process.cmdline()[-1:]).endswith(script):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.fixture(scope="module")
def whole(finished) -> tuple[Small, list[bytes]]:
    """A finished run on one core, beside the demo's so that its kernels are compiled already, and its tables."""
    small = Small(finished.folder)
    small.finish(cores=1)
    return small, small.tables()


@pytest.fixture
def small(whole) -> Iterator[Small]:
    """A finished run to disturb and to finish; its tables must then be what they were."""
    small, tables = whole
    shutil.rmtree(small.folder / ".snakemake/locks", ignore_errors=True)  # where another test failed half-way
    if not all((small.folder / table).exists() for table in TABLES):
        small.finish()
    yield small
    assert small.tables() == tables


def test_a_training_job_is_killed(small):
    small.undo_training()
    run = small.start()
    until(lambda: jobs_of(run, "train.py"))[0].kill()
    said, _ = run.communicate(timeout=300)
    assert run.returncode != 0
    assert said.count("Finished jobid") >= 1  # the other cell did not stop with it
    made = [cell for cell in CELLS if small.output(cell).exists()]
    assert len(made) == 1
    before = small.output(made[0]).stat().st_mtime_ns
    small.finish()
    assert small.output(made[0]).stat().st_mtime_ns == before


def test_the_run_itself_is_killed_and_started_again(small):
    small.undo_training()
    run = small.start()
    first = until(lambda: jobs_of(run, "train.py"))[0]
    until(lambda: any(job != first for job in jobs_of(run, "train.py")))  # on one core: the first has ended
    finished = next(small.output(cell) for cell in CELLS if small.output(cell).exists())
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    before = finished.stat().st_mtime_ns
    status, said = small.run()
    assert status != 0
    assert "--unlock" in said  # it says what to do
    assert small.run("--unlock")[0] == 0
    small.finish()
    assert finished.stat().st_mtime_ns == before


def test_ctrl_c(small):
    """The terminal sends it to Snakemake and to its jobs alike."""
    small.undo_training()
    shutil.rmtree(small.folder / RESULTS / "logs/train")
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
    run = small.start(start_new_session=True)
    signal.signal(signal.SIGINT, handler)
    logs = until(lambda: len(found := list((small.folder / RESULTS).glob("logs/train/**/*.log"))) == 2 and found)
    finished = next(small.output(cell) for cell in CELLS if small.output(cell).exists())  # on one core, the first has
    before = finished.stat().st_mtime_ns
    os.killpg(run.pid, signal.SIGINT)
    said, _ = run.communicate(timeout=120)
    assert run.returncode != 0
    assert "Traceback" not in said
    assert "Interrupted." in "".join(log.read_text() for log in logs)
    assert sum(small.output(cell).exists() for cell in CELLS) == 1  # nothing half-written
    small.finish()  # no --unlock
    assert finished.stat().st_mtime_ns == before


def test_two_runs_in_one_directory(small):
    small.undo_training()
    first = small.start()
    job = until(lambda: jobs_of(first, "train.py"))[0]
    job.suspend()  # so that the first run outlasts the second
    status, said = small.run()
    job.resume()
    assert status != 0
    assert "locked" in said
    rest, _ = first.communicate(timeout=300)
    assert first.returncode == 0, rest[-5000:]


def test_no_room_for_what_a_job_writes(small):
    small.undo_training()
    # No file may grow beyond 1 kB while the workflow's own few records are there: as on a full disk, writes fail.
    limit = 1024
    status, said = small.run(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert status != 0
    assert not any(small.output(cell).exists() for cell in CELLS)
    assert not list(small.folder.glob(f"{RESULTS}/runs/**/*.tmp"))
    assert "cannot be written" in said or "File too large" in said
    small.finish()


@pytest.mark.parametrize("name", ["metrics.json", "graph"])
def test_a_damaged_file(small, name):
    graph = small.folder / f"{RESULTS}/data/graphs/demo-social.npz"
    damaged = graph if name == "graph" else small.output(CELLS[0])
    damaged.write_bytes(damaged.read_bytes()[:-100])
    status, said = small.run()
    assert status != 0
    assert f"{damaged.relative_to(small.folder)} " in said  # which file, and what to do
    assert "Delete it and run again" in said
    assert "Traceback" not in said
    damaged.unlink()
    small.finish()
