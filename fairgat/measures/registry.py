"""Register every measure, here and nowhere else.

The rule `collect` computes all of them from predictions. Selection, tables, figures,
studies and audit look up which ones they use, what these are called and which direction
is better. One's own come from a file (docs/extending.md); a new one trains nothing
again.

Imports neither PyTorch nor pandas, because the rules import it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from fairgat.by_path import imported
from fairgat.config import LinkTraining, NodeTraining, Task
from fairgat.errors import ConfigError, nearest
from fairgat.measures import exposure, metrics, parity
from fairgat.measures.measure import DIVERGENCE, NUMBER, Measure, Role
from fairgat.measures.metrics import Decisions
from fairgat.tasks import rates


def _gap(name: str, label: str, tex: str, of: Callable[[Decisions], float]) -> Measure:
    return Measure(name, label, tex, of, "lower", ("chosen", "audited", "shown"))


def _aucs(decisions: Decisions) -> np.ndarray:
    return decisions.in_groups(rates.area_under_roc)


def _calibration(decisions: Decisions) -> np.ndarray:
    return decisions.in_groups(metrics.calibration_error)


def _exposure(percent: int) -> tuple[Measure, ...]:
    """List the measures of the k pairs that are ranked first.

    k is `percent` % of the number of true links.

    Beside NDKL stands that of a perfect ranking, the true links in a random order.
    """
    share = percent / 100
    first = f"first {percent} %"
    tex_first = rf"first {percent}\,\%"
    return (
        Measure(
            f"ndkl_{percent}",
            f"NDKL, {first}",
            f"NDKL, {tex_first}",
            lambda d: exposure.ndkl_at(d, share, d.scores),
            "lower",
            unit=DIVERGENCE,
        ),
        Measure(
            f"ndkl_perfect_{percent}",
            f"NDKL of a perfect ranking, {first}",
            f"NDKL of a perfect ranking, {tex_first}",
            lambda d: exposure.ndkl_at(d, share, d.labels.astype(float)),
            unit=DIVERGENCE,
        ),
        Measure(
            f"within_{percent}",
            f"Within groups, {first}",
            f"Within groups, {tex_first}",
            lambda d: exposure.within_at(d, share),
        ),
    )


ACCURACY = Measure(
    "accuracy",
    "Accuracy",
    "Accuracy",
    lambda d: rates.accuracy(d.positive, d.labels),
    "higher",
    ("utility", "audited", "shown"),
)
AUC = Measure(
    "auc",
    "AUC",
    "AUC",
    lambda d: rates.area_under_roc(d.scores, d.labels),
    "higher",
    ("utility",),
)

POSITIVE_RATE = Measure(
    "positive_rate",
    "ŷ=1 | s={which}",
    r"$\hat{y}{=}1 \mid s{=}{which}$",
    lambda d: rates.positive_rates(d.counts),
    by="group",
)
MORE_GROUPS = POSITIVE_RATE.of_one("2").name
"""Has a value where there are more than two groups."""

MEASURES: Mapping[Task, tuple[Measure, ...]] = {
    NodeTraining.task: (
        ACCURACY,
        _gap(
            "statistical_parity",
            "ΔSP",
            r"$\Delta_{S P}$",
            lambda d: d.gap(rates.positive_rates),
        ),
        _gap(
            "equal_opportunity",
            "ΔEO",
            r"$\Delta_{E O}$",
            lambda d: d.gap(rates.true_positive_rates),
        ),
        Measure(
            "parity_labels",
            "ΔSP, labels' part",
            r"$\Delta_{S P}$, labels' part",
            lambda d: parity.parts(d)[0],
        ),
        Measure(
            "parity_errors",
            "ΔSP, errors' part",
            r"$\Delta_{S P}$, errors' part",
            lambda d: parity.parts(d)[1],
        ),
        Measure("f1", "F1", "F1", lambda d: rates.f1(d.positive, d.labels), "higher"),
        AUC,
        Measure(
            "worst_group_accuracy",
            "Worst-group accuracy",
            "Worst-group accuracy",
            lambda d: float(np.fmin.reduce(metrics.accuracies(d.counts))),
            "higher",
        ),
        Measure(
            "auc_gap",
            "ΔAUC",
            r"$\Delta_{AUC}$",
            lambda d: rates.gap(_aucs(d)),
            "lower",
        ),
        Measure(
            "calibration_gap",
            "ΔECE",
            r"$\Delta_{ECE}$",
            lambda d: rates.gap(_calibration(d)),
            "lower",
        ),
        Measure(
            "statistical_parity",
            "ΔSP by {which}",
            r"$\Delta_{S P}$ by {which}",
            lambda d: d.gap_by_attribute(rates.positive_rates),
            "lower",
            by="attribute",
        ),
        Measure(
            "equal_opportunity",
            "ΔEO by {which}",
            r"$\Delta_{E O}$ by {which}",
            lambda d: d.gap_by_attribute(rates.true_positive_rates),
            "lower",
            by="attribute",
        ),
        Measure(
            "accuracy",
            "Accuracy | s={which}",
            r"Accuracy $\mid s{=}{which}$",
            lambda d: metrics.accuracies(d.counts),
            by="group",
        ),
        POSITIVE_RATE,
        Measure(
            "true_positive_rate",
            "TPR | s={which}",
            r"TPR $\mid s{=}{which}$",
            lambda d: rates.true_positive_rates(d.counts),
            by="group",
        ),
        Measure("auc", "AUC | s={which}", r"AUC $\mid s{=}{which}$", _aucs, by="group"),
        Measure(
            "calibration_error",
            "ECE | s={which}",
            r"ECE $\mid s{=}{which}$",
            _calibration,
            by="group",
        ),
    ),
    LinkTraining.task: (
        ACCURACY,
        _gap(
            "dp_mixed",
            "ΔDP_m",
            r"$\Delta DP_{m}$",
            lambda d: d.gap(rates.positive_rates, "mixed"),
        ),
        _gap("eo_mixed", "ΔEO_m", r"$\Delta EO_{m}$", lambda d: d.odds("mixed")),
        _gap(
            "dp_group",
            "ΔDP_g",
            r"$\Delta DP_{g}$",
            lambda d: d.gap(rates.positive_rates, "group"),
        ),
        _gap("eo_group", "ΔEO_g", r"$\Delta EO_{g}$", lambda d: d.odds("group")),
        _gap(
            "dp_subgroup",
            "ΔDP_s",
            r"$\Delta DP_{s}$",
            lambda d: d.gap(rates.positive_rates, "subgroup"),
        ),
        _gap("eo_subgroup", "ΔEO_s", r"$\Delta EO_{s}$", lambda d: d.odds("subgroup")),
        AUC,
        # Neither calibration nor a worst group: how many of the pairs are links is the
        # split's choice.
        Measure(
            "auc_intra",
            "AUC within groups",
            "AUC within groups",
            lambda d: d.auc_of_pairs()[0],
            "higher",
        ),
        Measure(
            "auc_inter",
            "AUC across groups",
            "AUC across groups",
            lambda d: d.auc_of_pairs()[1],
            "higher",
        ),
        Measure(
            "auc_mixed",
            "ΔAUC_m",
            r"$\Delta AUC_{m}$",
            lambda d: rates.gap(d.auc_of_pairs()),
            "lower",
        ),
        Measure("cutoff", "Cut-off", "Cut-off", lambda d: d.cutoff, unit=NUMBER),
        *_exposure(10),
        *_exposure(25),
        *_exposure(100),
        Measure(
            "within_links",
            "Within groups, true links",
            "Within groups, true links",
            exposure.within_links,
        ),
    ),
}


def adopt(paths: Iterable[str]) -> None:
    """Add the measures of files of one's own, after those of this registry.

    Raises:
        ConfigError: a file cannot be imported, or has no mapping MEASURES of measures.
    """
    for path in paths:
        for task, entries in _own(path).items():
            new = [entry for entry in entries if entry not in MEASURES[task]]
            MEASURES[task] = (*MEASURES[task], *new)
    find.cache_clear()


def _own(path: str) -> Mapping[Task, Sequence[Measure]]:
    """Read MEASURES of a file of one's own."""
    listed = getattr(imported(path), "MEASURES", None)
    advice = "MEASURES must map a task to a list of Measure; see docs/extending.md"
    if not isinstance(listed, Mapping):
        raise ConfigError(f"{path}: {advice}")
    for task, entries in listed.items():
        if task not in MEASURES:
            raise ConfigError(f"{path}: {task!r} is no task; {nearest(task, MEASURES)}")
        is_list = isinstance(entries, Sequence)
        if not is_list or not all(isinstance(entry, Measure) for entry in entries):
            raise ConfigError(f"{path}: {advice}")
    return listed


