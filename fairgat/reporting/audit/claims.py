"""The paper's eight claims: one function each, whose docstring is the claim and, below it, the rule that it is held to.

A claim is judged on a set of results, the paper's own or ours, and gives a `Finding`: the verdict, and the checks that
it rests on in words. A check holds, does not hold, or cannot be made because a result is missing. The page of the
claims and the README are made from CLAIMS; to add a claim, write a function there.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from fairgat.reporting.paper import TASK_OF_RESULTS
from fairgat.scores.runs import FAIRNESS, HIGHER_IS_BETTER, UTILITY, under

# (data set, method, metric) → (mean, standard deviation) in percent; (data set, method, "seconds") → (seconds, 0).
Results = Mapping[tuple[str, str, str], tuple[float, float]]
SUPPORTED, NOT_SUPPORTED, PARTLY, NOT_RUN = "supported", "not supported", "supported where run", "not run"
SECONDS = "seconds"
SOCIAL, CITATION = ("pokec-z", "pokec-n", "recidivism"), ("cora", "citeseer", "pubmed")
BASELINES = ("fairgnn", "edits", "nifty")
ABLATIONS = ("fairgat-steps-12", "fairgat-steps-13", "fairgat-steps-23")
PARITY, OPPORTUNITY = FAIRNESS["node_classification"]


@dataclass(frozen=True)
class Check:
    """One comparison: on what it was made, the numbers in words, and its outcome (None where a number is missing)."""

    subject: str
    numbers: str
    holds: bool | None


@dataclass(frozen=True)
class Finding:
    """What was found of a claim."""

    verdict: str
    checks: list[Check]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    `table` holds the paper's own numbers on it. With `bounds_are_ours` the paper does not print the rule's bounds, so
    that a check that fails on its own numbers is no oddity of it.
    """

    function: Callable[[Results], Iterable[Check]]
    table: str
    bounds_are_ours: bool = False

    @property
    def text(self) -> str:
        """The claim, in one sentence."""
        return self._paragraphs()[0]

    @property
    def rule(self) -> str:
        """When it counts as supported."""
        return self._paragraphs()[1]

    def judge(self, results: Results) -> Finding:
        """The verdict on these results: one check that fails decides, missing results leave the claim open."""
        checks = list(self.function(results))
        outcomes = {check.holds for check in checks}
        if False in outcomes:
            return Finding(NOT_SUPPORTED, checks)
        if None in outcomes:
            return Finding(PARTLY if True in outcomes else NOT_RUN, checks)
        return Finding(SUPPORTED, checks)

    def _paragraphs(self) -> list[str]:
        return [" ".join(part.split()) for part in inspect.getdoc(self.function).split("\n\n")]


def improves_fairness(results: Results) -> Iterator[Check]:
    """FairGAT improves every fairness measure over GAT by 30 to 60 % on every data set, except statistical parity on
    Recidivism.

    Each improvement, rounded to a whole per cent, is at least 30 %. More than 60 % counts as well.
    """
    for dataset in SOCIAL:
        for metric in (PARITY, OPPORTUNITY):
            if (dataset, metric) == ("recidivism", PARITY):
                continue
            ours, gat = _means(results, dataset, metric, "fairgat", "gat", digits=None)
            if ours is None or not gat:
                yield Check(f"{metric} on {dataset}", "", None)
                continue
            gain = round(100 * (gat - ours) / gat)
            yield Check(f"{metric} on {dataset}", f"{gat:.2f} → {ours:.2f} ({-gain:+d} %)", gain >= 30)


def lowest_opportunity_difference(results: Results) -> Iterator[Check]:
    """FairGAT has the lowest equal-opportunity difference of all fairness-aware methods on all three data sets.

    Its mean is below every other fairness-aware method's.
    """
    for dataset in SOCIAL:
        found = {name: results.get((dataset, name, OPPORTUNITY)) for name in ("fairgat", *BASELINES)}
        yield _lowest(f"mean of {OPPORTUNITY} on {dataset}", {name: both and both[0] for name, both in found.items()})


