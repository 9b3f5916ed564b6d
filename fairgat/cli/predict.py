"""`fairgat predict`: score new people with a finished run, beside training's."""

import argparse
import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from fairgat.cli.finished_run import data_of, finished
from fairgat.config import Dataset
from fairgat.data import datasets, newcomers
from fairgat.data.columns import Columns
from fairgat.data.graph import UNLABELLED, Graph, load_npz
from fairgat.data.newcomers import Newcomers
from fairgat.data.sources import tables
from fairgat.errors import DataError, NotDefined
from fairgat.files import write_text
from fairgat.methods.base import Method, NodeMethod
from fairgat.nn import keep_freed_memory
from fairgat.report.escape import csv as cell
from fairgat.tasks.node_classification import NodeTask
from fairgat.texts import visible
from fairgat.theory.runs import trained
from fairgat.training.record import FILES, RUN_JSON, Record, unpack


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the people of two files, read, scaled and decided as in training. Their "
        "links may lead to each other and to training's people, who stay in the graph."
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="RUN",
        help=f"the run's folder, the one with {RUN_JSON}",
    )
    for name, text in (
        (
            "--nodes",
            "a row for each person, with training's columns; no label is needed",
        ),
        ("--edges", "a row for each link, with training's columns"),
        (
            "--out",
            "the CSV file to write: id, score, decision, group and, where --nodes has "
            "it, label",
        ),
    ):
        parser.add_argument(name, type=Path, required=True, metavar="FILE", help=text)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Write the new people's scores, and say what became of training's people."""
    directory, out = arguments.directory, arguments.out
    record = finished(directory)
    data, graph, split = data_of(directory, record)
    columns = Columns.read(
        datasets.columns_path(data / "graphs" / f"{record.dataset}.npz")
    )
    options = _options(record, columns)
    _check_out(out, arguments, options, data)
    method = _method(directory, record, data, graph, split)

    (old_nodes, *_) = tables.files(record.dataset, options)
    raw = data / "raw" / record.dataset
    old_nodes.verify(raw)
    people = newcomers.join(
        graph,
        columns,
        options,
        raw / old_nodes.basename,
        arguments.nodes,
        arguments.edges,
    )
    before, after = _logits(method, split, record, people.graph)
    write_text(out, _csv(people, after))

    predictions = unpack(load_npz(directory / "predictions.npz"), record.reported)
    recorded = predictions["logits"]
    lines = [*people.said, *_sentences(graph, people, before, after, recorded)]
    print("\n".join(map(visible, lines)))
    print(out)


def _check_out(
    out: Path, arguments: argparse.Namespace, options: tables.Options, data: Path
) -> None:
    """Refuse to write over what is read: the new files, the run, and training's own.

    Nothing is written among the `data` that training's graph was made of.
    """
    read = [arguments.nodes, arguments.edges]
    read += [arguments.directory / name for name in FILES]
    own_files = tables.files("own", options)
    read += [file.local for file in own_files if file.local]
    is_read = out.resolve() in [path.resolve() for path in read]
    if is_read or out.resolve().is_relative_to(data.resolve()):
        raise DataError(f"--out {out} is a file that is read: give another")


def _options(record: Record, columns: Columns) -> tables.Options:
    """Give the options of training's data, which must be tables."""
    if record.task != NodeTask.name:
        raise NotDefined(
            f"people are scored by runs of node classification; this is one of "
            f"{record.task}"
        )
    declared = Dataset(task=record.task, source=columns.source, options=columns.options)
    options = datasets.options_of(record.dataset, declared)
    if not isinstance(options, tables.Options):
        raise NotDefined(
            f"new people come in tables, and {record.dataset} was not read from any"
        )
    return options


def _method(
    directory: Path,
    record: Record,
    data: Path,
    graph: Graph,
    split: dict[str, np.ndarray],
) -> NodeMethod:
    """Make the run's method again, if it can score new people."""
    keep_freed_memory()
    torch.set_num_threads(record.experiment.get("threads", 1))  # as in training
    method = trained(directory, record, data, graph, split)
    if method.needs_debiased:
        raise NotDefined(
            f"{record.method} cannot score new people: it was trained on a graph whose "
            "links and features were changed for training's people alone"
        )
    if type(method).postprocess is not Method.postprocess:
        raise NotDefined(
            f"{record.method} cannot score new people: it changes its scores after "
            "training, in `postprocess`; a method that overrides `cuts` instead can"
        )
    return method


def _logits(
    method: NodeMethod, split: dict[str, np.ndarray], record: Record, joint: Graph
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the logits of training's people by themselves, and of all together.

    From both each group's cut is subtracted, which was found on training's people by
    themselves; 0 decides then.
    """
    output = method.forward().detach()
    cuts = method.cuts(output)
    before = method.task.predictions(method.decided(output, cuts))

    torch.manual_seed(record.seed)  # as a method may draw when it is made
    joint_task = NodeTask(joint, split, method.task.training, record.seed)
    joint_method = method.on(joint_task)
    output = joint_method.forward().detach()
    after = joint_task.predictions(joint_method.decided(output, cuts))
    if not np.isfinite(after["logits"]).all():
        raise DataError(
            "with these people the scores are no longer finite: is a value far larger "
            "than in training?"
        )
    return before["logits"], after["logits"]


def _csv(people: Newcomers, logits: np.ndarray) -> str:
    """Write a row for each person of the file; who was left out has no score."""
    header = ["id", "score", "decision", "group"]
    if people.labels is not None:
        header.append("label")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    names = people.graph.group_names
    for place, (name, node) in enumerate(zip(people.ids, people.nodes, strict=True)):
        row = [cell(name), "", "", ""]
        if node >= 0:  # not left out
            logit = logits[node]
            group = names[people.graph.sensitive[node]]
            row[1:] = [str(logit), str(int(logit > 0)), cell(group)]
        if people.labels is not None:
            label = people.labels[place]
            row.append("" if label == UNLABELLED else str(label))
        writer.writerow(row)
    return text.getvalue()


def _sentences(
    graph: Graph,
    people: Newcomers,
    before: np.ndarray,
    after: np.ndarray,
    recorded: np.ndarray,
) -> Iterator[str]:
    """Say who was scored, and what became of training's people.

    Args:
        before: (N,) logits of training's people by themselves.
        after: (N + new,) of all, training's people first.
        recorded: (N,) as the run has them in predictions.npz.
    """
    num_old = graph.num_nodes
    scored = people.nodes[people.nodes >= 0]
    num_scored_old = int((scored < num_old).sum())
    links = (people.graph.num_edges - graph.num_edges) // 2  # in both directions
    yield (
        f"{len(scored)} people have a score, {num_scored_old} of them training's; "
        f"{links} links are new"
    )
    if not np.array_equal(before, recorded):
        yield (
            f"this machine computes the run's own scores with differences of up to "
            f"{np.abs(before - recorded).max():.1g}"
        )
    old_after = after[:num_old]
    changed = (old_after > 0) != (before > 0)
    yield (
        f"of training's {num_old} people {int(changed.sum())} are decided otherwise "
        "than in training, as predictions depend on the others; scores move by up to "
        f"{np.abs(old_after - before).max():.2g}"
    )
