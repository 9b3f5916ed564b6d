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
    """Analyse each study that is there; say what it lacks, and go on with the others.

    Returns:
        The exit status: 1 where no study is there, or one could not be analysed.
    """
    studies = sorted(path for path in Path(folder).glob("*/") if path.name in OF)
    if not studies:
        known = ", ".join(OF)
        text = f"none of {known} is in {folder}: give the folder `studies` of a run"
        print(text, file=sys.stderr)
        return 1

    failed = False
    for study in studies:
        analysis = OF[study.name]
        try:
            print(*analysis.main(study), sep="\n")
        except FairGATError as error:
            print(f"{study}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or ["results/reference/studies"]))