def lowest_deviations(results: Results) -> Iterator[Check]:
    """FairGAT has the lowest standard deviation of the fairness measures on all data sets.

    Its standard deviation is below every other row's, GAT's included.
    """
    for dataset in SOCIAL:
        for metric in (PARITY, OPPORTUNITY):
            found = {name: results.get((dataset, name, metric)) for name in ("fairgat", "gat", *BASELINES)}
            yield _lowest(f"std of {metric} on {dataset}", {name: both and both[1] for name, both in found.items()})


def similar_accuracy(results: Results) -> Iterator[Check]:
    """FairGAT's accuracy is similar to GAT's.

    Its mean is at most one percentage point below GAT's.
    """
    for dataset in SOCIAL:
        yield _as_accurate(results, dataset, "gat")


def every_step_counts(results: Results) -> Iterator[Check]:
    """Leaving out any one step costs fairness or utility.

    Each ablation is worse than FairGAT in the mean of at least one of the three measures.
    """
    for dataset in SOCIAL:
        for ablation in ABLATIONS:
            worse, missing = [], False
            for metric in (UTILITY, PARITY, OPPORTUNITY):
                ours, theirs = _means(results, dataset, metric, "fairgat", ablation)
                if ours is None or theirs is None:
                    missing = True
                elif _better(metric, ours, theirs):
                    worse.append(f"{metric} {theirs:.2f} against {ours:.2f}")
            words = "" if missing else "; ".join(worse) or "worse in nothing"
            yield Check(f"{ablation} on {dataset}", words, None if missing else bool(worse))


def epochs_cost(results: Results) -> Iterator[Check]:
    """FairGAT's epoch costs about as much as GAT's (published: 1.01 to 1.04 times); FairGNN, EDITS and NIFTY cost 2 to
    4.6 times.

    The ratio to GAT's seconds per epoch is at most 1.1 for FairGAT, and between 2 and 4.6 for the others. The paper
    prints seconds only; the ratios and their range are ours.
    """
    for dataset in SOCIAL:
        for method in ("fairgat", *BASELINES):
            ours, gat = _means(results, dataset, SECONDS, method, "gat", digits=None)
            if ours is None or gat is None:
                yield Check(f"{method} on {dataset}", "", None)
                continue
            ratio = round(ours / gat, 2)
            low, high = (0, 1.1) if method == "fairgat" else (2, 4.6)
            yield Check(f"{method} on {dataset}", f"{ratio:.2f} times", low <= ratio <= high)


def beats_fairdrop(results: Results) -> Iterator[Check]:
    """FairGAT beats FairDrop in most fairness measures at similar or better accuracy.

    On each data set its mean is lower in more than half of the six measures, and its accuracy at most one percentage
    point lower.
    """
    measures = FAIRNESS["link_prediction"]
    for dataset in CITATION:
        pairs = [_means(results, dataset, metric, "fairgat", "fairdrop") for metric in measures]
        subject = f"fairness measures on {dataset}"
        if any(None in pair for pair in pairs):
            yield Check(subject, "", None)
        else:
            wins = sum(ours < theirs for ours, theirs in pairs)
            yield Check(subject, f"lower in {wins} of {len(pairs)}", wins > len(pairs) / 2)
        yield _as_accurate(results, dataset, "fairdrop")


def most_efficient(results: Results) -> Iterator[Check]:
    """FairGAT is more efficient than the other fairness-aware baselines.

    Its seconds per epoch are below every other fairness-aware method's.
    """
    for dataset in SOCIAL:
        for rival in BASELINES:
            ours, theirs = _means(results, dataset, SECONDS, "fairgat", rival, digits=None)
            if ours is None or theirs is None:
                yield Check(f"{rival} on {dataset}", "", None)
            else:
                yield Check(f"{rival} on {dataset}", f"{ours:.3g} s against {theirs:.3g} s", ours < theirs)


