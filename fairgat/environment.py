"""Describe where a result came from: commit, versions of packages, machine."""

import contextlib
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairgat import __version__


def machine() -> dict[str, str | int]:
    """Describe the machine: its processor, cores, memory in GiB, system and versions.

    The cores are those that this process may use.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    release, _, _ = platform.release().partition("-")
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_gib": round(memory / 2**30),
        "system": f"{platform.system()} {release}",
        "python": platform.python_version(),
        "torch": importlib.metadata.version("torch"),
    }


def versions() -> dict[str, str]:
    """Give the versions that decide a result's last digits."""
    version_of = {"fairgat": __version__, "python": platform.python_version()}
    for name in ("torch", "numpy", "numba"):
        version_of[name] = importlib.metadata.version(name)
    return version_of


def revision(
    folder: str | Path = Path(__file__).parent, paths: Sequence[str] = (".",)
) -> dict[str, Any]:
    """Find the `commit` of a checkout, and whether it is `modified`.

    Both are None where no checkout tracks the folder.

    Args:
        folder: a folder of the checkout.
        paths: what counts as modified, relative to `folder`; Git's wildcards are
            allowed.
    """
    if not _git(folder, "ls-files", "."):  # installed in a checkout of something else
        return {"commit": None, "modified": None}
    modified = None
    status = _git(folder, "status", "--porcelain", "--", *paths)
    if status is not None:
        modified = bool(status)
    return {"commit": _git(folder, "rev-parse", "HEAD"), "modified": modified}


def _git(folder: str | Path, *arguments: str) -> str | None:
    """Give what Git says in a folder; None where it fails."""
    # The checkout may be another user's; and jobs ask at the same time.
    options = "-c", "safe.directory=*", "-C", str(folder), "--no-optional-locks"
    try:
        result = subprocess.run(
            ["git", *options, *arguments], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if result.returncode != 0:
        return None
    return result.stdout.strip()


def _cores() -> int:
    """Count the cores that this process may use, where the system says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    """Name the processor, as Linux does, or else its architecture."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                _, _, name = line.partition(":")
                return name.strip()
    return platform.processor() or platform.machine()
