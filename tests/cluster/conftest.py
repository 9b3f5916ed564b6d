"""A Slurm of two nodes on this machine, and the workflow that runs on it.

It runs through profiles/slurm, in a copy of the repository.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_LEFT_OUT = shutil.ignore_patterns(
    ".*", "results", "by-hand", "__pycache__", "*.egg-info"
)


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Slurm:
    """What Slurm itself says."""

    completed = Path("/run/slurm-test/log/jobcomp.txt")

    def start(self) -> bool:
        """Whether it had to be started."""
        return "already up" not in output_of("bash", str(HERE / "slurm/start.sh"))

    def stop(self) -> None:
        subprocess.run(["bash", str(HERE / "slurm/stop.sh"), "--remove"], check=True)

    def records(self) -> dict[str, dict[str, str]]:
        """Every job that has ended, by its number."""
        text = self.completed.read_text() if self.completed.exists() else ""
        entries = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in text.splitlines()]
        return {entry["JobId"]: entry for entry in entries}

    def running(self) -> dict[str, str]:
        """The node of each running job, by its number."""
        return dict(
            line.split()
            for line in output_of("squeue", "-h", "-t", "R", "-o", "%i %N").splitlines()
        )

    def processes(self, job: str, script: str = "") -> list[psutil.Process]:
        """The processes of a job; with `script`, those that execute it."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("SLURM_JOB_ID") == job
                # not the shell that a script is started from, whose command ends alike
                if ours and (
                    not script
                    or (
                        process.name().startswith("python")
                        and "".join(process.cmdline()[-1:]).endswith(script)
                    )
                ):
                    found.append(process)
            except psutil.Error:
                continue
        return found


class Repository:
    """A copy of the repository, and runs in it."""

    def __init__(self, folder: Path, kernels: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
        if not folder.exists():
            shutil.copytree(ROOT, folder, ignore=_LEFT_OUT)

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def run(self, *arguments: str, **options) -> tuple[int, str]:
        """Exit status and everything said."""
        process = self.start(*arguments, **options)
        said, _ = process.communicate(timeout=1200)
        return process.returncode, said

    def tables(self, results: str) -> dict[str, bytes]:
        """Every table and mean of a run, but for the seconds that were measured."""
        folder = self.folder / results
        files = [*folder.glob("tables/*"), *folder.glob("summary/*/winners.csv")]
        measured = ("runtime", "all_tables")
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in files
            if path.name.partition(".")[0] not in measured  # with its checksum
        }


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """A running Slurm; ended afterwards, unless it ran before."""
    slurm = Slurm()
    ours = slurm.start()
    yield slurm
    if ours:
        slurm.stop()


@pytest.fixture(scope="session")
def repository(tmp_path_factory) -> Repository:
    folder = tmp_path_factory.mktemp("cluster")
    return Repository(folder / "repository", kernels=folder / "kernels")
