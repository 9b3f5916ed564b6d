"""Which commit the code is of."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def revision(folder: str | Path = Path(__file__).parent, paths: Sequence[str] = (".",)) -> dict[str, Any]:
    """`commit` of the checkout that tracks `folder`, and whether it is `modified`; None without one.

    Args:
        folder: a folder of the checkout.
        paths: what counts as modified, relative to it; Git's wildcards are allowed.
    """

    def git(*arguments: str) -> str | None:
        # without locks: jobs ask side by side
        command = ["git", "-C", str(folder), "--no-optional-locks", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if not git("ls-files", "."):  # installed inside a checkout of something else
        return {"commit": None, "modified": None}
    status = git("status", "--porcelain", "--untracked-files=no", "--", *paths)
    return {"commit": git("rev-parse", "HEAD"), "modified": None if status is None else bool(status)}
