"""The paper's claims (claims.yaml), judged on the paper's own numbers and on ours.

A predicate turns a claim's arguments and a set of results into checks; a check holds, does not hold, or cannot be made
because a result is missing. Results are plain mappings, so that the paper's numbers and ours go through the same code.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

import pandas as pd
import yaml

from fairgat.reporting.paper import TASK_OF_RESULTS
from fairgat.scores.runs import HIGHER_IS_BETTER

# (data set, method, metric) → (mean, standard deviation) in percent; (data set, method, "seconds") → (seconds, 0).
Results = Mapping[tuple[str, str, str], tuple[float, float]]
SUPPORTED, NOT_SUPPORTED, PARTLY, NOT_RUN = "supported", "not supported", "supported where run", "not run"
SECONDS = "seconds"


@dataclass(frozen=True)
class Check:
    """One comparison: on what it was made, the numbers in words, and its outcome (None where a number is missing)."""

    subject: str
    numbers: str
    holds: bool | None


def load() -> list[dict[str, Any]]:
    """claims.yaml."""
    return yaml.safe_load(resources.files(__package__).joinpath("claims.yaml").read_text(encoding="utf-8"))


def judge(claim: Mapping[str, Any], results: Results) -> list[Check]:
    """Every check of a claim on these results."""
    arguments = {("excluded" if key == "except" else key): value for key, value in claim["with"].items()}
    return PREDICATES[claim["predicate"]](results, **arguments)


def status(checks: Sequence[Check]) -> str:
    """`not supported` if any check fails, `supported` if all hold; missing results leave the claim open."""
    outcomes = [check.holds for check in checks]
    if False in outcomes:
        return NOT_SUPPORTED
    if None in outcomes:
        return PARTLY if True in outcomes else NOT_RUN
    return SUPPORTED


def papers_results(paper: Mapping[str, Any], table: str) -> Results:
    """The results that one of the paper's tables prints."""
    if table == "runtime":
        return {(d, m, SECONDS): (value, 0.0) for d, methods in paper[table].items() for m, value in methods.items()}
    return {
        (dataset, method, metric): (value.mean, value.std)
        for dataset, methods in paper[table].items()
        for method, metrics in methods.items()
        for metric, value in metrics.items()
    }


def our_results(by_rule: pd.DataFrame, rule: str, seconds: Mapping[str, Mapping[str, float]]) -> Results:
    """Our results under one selection rule; `seconds` are the median seconds per epoch of each data set and method.

    One split has no standard deviation: NaN.
    """
    found = {
        (row.dataset, row.method, row.metric): (100 * row.mean, 100 * row.std if row.n_splits > 1 else math.nan)
        for row in by_rule[by_rule["rule"] == rule].itertuples()
        if pd.notna(row.mean)
    }
    return found | {(d, m, SECONDS): (value, 0.0) for d, methods in seconds.items() for m, value in methods.items()}


def inconsistencies(paper: Mapping[str, Any]) -> list[str]:
    """Results that two of the paper's tables print differently, one sentence per data set and method."""
    found = []
    first, second = paper["comparison"], paper["ablation"]
    for dataset, methods in first.items():
        for method, metrics in methods.items():
            other = second.get(dataset, {}).get(method, metrics)
            if any((value.mean, value.std) != (other[name].mean, other[name].std) for name, value in metrics.items()):
                rows = [" / ".join(f"{v.mean:.2f} ± {v.std:.2f}" for v in row.values()) for row in (metrics, other)]
                found.append(
                    f"The row of {method} on {dataset} differs between the comparison ({rows[0]}) and the ablation "
                    f"({rows[1]}). The audit compares ours with both."
                )
    return found


def misplaced_bold(paper: Mapping[str, Any]) -> list[str]:
    """Places where the paper's bold print is not on the best mean (or not on it alone), one sentence each."""
    found = []
    for table in TASK_OF_RESULTS:
        for dataset, methods in paper[table].items():
            for metric in next(iter(methods.values())):
                means = {method: metrics[metric].mean for method, metrics in methods.items()}
                target = (max if metric in HIGHER_IS_BETTER else min)(means.values())
                best = {method for method, mean in means.items() if mean == target}
                bold = {method for method, metrics in methods.items() if metrics[metric].bold}
                if bold != best:
                    found.append(
                        f"{table}, {dataset}, {metric}: bold is {', '.join(sorted(bold)) or 'nothing'}, "
                        f"the best is {', '.join(sorted(best))} ({target:.2f})."
                    )
    return found


def _check(
    results: Results,
    subject: str,
    dataset: str,
    metric: str,
    methods: tuple[str, str],
    outcome: Callable[[float, float], tuple[str, bool | None]],
) -> Check:
    """The means of two methods against each other, as `outcome` puts and judges them; open if one is missing."""
    ours, theirs = (results.get((dataset, method, metric)) for method in methods)
    if not ours or not theirs:
        return Check(subject, "", None)
    return Check(subject, *outcome(ours[0], theirs[0]))


