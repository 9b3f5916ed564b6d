"""Run every analysis on the studies under a folder."""

import sys
from pathlib import Path

from beyond.analyses import along, attributes, centring, dose, trade_off
from fairgat.errors import FairGATError

OF = {
    "centring": centring,
    "dose": dose,
    "dose-others": dose,
    "groups": attributes,
    "trade-off": trade_off,
    "when": along,
}


def main(folder: str) -> int:
    """Analyse each study that is there; what it lacks is said, and the others go on."""
    studies = sorted(path for path in Path(folder).glob("*/") if path.name in OF)
    failed = False
    if not studies:
        print(
            f"none of {', '.join(OF)} is in {folder}: give the folder `studies` of a run",
            file=sys.stderr,
        )
    for study in studies:
        try:
            print(*OF[study.name].main(study), sep="\n")
        except FairGATError as error:
            print(f"{study}: {error}", file=sys.stderr)
            failed = True
    return int(failed or not studies)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or ["results/reference/studies"]))
