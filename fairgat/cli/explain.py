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
from fairgat.tasks.rates import counted, positive_rates
from fairgat.tasks.rates import gap as gap_between
from fairgat.theory.account import Account, compared, contrast, least_gap
from fairgat.theory.network import account
from fairgat.theory.runs import rebuild
from fairgat.training.record import NAME, unpack


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say in up to five lines where the gap between the groups comes from, and what fair attention can do about it."
    )
    parser.add_argument("directory", type=Path, help=f"the run's folder, the one with {NAME}")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    directory = arguments.directory
    record = finished(directory)
    if "theory" not in TASKS[record.task].measured:
        known = " and ".join(task.title.lower() for task in TASKS.values() if "theory" in task.measured)
        raise NotDefined(f"{directory}: the account is of {known}; this is a run of {record.task}")
    data, graph, split = data_of(directory, record)
    logits = unpack(load_npz(directory / "predictions.npz"), record.reported)["logits"]
    title = f"{record.method} on {record.dataset}, cell {record.cell}, split {record.split}"
    tested = (values[split["test"]] for values in (logits > 0, graph.labels, graph.sensitive))
    group, gap, parts = predictions(*tested, graph.group_names)
    head = f"{title}\n1. {gap}\n2. {parts}"
    settings, model = methods.settings(record.module, dict(record.settings)), directory / "model.npz"
    edited = data / "debiased" / record.dataset / record.method / f"split-{record.split}.npz"
    try:
        method = rebuild(
            record.module, settings, graph, split, record.trained_by, record.seed, model, load_npz(model),
            edited if edited.exists() else None,
        )  # fmt: skip
        accounts = {each.over: each for each in account(method) if (each.layer, each.group) == ("logit", group)}
    except NotDefined as error:
        print(f"{head}\n3. There is no account of its logits: {error}.")
        return
    changed = abs(accounts["all"].gap - contrast(graph.sensitive, group) @ logits.astype(float)) > 0.01
    if changed and type(method).postprocess is Method.postprocess:
        raise DataError(f"{directory}: its model.npz, run.json and predictions.npz are not of one run")
    print(head)
    if changed:
        print("Of the network's logits, before its method changes them for decisions:")
    for place, line in enumerate(attention(accounts, graph.num_groups), start=3):
        print(f"{place}. {line}")


def predictions(
    predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray, names: list[str]
) -> tuple[int, str, str]:
    """Choose the group to compare with all others, the one that differs most, and say in two sentences how it does.

    Args:
        predicted, labels, sensitive: (n,) of the test nodes.
        names: what each group is called.
    """
    gaps = {group: float(contrast(sensitive, group) @ predicted) for group in compared(sensitive)}
    group = max(gaps, key=lambda key: abs(gaps[key]))

    def rates(values: np.ndarray) -> str:
        mine, others = (values[(labels >= 0) & side].mean() for side in (sensitive == group, sensitive != group))
        rest = f"those with {names[1 - group]}" if len(names) == 2 else "all others"
        return f"{100 * mine:.1f} % of those with {names[group]} and {100 * others:.1f} % of {rest}"

    two = len(names) == 2
    true = contrast(sensitive, group, labels == 1) @ predicted
    among = f", and among those with label 1 {_points(true)}{' (ΔEO)' * two}" if np.isfinite(true) else ""
    parity = float(gap_between(positive_rates(counted(predicted, labels == 1, sensitive, len(names)))))
    largest = "" if two else f" The largest gap between two groups is {_points(parity)} (ΔSP)."
    points = f"a gap of {_points(gaps[group])} points{' (ΔSP)' * two}{among}.{largest}"
    gap = f"Test predictions are positive for {rates(predicted)}: {points}"
    parts = parity_parts(counted(predicted, labels == 1, sensitive == group, 2))
    if np.isnan(parts).any():
        return group, gap, "What labels and errors contribute is not defined: a group has one label only."
    of_labels = f"Of this gap, {_points(parts[0])} points come from the labels, as {rates(labels)} have label 1"
    return group, gap, f"{of_labels}, and {_points(parts[1])} from errors that differ between the groups."


def attention(accounts: dict[str, Account], groups: int) -> Iterator[str]:
    """Say what the logits' accounts, by the rows they are over, show: their parts, the optimum, and beyond it."""
    whole, positive = accounts["all"], accounts["label 1"]
    among = f"; of those with label 1 {_sum(positive)}" if np.isfinite(positive.gap) else ""
    yield (
        f"The groups' mean logits differ by {_sum(whole)}{among} (docs/theory.md). Over all nodes their shares of "
        f"positive logits differ by {_points(whole.decided)} points: {_points(whole.by_means)} come from the "
        f"means, {_points(whole.decided - whole.by_means)} from how far either group's logits lie from the "
        "threshold."
    )
    without = whole.gap - whole.mixing
    stays = f"if nothing else changed, {_signed(without)} of the gap would stay."
    if groups > 2:
        yield (
            "Fair attention sets mixing only. Balanced shares with a retention of 0 make it 0 where everyone has "
            f"neighbours in every group; {stays}"
        )
        return
    if np.isnan(whole.reach):
        yield (
            "Fair attention sets mixing only, and where a node's attention does not sum to 1, no share says what "
            "mixing becomes."
        )
        return
    optimum = 1 / whole.reach if whole.reach else np.inf
    given = f" (here they get {(1 - whole.factor) / whole.reach:.2f})" if whole.reach else ""
    if optimum <= 1:
        yield (
            f"Fair attention sets mixing only. A share of {optimum:.2f} on neighbours in the other group{given} makes "
            f"it 0; {stays}"
        )
    else:
        least = 1 - whole.reach
        yield (
            "Fair attention sets mixing only, and no share makes it 0, as too few people have neighbours in the other "
            f"group{given}. If nothing else changed, a share of 1 would keep {least:.2f} of the difference that mixing "
            f"passes on, and {_signed(least * whole.between + without)} of the gap would stay."
        )
    share, gap = least_gap(pd.DataFrame([asdict(whole)]))
    beyond = ", beyond the optimum, to which FairGAT caps it (`cap: false`)" if share > optimum else ""
    yield (
        f"The gap would be smallest, {_signed(gap)}, at a share of {share:.2f}{beyond}: again if nothing else changed, "
        "though training with another share changes the rest, too."
    )


def _sum(each: Account) -> str:
    parts = map(_signed, (each.mixing, each.label_selection, each.rest, each.gate))
    return "{} = mixing {}, label selection {}, the rest {}, gate {}".format(_signed(each.gap), *parts)


def _points(share: float) -> str:
    return _signed(100 * share, 1)


def _signed(value: float, decimals: int = 2) -> str:
    return f"{round(value, decimals) + 0:+.{decimals}f}"  # + 0: no -0.00