def _improves(
    results: Results,
    subject: str,
    reference: str,
    metrics: list[str],
    datasets: list[str],
    excluded: list[list[str]],
    at_least: float,
) -> list[Check]:
    def outcome(ours: float, theirs: float) -> tuple[str, bool | None]:
        if theirs == 0:
            return "", None
        gain = round(100 * (theirs - ours) / theirs)
        return f"{theirs:.2f} → {ours:.2f} ({-gain:+d} %)", gain >= at_least

    return [
        _check(results, f"{metric} on {dataset}", dataset, metric, (subject, reference), outcome)
        for dataset in datasets
        for metric in metrics
        if [dataset, metric] not in excluded
    ]


def _lowest(
    results: Results, subject: str, rivals: list[str], metrics: list[str], datasets: list[str], statistic: str
) -> list[Check]:
    which = ("mean", "std").index(statistic)
    checks = []
    for dataset in datasets:
        for metric in metrics:
            values = {
                method: round(results[dataset, method, metric][which], 2)  # as the tables print it
                for method in (subject, *rivals)
                if (dataset, method, metric) in results
            }
            values = {method: value for method, value in values.items() if math.isfinite(value)}
            own = values.pop(subject, None)
            rival = min(values, key=values.__getitem__, default=None)
            holds, numbers = None, ""
            if own is not None and rival is not None:
                numbers = f"{own:.2f} against {values[rival]:.2f} ({rival})"
                complete = len(values) == len(rivals)
                holds = False if values[rival] <= own else (True if complete else None)
            checks.append(Check(f"{statistic} of {metric} on {dataset}", numbers, holds))
    return checks


def _similar(
    results: Results, subject: str, reference: str, metrics: list[str], datasets: list[str], tolerance: float
) -> list[Check]:
    def outcome(ours: float, theirs: float) -> tuple[str, bool]:
        difference = ours - theirs
        return f"{ours:.2f} against {theirs:.2f} ({difference:+.2f})", round(difference, 2) >= -tolerance

    return [
        _check(results, f"{metric} on {dataset}", dataset, metric, (subject, reference), outcome)
        for dataset in datasets
        for metric in metrics
    ]


def _costs(results: Results, subject: str, rivals: list[str], metrics: list[str], datasets: list[str]) -> list[Check]:
    checks = []
    for dataset in datasets:
        for rival in rivals:
            worse, missing = [], False
            for metric in metrics:
                ours, theirs = results.get((dataset, subject, metric)), results.get((dataset, rival, metric))
                if not ours or not theirs:
                    missing = True
                elif _better(metric, round(ours[0], 2), round(theirs[0], 2)):  # as the tables print them
                    worse.append(f"{metric} {theirs[0]:.2f} against {ours[0]:.2f}")
            numbers = "" if missing else "; ".join(worse) or "worse in nothing"
            checks.append(Check(f"{rival} on {dataset}", numbers, None if missing else bool(worse)))
    return checks


def _costs_times(
    results: Results, reference: str, datasets: list[str], ranges: Mapping[str, list[float]]
) -> list[Check]:
    def outcome(low: float, high: float, ours: float, base: float) -> tuple[str, bool]:
        ratio = round(ours / base, 2)
        return f"{ratio:.2f} times", low <= ratio <= high

    return [
        _check(results, f"{method} on {dataset}", dataset, SECONDS, (method, reference), partial(outcome, *bounds))
        for dataset in datasets
        for method, bounds in ranges.items()
    ]


def _cheapest(results: Results, subject: str, rivals: list[str], datasets: list[str]) -> list[Check]:
    def outcome(ours: float, theirs: float) -> tuple[str, bool]:
        return f"{ours:.3g} s against {theirs:.3g} s", ours < theirs

    return [
        _check(results, f"{rival} on {dataset}", dataset, SECONDS, (subject, rival), outcome)
        for dataset in datasets
        for rival in rivals
    ]


def _wins_most(
    results: Results, subject: str, rival: str, metrics: list[str], datasets: list[str], tolerance: float
) -> list[Check]:
    checks = []
    for dataset in datasets:
        pairs = [(results.get((dataset, subject, m)), results.get((dataset, rival, m))) for m in metrics]
        if any(not ours or not theirs for ours, theirs in pairs):
            checks.append(Check(f"fairness measures on {dataset}", "", None))
        else:
            wins = sum(round(ours[0], 2) < round(theirs[0], 2) for ours, theirs in pairs)
            checks.append(
                Check(f"fairness measures on {dataset}", f"lower in {wins} of {len(pairs)}", wins > len(pairs) / 2)
            )
        checks += _similar(results, subject, rival, ["accuracy"], [dataset], tolerance)
    return checks


def _better(metric: str, value: float, other: float) -> bool:
    return value > other if metric in HIGHER_IS_BETTER else value < other


PREDICATES: dict[str, Callable[..., list[Check]]] = {
    "improves": _improves,
    "lowest": _lowest,
    "similar": _similar,
    "costs": _costs,
    "costs_times": _costs_times,
    "cheapest": _cheapest,
    "wins_most": _wins_most,
}
