"""Snakemake on a copy of the repository, which tests may edit.

A run of the user's is left alone.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
DEMO = "configs/demo.yaml"
RESULTS = "results/demo"
# Not __pycache__: it holds the compiled kernels, which the copies' dates keep valid.
_LEFT_OUT = shutil.ignore_patterns(".*", "results", "by-hand", "*.egg-info")
# As profiles/default has them, which a dry run is without: it lists jobs in lines.
_STALE = (
    "--rerun-triggers",
    "mtime",
    "params",
    "input",
    "software-env",
    "--max-checksum-file-size",
    "1000000000",
)


class Workflow:
    """A copy of the repository and the `snakemake` that runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def results(self) -> Path:
        return self.folder / RESULTS

    def snakemake(
        self,
        *arguments: str,
        cores: int | None = 2,
        overlays=(DEMO,),
        **environment: str,
    ) -> subprocess.CompletedProcess:
        """Run Snakemake on the demo; stdout holds everything that it says."""
        options = [
            *(["--cores", str(cores)] if cores else []),
            *(["--configfile", *overlays] if overlays else []),
        ]
        options += [
            "--max-jobs-per-timespan",
            "100/1s",
        ]  # not the profile's five seconds, which small runs wait for
        command = [sys.executable, "-m", "snakemake", *options, *arguments]
        one_stream = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
        }
        return subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | {"COLUMNS": "200"} | environment,
            check=False,
            **one_stream,
        )

    def fairgat(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run a command of the copy's package."""
        command = [sys.executable, "-m", "fairgat.cli.main", *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )

    def planned(self, *arguments: str, overlays=(DEMO,)) -> list[str]:
        """The messages of the jobs that a dry run lists.

        Such as `Train gat (default) on demo-social, split 0`.
        """
        run = self.snakemake(
            "-n", "--workflow-profile", "none", *_STALE, *arguments, overlays=overlays
        )
        assert run.returncode == 0, run.stdout[-5000:]
        messages = [
            line.partition(": ")[2]
            for line in run.stdout.splitlines()
            if line.startswith("Job ")
        ]
        return [message for message in messages if message]  # `all` has none

    @contextmanager
    def edited(self, path: str) -> Iterator[None]:
        """Inside it, a source file has one more comment."""
        module = self.folder / path
        before = module.read_text()
        module.write_text(before + "\n# edited\n")
        try:
            yield
        finally:
            module.write_text(before)


def until(condition: Callable[[], object], seconds: float = 120) -> object:
    """Wait for the first true value of the condition."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)
    return value


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Workflow:
    """The demo, run once for all tests and all of pytest's processes.

    Tests must not change it.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, said = shared / "demo", shared / "demo.txt"
    with FileLock(shared / "demo.lock"):
        if not said.exists():
            shutil.copytree(ROOT, folder, ignore=_LEFT_OUT)
            run = Workflow(folder).snakemake()
            said.write_text(f"{run.returncode}\n{run.stdout}")
    assert said.read_text().startswith("0\n"), said.read_text()[-5000:]
    return Workflow(folder)


@pytest.fixture
def finished(demo, tmp_path) -> Workflow:
    """A copy of the finished demo, to edit and to run again."""
    return Workflow(shutil.copytree(demo.folder, tmp_path / "repository"))


@pytest.fixture
def fresh(tmp_path) -> Workflow:
    """A copy in which nothing was run."""
    return Workflow(shutil.copytree(ROOT, tmp_path / "repository", ignore=_LEFT_OUT))
