"""`fairgat explain`: where a finished run's gap comes from, and what fair attention can and cannot do about it."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import methods
from fairgat.cli.evaluate import data_folder, finished
from fairgat.config import TASKS, NodeTraining
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError, NotDefined
from fairgat.scores.shares import least_gap
from fairgat.tasks.base import unpack
from fairgat.tasks.metrics import counted
from fairgat.tasks.parity import parity_parts
from fairgat.theory.account import Account, compared, contrast
from fairgat.theory.network import account
from fairgat.theory.runs import rebuild


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say in five lines where the gap between the groups comes from, and what fair attention can do about it."
    )
    parser.add_argument("directory", type=Path, help="the run's folder, the one with metrics.json")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    directory = arguments.directory
    written = finished(directory)
    if "theory" not in TASKS[written["task"]].measured:
        known = " and ".join(task.title.lower() for task in TASKS.values() if "theory" in task.measured)
        raise NotDefined(f"{directory}: the account is of {known}; this is a run of {written['task']}")
    module = written["module"]
    data, dataset, number = data_folder(directory, written["dataset"]), written["dataset"], f"split-{written['split']}"
    graph = Graph.load(data / "graphs" / f"{dataset}.npz")
    split = splits.load(data / "splits" / written["task"] / dataset / f"{number}.npz")
    try:
        epoch = written["protocols"][written["protocol"]]["epoch"]
        logits = unpack(load_npz(directory / "predictions.npz"), epoch)["logits"]
    except KeyError as error:
        raise DataError(f"{directory / 'predictions.npz'} lacks the reported epoch ({error})") from None
    if len(logits) != graph.num_nodes or max(split["test"]) >= graph.num_nodes:
        raise DataError(f"{directory} does not fit the graph or the split in {data}")
    title = f"{written['method']} on {dataset}, cell {written['cell']}, split {written['split']}"
    group, lines = predictions(logits[split["test"]] > 0, graph.labels[split["test"]], graph.sensitive[split["test"]])
    print(f"{title}\n1. {next(lines)}\n2. {next(lines)}")
    settings, training = methods.settings(module, written["settings"]), NodeTraining(**written["training"])
    edited = data / "debiased" / dataset / written["method"] / f"{number}.npz"
    try:
        method = rebuild(
            module, settings, graph, split, training, written["seed"], directory / "model.npz",
            edited if edited.exists() else None,
        )  # fmt: skip
        accounts = {each.over: each for each in account(method) if (each.layer, each.group) == ("logit", group)}
    except NotDefined as error:
        print(f"3. There is no account of its logits: {error}.")
        return
    if abs(accounts["all"].gap - contrast(graph.sensitive, group) @ logits.astype(float)) > 0.01:
        print("Of the network's logits, before its method changes them for decisions:")
    for place, line in enumerate(attention(accounts), start=3):
        print(f"{place}. {line}")


def predictions(predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray) -> tuple[int, Iterator[str]]:
    """The group that is compared with all others, the one of more than two that differs most, and two sentences.

    Args:
        predicted, labels, sensitive: (n,) of the test nodes.
    """
    gaps = {group: float(contrast(sensitive, group) @ predicted) for group in compared(sensitive)}
    group = max(gaps, key=lambda key: abs(gaps[key]))

    def rates(values: np.ndarray, among: np.ndarray) -> str:
        mine, others = (values[among & side].mean() for side in (sensitive == group, sensitive != group))
        return f"{100 * mine:.1f} % of group {group} and {100 * others:.1f} % of {_others(sensitive)}"

    def lines() -> Iterator[str]:
        everyone = labels >= 0
        true = contrast(sensitive, group, labels == 1) @ predicted
        among = f"; among those with label 1 by {100 * true:+.1f}" if np.isfinite(true) else ""
        yield (
            f"Test predictions are positive for {rates(predicted, everyone)}: they differ by "
            f"{100 * gaps[group]:+.1f} points{among}."
        )
        parts = parity_parts(counted(predicted, labels == 1, sensitive == group, 2))
        if np.isnan(parts).any():
            yield "Labels' and errors' part are not defined: a group has one label only."
            return
        yield (
            f"{100 * parts[0]:+.1f} of the points are the labels' part, as label 1 is that of "
            f"{rates(labels, everyone)}; {100 * parts[1]:+.1f} are the errors' part."
        )

    return group, lines()


def attention(accounts: dict[str, Account]) -> Iterator[str]:
    """Three sentences about the logits' accounts, by the rows they are over: the parts, the optimum, beyond it."""
    whole = accounts["all"]
    yield (
        f"The mean logits of all nodes differ by {_sum(whole)}; those of label 1 by {_sum(accounts['label 1'])}."
        if np.isfinite(accounts["label 1"].gap)
        else f"The mean logits of all nodes differ by {_sum(whole)}."
    )
    if np.isnan(whole.reach):
        yield (
            "Fair attention sets mixing only; for more than two groups, or where a node's attention does not sum to 1, "
            "no single share says what it becomes."
        )
        return
    without, optimum = whole.gap - whole.mixing, 1 / whole.reach if whole.reach else np.inf
    if optimum <= 1:
        reached = (
            f"A share of {optimum:.2f} on other groups' neighbours makes it 0; with all else as it is, that leaves"
        )
        yield f"Fair attention sets mixing only. {reached} {_signed(without)}."
    else:
        least = 1 - whole.reach
        yield (
            "Fair attention sets mixing only. Too few people have neighbours in the other group for a share to make it "
            f"0: {least:.2f} is the least factor, which with all else as it is leaves "
            f"{_signed(least * whole.between + without)}."
        )
    share, gap = least_gap(pd.DataFrame([asdict(whole)]))
    cap = " That is beyond the theory's optimum, where FairGAT's cap stops (cap: false)." if share > optimum else ""
    yield (
        "With all else as it is, which training need not keep, the mean logits differ least at a share of "
        f"{share:.2f}: {_signed(gap)}.{cap}"
    )


def _sum(each: Account) -> str:
    parts = map(_signed, (each.mixing, each.label_selection, each.rest, each.gate))
    return "{} = mixing {}, label selection {}, the rest {}, gate {}".format(_signed(each.gap), *parts)


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0:+.2f}"  # + 0: no -0.00


def _others(sensitive: np.ndarray) -> str:
    known = np.unique(sensitive)
    return f"group {known[0]}" if len(known) == 2 else "all others"
