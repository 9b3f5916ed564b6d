"""Snakemake on a copy of the repository: tests may edit its files, and a run of the user's is left alone."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHORT = "tests/workflow/short.yaml"
# Not __pycache__: it holds the compiled kernels, which the copies' dates keep valid.
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".snakemake", "results", ".*_cache", "*.egg-info")


class Workflow:
    """A copy of the repository and the `snakemake` that runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def snakemake(self, *arguments: str, cores: int = 2) -> subprocess.CompletedProcess:
        """Run Snakemake on the demo, shortened; stdout holds everything that it says."""
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--configfile", "configs/demo.yaml", SHORT]
        return subprocess.run(
            [*command, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def planned(self, *arguments: str) -> list[str]:
        """The messages of the jobs that a dry run lists."""
        run = self.snakemake("-n", *arguments)
        assert run.returncode == 0, run.stdout[-5000:]
        return [line.partition(": ")[2] for line in run.stdout.splitlines() if line.startswith("Job ")]

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


def copy(folder: Path) -> Workflow:
    """A fresh copy of the repository."""
    shutil.copytree(ROOT, folder, ignore=_LEFT_OUT)
    return Workflow(folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Workflow:
    """The demo, run once from start to end."""
    workflow = copy(tmp_path_factory.mktemp("demo") / "repository")
    run = workflow.snakemake()
    assert run.returncode == 0, run.stdout[-5000:]
    return workflow


@pytest.fixture
def fresh(tmp_path) -> Workflow:
    """A copy in which nothing was run."""
    return copy(tmp_path / "repository")