CLAIMS = {
    1: Claim(improves_fairness, "comparison"),
    2: Claim(lowest_opportunity_difference, "comparison"),
    3: Claim(lowest_deviations, "comparison"),
    4: Claim(similar_accuracy, "comparison"),
    5: Claim(every_step_counts, "ablation"),
    6: Claim(epochs_cost, "runtime", bounds_are_ours=True),
    7: Claim(beats_fairdrop, "link_prediction"),
    8: Claim(most_efficient, "runtime"),
}


# --------------------------------------------------------------------------------------------- parts of the checks


def _means(results: Results, dataset: str, metric: str, *methods: str, digits: int | None = 2) -> list[float | None]:
    """The means of these methods, rounded as the tables print them; None where one is missing."""
    found = [results.get((dataset, method, metric)) for method in methods]
    return [None if both is None else both[0] if digits is None else round(both[0], digits) for both in found]


def _lowest(subject: str, values: Mapping[str, float | None]) -> Check:
    """Whether FairGAT's value is below the others'. One that is not lower decides, even where another is missing."""
    known = {name: round(value, 2) for name, value in values.items() if value is not None and math.isfinite(value)}
    own = known.pop("fairgat", None)
    if own is None or not known:
        return Check(subject, "", None)
    rival = min(known, key=known.__getitem__)
    complete = len(known) == len(values) - 1
    holds = False if known[rival] <= own else (True if complete else None)
    return Check(subject, f"{own:.2f} against {known[rival]:.2f} ({rival})", holds)


def _as_accurate(results: Results, dataset: str, rival: str) -> Check:
    ours, theirs = _means(results, dataset, UTILITY, "fairgat", rival, digits=None)
    if ours is None or theirs is None:
        return Check(f"{UTILITY} on {dataset}", "", None)
    words = f"{ours:.2f} against {theirs:.2f} ({ours - theirs:+.2f})"
    return Check(f"{UTILITY} on {dataset}", words, round(ours - theirs, 2) >= -1)


def _better(metric: str, value: float, other: float) -> bool:
    return value > other if HIGHER_IS_BETTER[metric] else value < other


# -------------------------------------------------------------------------------------- the results to be judged on


def papers(paper: Mapping, table: str) -> Results:
    """The results that one of the paper's tables prints."""
    if table == "runtime":
        return {(d, m, SECONDS): (value, 0.0) for d, methods in paper[table].items() for m, value in methods.items()}
    return {
        (dataset, method, metric): (value.mean, value.std)
        for dataset, methods in paper[table].items()
        for method, metrics in methods.items()
        for metric, value in metrics.items()
    }


def ours(winners: pd.DataFrame, rule: str, protocol: str, seconds: Mapping[str, Mapping[str, float]]) -> Results:
    """Our results under one selection rule; `seconds` are the median seconds per epoch of each data set and method.

    One split has no standard deviation: NaN.
    """
    shown = under(winners[winners["rule"] == rule], protocol)
    found = {
        (row.dataset, row.method, row.metric): (100 * row.mean, 100 * row.std if row.n_splits > 1 else math.nan)
        for row in shown.itertuples()
    }
    return found | {(d, m, SECONDS): (value, 0.0) for d, methods in seconds.items() for m, value in methods.items()}


# ------------------------------------------------------------------------------------------- oddities of the paper


def inconsistencies(paper: Mapping) -> list[str]:
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


def misplaced_bold(paper: Mapping) -> list[str]:
    """Places where the paper's bold print is not on the best mean (or not on it alone), one sentence each."""
    found = []
    for table in TASK_OF_RESULTS:
        for dataset, methods in paper[table].items():
            for metric in next(iter(methods.values())):
                means = {method: metrics[metric].mean for method, metrics in methods.items()}
                target = (max if HIGHER_IS_BETTER[metric] else min)(means.values())
                best = {method for method, mean in means.items() if mean == target}
                bold = {method for method, metrics in methods.items() if metrics[metric].bold}
                if bold != best:
                    found.append(
                        f"{table}, {dataset}, {metric}: bold is {', '.join(sorted(bold)) or 'nothing'}, "
                        f"the best is {', '.join(sorted(best))} ({target:.2f})."
                    )
    return found
