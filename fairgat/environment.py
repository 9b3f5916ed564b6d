"""Describe where a result came from: the commit of the code, the versions of the packages, the machine."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairgat import __version__


def machine() -> dict[str, str | int]:
    """Name the processor, the cores that this process may use, memory in GiB, system, Python and PyTorch version."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        "memory_gib": round(
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        ),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        "torch": importlib.metadata.version("torch"),
    }


def versions() -> dict[str, str]:
    """Give the versions that decide a result's last digits."""
    packages = {
        name: importlib.metadata.version(name) for name in ("torch", "numpy", "numba")
    }
    return {"fairgat": __version__, "python": platform.python_version(), **packages}


def revision(
    folder: str | Path = Path(__file__).parent, paths: Sequence[str] = (".",)
) -> dict[str, Any]:
    """Find the `commit` of the checkout that tracks `folder`, and whether it is `modified`; None if no checkout does.

    Args:
        folder: a folder of the checkout.
        paths: what counts as modified, relative to `folder`; Git's wildcards are allowed.
    """

    def git(*arguments: str) -> str | None:
        # --no-optional-locks: jobs ask at the same time. safe.directory: the checkout may be another user's.
        command = [
            "git",
            "-c",
            "safe.directory=*",
            "-C",
            str(folder),
            "--no-optional-locks",
            *arguments,
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if not git("ls-files", "."):  # installed inside a checkout of something else
        return {"commit": None, "modified": None}
    status = git("status", "--porcelain", "--", *paths)
    return {
        "commit": git("rev-parse", "HEAD"),
        "modified": None if status is None else bool(status),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.partition(":")[2].strip()
            for line in lines
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
