"""What every script does with its log: everything goes there; what the user can mend is said on the terminal too."""

import contextlib
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from fairgat.errors import FairGATError


@contextlib.contextmanager
def logged(snakemake: Any) -> Iterator[None]:
    """Send stdout and stderr to the rule's log; on an error for people, or Ctrl-C, end without a traceback."""
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
        except KeyboardInterrupt:
            print("Interrupted.", file=log)
            sys.exit(130)
        except Exception:
            traceback.print_exc(file=log)
            raise