def of_task(task: str, *roles: Role) -> tuple[Measure, ...]:
    """List the measures of a task with any of these roles; all where none are given."""
    if not roles:
        return MEASURES[task]
    asked = set(roles)
    return tuple(measure for measure in MEASURES[task] if asked & set(measure.roles))


def names(task: str, *roles: Role) -> tuple[str, ...]:
    """List the names of what `of_task` lists."""
    return tuple(measure.name for measure in of_task(task, *roles))


def columns(task: str) -> tuple[str, ...]:
    """List the measures of a task's tables: the utilities, then the gaps."""
    utilities = names(task, "utility")
    others = [name for name in names(task, "shown") if name not in utilities]
    return (*utilities, *others)


def utility(task: str) -> str:
    """Name the measure that cells are chosen by."""
    return names(task, "utility")[0]


@cache
def find(name: str) -> Measure:
    """Find a measure by its name.

    An undeclared one is a plain number, of which neither direction is better.
    """
    known = [measure for measures in MEASURES.values() for measure in measures]
    for measure in known:
        if measure.name == name and not measure.by:
            return measure
    for measure in known:
        which = measure.which_of(name)
        if which:
            return measure.of_one(which)
    return Measure(name, name, name, lambda decisions: math.nan, unit=NUMBER)


def compute(task: str, decisions: Decisions) -> dict[str, float]:
    """Compute every measure of a task by its name; NaN where it is missing."""
    values: dict[str, float] = {}
    for measure in MEASURES[task]:
        try:
            value = measure.of(decisions)
        except Exception as error:  # one's own may do anything
            raise ConfigError(
                f"the measure {measure.name} failed: {type(error).__name__}: {error}"
            ) from error

        if not measure.by:
            values[measure.name] = _number(measure, value)
            continue
        for which, each in _several(measure, value).items():
            one = measure.of_one(str(which))
            values[one.name] = _number(measure, each)
    return values


def _several(measure: Measure, value: Any) -> Mapping[Any, Any]:
    """Give the values of a measure with `by`, by what each is of."""
    if measure.by == "group" and np.ndim(value) == 1:
        return dict(enumerate(value))
    if measure.by == "attribute" and isinstance(value, Mapping):
        return value
    forms = {"group": "an array with a number", "attribute": "a mapping with one"}
    raise ConfigError(
        f"the measure {measure.name} gave {value!r} in place of {forms[measure.by]} "
        f"for each {measure.by}"
    )


def _number(measure: Measure, value: Any) -> float:
    """Check a measure's value.

    An infinite one becomes missing, NaN. It stays infinite where cells of a grid are
    chosen by the measure, so that such a cell is ruled out.
    """
    if np.ndim(value):
        raise ConfigError(
            f"the measure {measure.name} gave {np.shape(value)} numbers: with `by` "
            "there is one for each group"
        )
    if not isinstance(value, Real):
        raise ConfigError(
            f"the measure {measure.name} gave {value!r} in place of a number"
        )
    chooses_cells = {"utility", "chosen"} & set(measure.roles)
    if math.isinf(value) and not chooses_cells:
        return math.nan
    return float(value)
