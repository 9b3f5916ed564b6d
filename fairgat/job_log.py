"""What every job of the workflow does: what it says goes to its log, which Snakemake
shows where a job fails; the checksums of its files are recorded.
"""

import contextlib
import errno
import sys
import traceback
from collections.abc import Iterator
from typing import IO, Any

from fairgat import processes
from fairgat.errors import FairGATError
from fairgat.files import recording

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def logged(snakemake: Any) -> Iterator[None]:
    """Send stdout and stderr to the rule's log, and record the checksums of its output.

    On an error for people, or Ctrl-C, end without a traceback, and record nothing.
    """
    path = snakemake.log[0]
    processes.end_with_snakemake()
    try:
        with (
            _opened(path) as log,
            contextlib.redirect_stdout(log),
            contextlib.redirect_stderr(log),
            recording(snakemake.output),
        ):
            yield
    except KeyboardInterrupt:
        _end("Interrupted.", path, 130)
    except FairGATError as error:
        _end(error, path)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        where = error.filename or path
        problem = f"{where} cannot be written: {error.strerror}."
        _end(f"{problem} Make room, then give the same command.", path)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    """Open a log to write to, line by line; it gets tracebacks of our own mistakes."""
    # Without `with`: closing it fails where the disk is full, and would take the place
    # of the error that is passed on.
    log = open(path, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    try:
        yield log
    except Exception as error:
        if not isinstance(error, FairGATError):
            with contextlib.suppress(OSError):
                traceback.print_exc(file=log)
        raise
    finally:
        with contextlib.suppress(OSError):
            log.close()


def _end(reason: object, path: str, status: int = 1) -> None:
    """Say why a job ends in its log, which Snakemake shows; or here, on a full disk."""
    try:
        with open(path, "a", encoding="utf-8") as log:
            print(reason, file=log)
    except OSError:
        print(reason, file=sys.__stderr__)
    sys.exit(status)
