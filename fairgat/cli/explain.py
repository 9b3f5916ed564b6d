"""`fairgat explain`: where a finished run's gap comes from, and what fair attention can and cannot do about it."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import methods
from fairgat.cli.evaluate import data_of, finished
from fairgat.config import TASKS
from fairgat.data.graph import load_npz
from fairgat.errors import DataError, NotDefined
from fairgat.measures.parity import parity_parts
from fairgat.methods.base import Method
from fairgat.tasks.rates import counted, gap, positive_rates
from fairgat.theory.account import PARTS, Account, compared, contrast, least_gap
from fairgat.theory.network import account
from fairgat.theory.runs import rebuild
from fairgat.training.record import NAME, Record, unpack


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
    logits = unpack(load_npz(directory / "predictions.npz"), record.reported)["logits"]
    tested = (
        values[split["test"]] for values in (logits > 0, graph.labels, graph.sensitive)
    )
    group, lines = predictions(*tested, graph.group_names)
    try:
        method = _trained(directory, record, data, graph, split)
        accounts = {
            each.over: each
            for each in account(method)
            if (each.layer, each.group) == ("logit", group)
        }
    except NotDefined as error:
        lines.append(f"There is no account of its logits: {error}.")
    else:
        if (
            abs(
                accounts["all"].gap
                - contrast(graph.sensitive, group) @ logits.astype(float)
            )
            > 0.01
        ):
            if type(method).postprocess is Method.postprocess:
                raise DataError(
                    f"{directory}: its model.npz, run.json and predictions.npz are not of one run"
                )
            lines.append(
                "What follows is of the network's logits, before its method changes them for decisions."
            )
        lines += attention(accounts, graph.num_groups)
    print(
        f"{record.method} on {record.dataset}, cell {record.cell}, split {record.split}"
    )
    print("\n".join(f"{place}. {line}" for place, line in enumerate(lines, start=1)))


def _trained(directory: Path, record: Record, data: Path, graph, split) -> Method:
    """Make the run's method, trained."""
    model, settings = (
        directory / "model.npz",
        methods.settings(record.module, dict(record.settings)),
    )
    edited = (
        data / "debiased" / record.dataset / record.method / f"split-{record.split}.npz"
    )
    made = (record.module, settings, graph, split, record.trained_by, record.seed)
    return rebuild(*made, model, load_npz(model), edited if edited.exists() else None)


def predictions(
    predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray, names: list[str]
) -> tuple[int, list[str]]:
    """Choose the group to compare with all others, the one that differs most, and say in two sentences how it does.

    The arrays are (n,) of the test nodes, `names` what each group is called.
    """
    gaps = {
        group: float(contrast(sensitive, group) @ predicted)
        for group in compared(sensitive)
    }
    group = max(gaps, key=lambda each: abs(gaps[each]))
    two = len(names) == 2
    rest = f"those with {names[1 - group]}" if two else "all others"

    def rates(values: np.ndarray) -> str:
        mine, others = (
            100 * values[(labels >= 0) & side].mean()
            for side in (sensitive == group, sensitive != group)
        )
        return f"{mine:.1f} % of those with {names[group]} and {others:.1f} % of {rest}"

    said = f"Test predictions are positive for {rates(predicted)}: a gap of {_points(gaps[group])} points"
    said += " (ΔSP)" if two else ""
    true = float(contrast(sensitive, group, labels == 1) @ predicted)
    if np.isfinite(true):
        said += (
            f", and among those with label 1 {_points(true)}{' (ΔEO)' if two else ''}"
        )
    if not two:
        largest = gap(
            positive_rates(counted(predicted, labels == 1, sensitive, len(names)))
        )
        said += f". The largest gap between two groups is {_points(largest)} (ΔSP)"
    of_labels, of_errors = parity_parts(
        counted(predicted, labels == 1, sensitive == group, 2)
    )
    if np.isnan(of_labels):
        return group, [
            f"{said}.",
            "What labels and errors contribute is not defined: a group has one label only.",
        ]
    contributed = (
        f"Of this gap, {_points(of_labels)} points come from the labels, as {rates(labels)} have label 1, and "
        f"{_points(of_errors)} from errors that differ between the groups."
    )
    return group, [f"{said}.", contributed]


def attention(accounts: dict[str, Account], groups: int) -> Iterator[str]:
    """Say what the logits' accounts, by the rows they are over, show: their parts, and what a share can change."""
    whole, positive = accounts["all"], accounts["label 1"]
    among = (
        f"; of those with label 1 {_sum(positive)}" if np.isfinite(positive.gap) else ""
    )
    said = f"The groups' mean logits differ by {_sum(whole)}{among} (of the second layer; docs/theory.md)."
    if np.isfinite(whole.means):
        said += (
            f" Over all nodes their shares of positive logits differ by {_points(whole.decided)} points: "
            f"{_points(whole.base_rates)} by base rates, {_points(whole.means)} by the means among people of a label, "
            f"{_points(whole.remainder)} by other differences among them."
        )
    yield said
    yield f"Fair attention sets mixing only. {_optimum(whole, groups)}"
    if np.isfinite(whole.reach):
        share, least = least_gap(pd.DataFrame([asdict(whole)]))
        beyond = (
            ", beyond the optimum, to which FairGAT caps it (`cap: false`)"
            if share * whole.reach > 1
            else ""
        )
        yield (
            f"The gap would be smallest, {_signed(least)}, at a share of {share:.2f}{beyond}: again if nothing else "
            "changed, though training with another share changes the rest, too."
        )


def _optimum(whole: Account, groups: int) -> str:
    """Say how mixing becomes 0, and what gap stays."""
    stays = f"makes it 0; if nothing else changed, {_signed(whole.gap - whole.mixing)} of the gap would stay."
    if groups > 2:
        return f"With balanced shares a retention of 0, where everyone has neighbours in every group, {stays}"
    if np.isnan(whole.reach):
        return "Where a node's attention does not sum to 1, no share says what mixing becomes."
    given = (
        f" (here they get {(1 - whole.factor) / whole.reach:.2f})"
        if whole.reach
        else ""
    )
    if whole.reach < 1:
        return f"No share makes it 0, as too few people have neighbours in the other group{given}."
    return f"A share of {1 / whole.reach:.2f} on neighbours in the other group{given} {stays}"


def _sum(each: Account) -> str:
    parts = ", ".join(
        f"{name.replace('_', ' ')} {_signed(getattr(each, name))}" for name in PARTS
    )
    return f"{_signed(each.gap)} = {parts}"


def _points(share: float) -> str:
    return _signed(100 * share, 1)


def _signed(value: float, decimals: int = 2) -> str:
    return f"{value:+z.{decimals}f}"
