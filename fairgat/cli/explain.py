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
from fairgat.theory.account import PARTS, Account, compared, contrast, least_gap
from fairgat.theory.network import account
from fairgat.theory.runs import trained
from fairgat.training.record import NAME, unpack


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say in a few lines where the gap between the groups comes from, "
        "and what fair attention can do about it."
    )
    parser.add_argument(
        "directory", type=Path, help=f"the run's folder, the one with {NAME}"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    directory = arguments.directory
    record = finished(directory)
    if "theory" not in TASKS[record.task].measured:
        raise NotDefined(
            f"{directory}: this is a run of {record.task}, which has no account"
        )
    data, graph, split = data_of(directory, record)
    arrays = load_npz(directory / "predictions.npz")
    logits = unpack(arrays, record.reported)["logits"]
    tested = split["test"]
    group, lines = predictions(
        logits[tested] > 0,
        graph.labels[tested],
        graph.sensitive[tested],
        graph.group_names,
    )
    try:
        method = trained(directory, record, data, graph, split)
        accounts = _of_logits(method, group)
    except NotDefined as error:
        lines.append(f"There is no account of its logits: {error}.")
    else:
        gap = contrast(graph.sensitive, group) @ logits.astype(float)
        changed = abs(accounts["all"].gap - gap) > 0.01
        made_by = type(method)
        its_own = made_by.postprocess, made_by.cuts
        if changed and its_own == (Method.postprocess, Method.cuts):
            raise DataError(
                f"{directory}: its model.npz, run.json and predictions.npz are not of "
                "one run"
            )
        if changed:
            lines.append(
                "What follows is of the network's logits, before its method changes "
                "them for decisions."
            )
        lines += attention(accounts, graph.num_groups)

    cell, number = record.cell, record.split
    print(f"{record.method} on {record.dataset}, cell {cell}, split {number}")
    for place, line in enumerate(lines, start=1):
        print(f"{place}. {line}")


def _of_logits(method: Method, group: int) -> dict[str, Account]:
    """Account for a group's gap of the logits, by the rows that it is over."""
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
    for each in compared(sensitive):
        gaps[each] = float(contrast(sensitive, each) @ predicted)
    group = max(gaps, key=lambda each: abs(gaps[each]))

    two = len(names) == 2
    mine = f"those with {names[group]}"
    rest = f"those with {names[1 - group]}" if two else "all others"

    def rates(values: np.ndarray) -> str:
        labelled = labels >= 0
        of_mine = 100 * values[labelled & (sensitive == group)].mean()
        of_rest = 100 * values[labelled & (sensitive != group)].mean()
        return f"{of_mine:.1f} % of {mine} and {of_rest:.1f} % of {rest}"

    said = f"Test predictions are positive for {rates(predicted)}"
    said += f": a gap of {_points(gaps[group])} points"
    if two:
        said += " (ΔSP)"
    positive = labels == 1
    true = float(contrast(sensitive, group, positive) @ predicted)
    if np.isfinite(true):
        said += f", and among those with label 1 {_points(true)}"
        if two:
            said += " (ΔEO)"
    if not two:
        counts = counted(predicted, positive, sensitive, len(names))
        largest = gap(positive_rates(counts))
        said += f". The largest gap between two groups is {_points(largest)} (ΔSP)"

    counts = counted(predicted, positive, sensitive == group, 2)
    of_labels, of_errors = parity_parts(counts)
    if np.isnan(of_labels):
        contributed = (
            "What labels and errors contribute is not defined: a group has one label "
            "only."
        )
    else:
        contributed = (
            f"Of this gap, {_points(of_labels)} points come from the labels, as "
            f"{rates(labels)} have label 1, and {_points(of_errors)} from errors that "
            "differ between the groups."
        )
    return group, [f"{said}.", contributed]


def attention(accounts: dict[str, Account], groups: int) -> Iterator[str]:
    """Say what the logits' accounts show: their parts, and what a share can change.

    They are by the rows that they are over.
    """
    whole, positive = accounts["all"], accounts["label 1"]
    said = f"The groups' mean logits differ by {_sum(whole)}"
    if np.isfinite(positive.gap):
        said += f"; of those with label 1 {_sum(positive)}"
    said += " (of the second layer; docs/theory.md)."
    if np.isfinite(whole.means):
        said += (
            " Over all nodes their shares of positive logits differ by "
            f"{_points(whole.decided)} points: {_points(whole.base_rates)} by base "
            f"rates, {_points(whole.means)} by the means among people of a label, "
            f"{_points(whole.remainder)} by other differences among them."
        )
    yield said
    yield f"Fair attention sets mixing only. {_optimum(whole, groups)}"
    if np.isfinite(whole.reach):
        share, least = least_gap(pd.DataFrame([asdict(whole)]))
        said = f"The gap would be smallest, {_signed(least)}, at a share of {share:.2f}"
        if share * whole.reach > 1:
            said += ", beyond the optimum, to which FairGAT caps it (`cap: false`)"
        yield (
            f"{said}: again if nothing else changed, though training with another "
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


def _sum(each: Account) -> str:
    parts = []
    for name in PARTS:
        size = _signed(getattr(each, name))
        parts.append(f"{name.replace('_', ' ')} {size}")
    return f"{_signed(each.gap)} = {', '.join(parts)}"


def _points(share: float) -> str:
    return _signed(100 * share, 1)


def _signed(value: float, decimals: int = 2) -> str:
    return f"{value:+z.{decimals}f}"
