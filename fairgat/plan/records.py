"""Whether the results to go on with are those that Snakemake has records of.

With which settings and code a file was made stands in .snakemake/ of the folder that
Snakemake is started in. A file of which nothing stands there it takes for up to date,
whatever is asked for. So this folder and the results that are made from it have a key
in common.
"""

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fairgat.errors import ConfigError
from fairgat.files import write_text

KEY = Path(".snakemake/fairgat-key")
"""The key of the folder that Snakemake is started in."""
COPY = ".snakemake-key"
"""Its copy in a results folder."""
# What takes results as they are, or does not look at them.
_ADOPTS = {"--touch", "-t", "--unlock", "--lint"}


def check_known(results_dir: str, words: Sequence[str]) -> None:
    """Refuse results that were made from another folder, or whose records are gone.

    Args:
        words: of the command line of Snakemake, by which it may take them over.

    Raises:
        ConfigError: with what to do.
    """
    copy = Path(results_dir, COPY)
    if not copy.is_file() or not _ADOPTS.isdisjoint(words):
        return
    if KEY.is_file() and KEY.read_bytes() == copy.read_bytes():
        return
    raise ConfigError(
        f"results_dir: {results_dir} was made from another folder, or .snakemake/ of "
        "this one was removed: it says with which settings and code each file was "
        "made, and without it old results would be taken for those that are asked "
        "for. Give another results_dir. If you know that they are the same, give this "
        "command once with --touch --forceall --rerun-triggers mtime"
    )


def leave_key(results_dir: str) -> None:
    """Leave the key in a results folder, as a run begins.

    Raises:
        DataError, OSError: the disk refused.
    """
    KEY.parent.mkdir(exist_ok=True)
    if not KEY.exists():
        _make_key()
    write_text(Path(results_dir, COPY), KEY.read_text())


def _make_key() -> None:
    """Make the key, whole from the start.

    Another Snakemake may begin at the same time (--nolock): the first one's key stays.
    """
    key = secrets.token_hex(16)
    file = KEY.with_name(f"{KEY.name}.{key}")
    file.write_text(key)
    try:
        with suppress(FileExistsError):
            os.link(file, KEY)
    finally:
        file.unlink()
