"""`fairgat explain`: where a finished run's gap comes from.

It also says what fair attention can and cannot do about it.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat.cli.finished_run import data_of, finished
from fairgat.config import TASKS
from fairgat.data.graph import load_npz
from fairgat.errors import DataError, NotDefined
from fairgat.measures.parity import parity_parts
from fairgat.methods.base import Method
from fairgat.tasks.rates import counted, gap, positive_rates
from fairgat.texts import visible
from fairgat.theory.account import PARTS, Account, compared_groups, contrast, least_gap
from fairgat.theory.network import account
from fairgat.theory.runs import trained
from fairgat.training.record import RUN_JSON, unpack


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory",
        type=Path,
        metavar="RUN",
        help=f"the run's folder, the one with {RUN_JSON}",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print sentences on the run's predictions, and on the parts of its logits' gap."""
    directory = arguments.directory
    record = finished(directory)
    if "theory" not in TASKS[record.task].measured:
        raise NotDefined(
            f"{directory}: this is a run of {record.task}, which has no account"
        )
    data, graph, split = data_of(directory, record)
    arrays = load_npz(directory / "predictions.npz")
    logits = unpack(arrays, record.reported)["logits"]
    test = split["test"]
    group, lines = predictions(
        predicted=logits[test] > 0,
        labels=graph.labels[test],
        sensitive=graph.sensitive[test],
        names=graph.group_names,
    )
    try:
        method = trained(directory, record, data, graph, split)
        accounts = _of_logits(method, group)
    except NotDefined as error:
        lines.append(f"There is no account of its logits: {error}.")
    else:
        predicted_gap = contrast(graph.sensitive, group) @ logits.astype(float)
        differs = abs(accounts["all"].gap - predicted_gap) > 0.01
        if differs and not _changes_logits(method):
            raise DataError(
                f"{directory}: its model.npz, run.json and predictions.npz are not of "
                "one run"
            )
        if differs:
            lines.append(
                "What follows is of the network's logits, before its method changes "
                "them for decisions."
            )
        lines += sentences_on_gap(accounts, graph.num_groups)

    cell, split_number = record.cell, record.split
    print(f"{record.method} on {record.dataset}, cell {cell}, split {split_number}")
    for number, line in enumerate(lines, start=1):
        print(f"{number}. {visible(line)}")


def _changes_logits(method: Method) -> bool:
    """Whether a method changes its network's logits after training."""
    implementation = type(method)
    own = implementation.postprocess, implementation.cuts
    return own != (Method.postprocess, Method.cuts)


def _of_logits(method: Method, group: int) -> dict[str, Account]:
    """Account for a group's gap of the logits, by the rows that are averaged."""
    accounts = {}
    for each in account(method):
        if each.layer == "logit" and each.group == group:
            accounts[each.over] = each
    return accounts


def predictions(
    predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray, names: list[str]
) -> tuple[int, list[str]]:
    """Choose the group that differs most from all others, and say how in two sentences.

    Args:
        predicted, labels, sensitive: (n,) of the test nodes.
        names: what each group is called.
    """
    gaps = {}
    for each in compared_groups(sensitive):
        gaps[each] = float(contrast(sensitive, each) @ predicted)
    group = max(gaps, key=lambda each: abs(gaps[each]))

    two_groups = len(names) == 2
    mine = f"those with {names[group]}"
    others = f"those with {names[1 - group]}" if two_groups else "all others"

    def rates(values: np.ndarray) -> str:
        """Say how many have 1 among `values`, of the people with a label."""
        labelled = labels >= 0
        my_rate = 100 * values[labelled & (sensitive == group)].mean()
        other_rate = 100 * values[labelled & (sensitive != group)].mean()
        return f"{my_rate:.1f} % of {mine} and {other_rate:.1f} % of {others}"

    sentence = f"Test predictions are positive for {rates(predicted)}"
    sentence += f": a gap of {_points(gaps[group])} points"
    if two_groups:
        sentence += " (ΔSP)"
    positive = labels == 1
    gap_of_positive = float(contrast(sensitive, group, positive) @ predicted)
    if np.isfinite(gap_of_positive):
        sentence += f", and among those with label 1 {_points(gap_of_positive)}"
        if two_groups:
            sentence += " (ΔEO)"
    if not two_groups:
        counts = counted(predicted, positive, sensitive, len(names))
        largest = gap(positive_rates(counts))
        sentence += f". The largest gap between two groups is {_points(largest)} (ΔSP)"

    counts = counted(predicted, positive, sensitive == group, 2)
    by_labels, by_errors = parity_parts(counts)
    if np.isnan(by_labels):
        contributions = (
            "What labels and errors contribute is not defined: a group has one label "
            "only."
        )
    else:
        contributions = (
            f"Of this gap, {_points(by_labels)} points come from the labels, as "
            f"{rates(labels)} have label 1, and {_points(by_errors)} from errors that "
            "differ between the groups."
        )
    return group, [f"{sentence}.", contributions]


