"""`fairgat evaluate`: the scores of a finished run, or of people in a CSV file.

They are computed as the rule `collect` computes them.
"""

import argparse
import math
from pathlib import Path
from typing import get_args

from fairgat import measures
from fairgat.cli.finished_run import data_of, finished
from fairgat.data.splits import HELD_OUT
from fairgat.errors import ConfigError, DataError
from fairgat.measures import Scores
from fairgat.scores.judging import judged
from fairgat.scores.people import read_people
from fairgat.texts import visible
from fairgat.training.record import RUN_JSON


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        type=Path,
        metavar="RUN|FILE",
        help=f"a run's folder, the one with {RUN_JSON}, or a CSV file of people with "
        "the columns id, score, label, group and, if there is one, decision",
    )
    parser.add_argument(
        "--kind",
        choices=get_args(measures.Kind),
        help="what the file's scores are; needed where all lie in [0, 1]",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Show the scores of a run's folder, or of a CSV file of people."""
    path = arguments.path
    if not path.exists():
        raise DataError(f"{path} does not exist")
    is_people = path.is_file() and path.name != RUN_JSON
    if is_people:
        show_people(path, arguments.kind)
    elif arguments.kind:
        raise ConfigError("--kind is for a CSV file of people; a run has logits")
    else:
        show_run(path)


def show_run(directory: Path) -> None:
    """Print a run's validation and test scores; a dash for one that is missing."""
    record = finished(directory)
    _, graph, split = data_of(directory, record)
    run = judged(directory / RUN_JSON, graph, split, record.inputs)
    print(f"epoch {record.reported} of {record.training['epochs']}")
    _print({part: run.scores[record.protocol][part] for part in HELD_OUT})


def show_people(path: Path, kind: measures.Kind | None) -> None:
    """Print the measures of people in a CSV file.

    Raises:
        DataError: the file, a column or a cell is not what it should be.
    """
    people = read_people(path)
    try:
        (logits,) = measures.as_logits([people.scores], kind, option="--kind")
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None

    scores = measures.judge_people(
        logits, people.labels, people.groups, people.decisions
    )
    print(f"{len(people.labels)} people")
    for number, name in enumerate(people.names):
        count = int((people.groups == number).sum())
        print(f"group {number}: {visible(name)}, {count} people")
    if people.unscored:
        print(f"{people.unscored} people without a score are left out")
    if people.unlabelled:
        print(f"{people.unlabelled} people without a label are left out")
    _print({"value": scores})


def _print(scores: Scores) -> None:
    """Print a line for each measure, with a column for each part."""
    print(f"{'':22}" + "".join(f"{part:>12}" for part in scores))
    first = next(iter(scores.values()))
    for name in first:
        line = f"{name:22}"
        for part in scores.values():
            shown = "–" if math.isnan(part[name]) else f"{part[name]:.4f}"
            line += f"{shown:>12}"
        print(line)
