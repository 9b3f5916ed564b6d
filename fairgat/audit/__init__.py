"""Does the paper hold? Its numbers (`agreement`) and its claims (`claims`) against ours, as `pages` and in a few lines.

`make` gives every file of results/audit from the summaries and the runtimes. `support` says how far the paper's
own numbers carry its claims. Start with `claims`: one function a claim.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.audit import agreement, claims, pages, support
from fairgat.config.shown import AuditSettings
from fairgat.report import labels
from fairgat.report.inputs import Files, by_dataset
from fairgat.report.render import render
from fairgat.report.tables.runtime import medians
from fairgat.scores.paired import REFERENCE, against_reference, half_width
from fairgat.scores.runs import FAILURE, read
from fairgat.scores.selection import RULES
from fairgat.scores.summary import with_same

STATUSES = (claims.SUPPORTED, claims.PARTLY, claims.NOT_SUPPORTED, claims.NOT_RUN)


def make(settings: AuditSettings, files: Files) -> dict[str, str]:
    """Write the text of each of the audit's files, by its name.

    Args:
        files: of the kinds `winners`, `runs`, `runtime`, and `more_splits`, a study's differences.csv
            or none.
    """
    rule, shown = settings.rule, settings.protocols
    all_rows = with_same(read(*files["winners"]), settings.same)
    winners, *more = (  # the claims are judged by methods that differ
        frame[~frame["method"].isin([*settings.same])] for frame in [all_rows, *map(read, files.get("more_splits", ()))]
    )
    numbers = agreement.compare(all_rows, settings.margins, shown, settings.ddof)
    protocols = agreement.compare_protocols(all_rows, settings.margins, settings.ddof)
    seconds = medians(by_dataset(files["runtime"]))
    ours = {name: claims.ours(winners, name, shown, seconds) for name in RULES}
    statuses = judge(ours)
    counts = count(numbers, statuses)
    runs = read(*files["runs"])
    beside = {f"Ours ({name})": results for name, results in ({rule: ours[rule]} | ours).items()}
    beside |= {f"Ours ({_splits(frame)} splits)": claims.of_study(frame) for frame in more}
    own = support.differences()
    chances = support.chances((set(frame["dataset"]), _splits(frame)) for frame in [winners, *more])
    paired = against_reference(runs, winners, rule, shown)
    ratios = {dataset.name: settings.ratios[dataset.task] for dataset in settings.datasets}
    paired = paired.assign(corrected=half_width(paired, paired["dataset"].map(ratios)))
    written = {
        "paper_vs_reproduced": pages.verdicts(numbers, protocols, settings),
        "claims": pages.claims(beside, own, chances),
        "paired": pages.paired(paired, settings),
    }
    tables = {"paper_vs_reproduced": numbers, "protocols": protocols, "paired": paired, "paper_differences": own}
    return {
        "counts.csv": counts.to_csv(index=False, lineterminator="\n"),
        "claims.csv": statuses.to_csv(index=False, lineterminator="\n"),
        "chances.csv": chances.to_csv(float_format="%.4g", lineterminator="\n"),
        "headline.txt": f"{runs_in_words(runs, settings)}\n\n{headline(counts, numbers, chances, settings)}",
        **{
            f"{name}.csv": frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
            for name, frame in tables.items()
        },
        **{f"{name}.{form}": render(page, form) for name, page in written.items() for form in ("md", "html", "json")},
    }


def _splits(frame: pd.DataFrame) -> int:
    """The number of splits behind the means of a summary or a study."""
    return int(frame["n_splits"].max()) if len(frame) else 0


def runs_in_words(runs: pd.DataFrame, settings: AuditSettings) -> str:
    """Say in a sentence what was run; `runs` are as `fairgat.scores.runs.read` gives them."""
    each, known = runs.drop_duplicates(["dataset", "method", "cell", "split"]), settings.dataset_titles
    names = [known.get(name, name) for name in each["dataset"].unique()]
    failed, counts = (each["metric"] == FAILURE).sum(), each.groupby("dataset")["split"].nunique()
    splits = f"{each['split'].nunique()} splits of each data set"
    if counts.nunique() > 1:
        splits = f"{counts.min()} to {counts.max()} splits of a data set"
    return (
        f"{len(each)} runs{f', {failed} of which failed' if failed else ''}: {each['method'].nunique()} methods with "
        f"{len(each[['method', 'cell']].drop_duplicates())} cells of hyperparameters, {splits} ({', '.join(names)})."
    )


def judge(results: Mapping[str, claims.Results]) -> pd.DataFrame:
    """Judge each `claim` by its number under each `rule`, from `results`: its `status`."""
    rows = [
        (number, rule, claim.judge(ours)[0])
        for number, claim in claims.CLAIMS.items()
        for rule, ours in results.items()
    ]
    return pd.DataFrame(rows, columns=["claim", "rule", "status"])


def count(numbers: pd.DataFrame, statuses: pd.DataFrame) -> pd.DataFrame:
    """Count each verdict (about `numbers`, then about `claims`) under each selection rule.

    Args:
        numbers: as `agreement.compare` gives them.
        statuses: as `judge` gives them.

    Returns:
        One row per rule and outcome, with the columns `about`, `rule`, `outcome` and `count`.
    """
    kinds = [("numbers", numbers, "verdict", labels.VERDICTS), ("claims", statuses, "status", STATUSES)]
    rows = [
        (about, rule, outcome, ((frame["rule"] == rule) & (frame[column] == outcome)).sum())
        for rule in statuses["rule"].unique()
        for about, frame, column, outcomes in kinds
        for outcome in outcomes
    ]
    return pd.DataFrame(rows, columns=["about", "rule", "outcome", "count"])


def headline(counts: pd.DataFrame, numbers: pd.DataFrame, chances: pd.DataFrame, settings: AuditSettings) -> str:
    """Say in three paragraphs how many numbers agree, how many claims hold, and what the verdicts on numbers mean.

    If none of the paper's results was run, one sentence says so.

    Args:
        counts: as `count` gives them.
        numbers: as `agreement.compare` gives them.
        chances: as `support.chances` gives them.
    """
    paragraphs, rule = [], settings.rule
    if (numbers["verdict"] == labels.NOT_RUN).all():
        return f"None of the paper's {(numbers['rule'] == rule).sum()} results is among them.\n"
    for about, what in [("numbers", "results (mean and standard deviation)"), ("claims", "claims")]:
        rows = counts[(counts["about"] == about) & (counts["rule"] == rule) & (counts["count"] > 0)]
        words = ", ".join(f"{count} {outcome}" for count, outcome in zip(rows["count"], rows["outcome"], strict=True))
        words = words.replace(labels.AGREES, "agree")
        paragraphs.append(f"Of the paper's {rows['count'].sum()} {what}, at cells chosen by the rule {rule}: {words}.")
    # With the run's own splits, or with the paper's where it has only one.
    splits, alike = chances.columns[min(1, len(chances.columns) - 2)], chances.iloc[:, -1]
    each = ", ".join(f"{claim} {chance:.2f} ({alike[claim]:.2f})" for claim, chance in chances[splits].dropna().items())
    paragraphs[-1] += (
        " Claims can fail, or pass, by luck. The chance of support if the paper's tables were exactly right "
        f"({splits}), and, in brackets, if all methods were alike: claim {each}."
    )
    unsure = numbers[(numbers["rule"] == rule) & (numbers["verdict"] == labels.UNDECIDED)]
    text = agreement.in_words(settings.margins)
    if len(unsure):
        halves = (unsure["ci_high"] - unsure["ci_low"]) / 2
        half, wide = halves.median(), (~(halves <= unsure["margin"])).sum()
        median = f"the median interval of such a difference is ± {half:.2g} percentage points"
        text += (
            f"; {'one split gives no interval' if math.isnan(half) else median}; for {wide} of the "
            f"{len(unsure)} it is wider than the margin, so that they could not have agreed; "
            f"{agreement.significant_alone(unsure)} would count as different if each were the only one tested"
        )
    return "\n\n".join([*paragraphs, f"{text}.\n"])