def sentences_on_gap(accounts: dict[str, Account], groups: int) -> Iterator[str]:
    """Say what the groups' gap in mean logits is made of, and what a share can change.

    Args:
        accounts: the parts that add up to the gap: "all", of all nodes, and "label 1",
            of those with label 1.
        groups: how many there are.
    """
    whole, positive = accounts["all"], accounts["label 1"]
    sentence = f"The groups' mean logits differ by {_sum(whole)}"
    if np.isfinite(positive.gap):
        sentence += f"; of those with label 1 {_sum(positive)}"
    sentence += " (of the second layer; docs/theory.md)."
    if np.isfinite(whole.means):
        sentence += (
            " Over all nodes their shares of positive logits differ by "
            f"{_points(whole.decided)} points: {_points(whole.base_rates)} by base "
            f"rates, {_points(whole.means)} by the means among people of a label, "
            f"{_points(whole.remainder)} by other differences among them."
        )
    yield sentence
    yield f"Fair attention sets mixing only. {_optimum(whole, groups)}"
    if np.isfinite(whole.reach):
        share, least = least_gap(pd.DataFrame([asdict(whole)]))
        smallest = f"The gap would be smallest, {_signed(least)}, at a share of "
        smallest += f"{share:.2f}"
        optimal_share = 1 / whole.reach if whole.reach else np.inf  # mixing is 0 there
        if share > optimal_share:
            smallest += ", beyond the optimum, to which FairGAT caps it (`cap: false`)"
        yield (
            f"{smallest}: again if nothing else changed, though training with another "
            "share changes the rest, too."
        )


def _optimum(whole: Account, groups: int) -> str:
    """Say how mixing becomes 0, and what gap stays."""
    rest = _signed(whole.gap - whole.mixing)
    stays = f"makes it 0; if nothing else changed, {rest} of the gap would stay."
    if groups > 2:
        return (
            "With balanced shares a retention of 0, where everyone has neighbours in "
            f"every group, {stays}"
        )
    if np.isnan(whole.reach):
        return (
            "Where a node's attention does not sum to 1, no share says what mixing "
            "becomes."
        )
    neighbours = "neighbours in the other group"
    if whole.reach:
        share = (1 - whole.factor) / whole.reach
        neighbours += f" (here they get {share:.2f})"
    if whole.reach < 1:
        return f"No share makes it 0, as too few people have {neighbours}."
    return f"A share of {1 / whole.reach:.2f} on {neighbours} {stays}"


def _sum(account: Account) -> str:
    """Write a gap as the sum of its parts."""
    parts = []
    for name in PARTS:
        size = _signed(getattr(account, name))
        parts.append(f"{name.replace('_', ' ')} {size}")
    return f"{_signed(account.gap)} = {', '.join(parts)}"


def _points(share: float) -> str:
    """Write a share in points, of which a share of 1 has 100."""
    return _signed(100 * share, 1)


def _signed(value: float, decimals: int = 2) -> str:
    return f"{value:+z.{decimals}f}"
