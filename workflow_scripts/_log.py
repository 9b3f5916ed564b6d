"""What every script does with its log: everything goes there; what the user can mend is said on the terminal too."""

import contextlib
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from fairgat.errors import FairGATError


@contextlib.contextmanager
def logged(snakemake: Any) -> Iterator[None]:
    """Send stdout and stderr to the rule's log; end with status 1 and no traceback on an error for people."""
    with (
        open(snakemake.log[0], "w", encoding="utf-8", buffering=1) as log,
        contextlib.redirect_stdout(log),
        contextlib.redirect_stderr(log),
    ):
        try:
            yield
        except FairGATError as error:
            print(error, file=log)
            print(error, file=sys.__stderr__)
            sys.exit(1)
        except Exception:
            traceback.print_exc(file=log)
            raise
