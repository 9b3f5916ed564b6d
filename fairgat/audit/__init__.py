"""Does the paper hold? Its numbers (`agreement`) and its claims (`claims`) against ours, as `pages` and in a few lines.

`make` gives every file of results/audit from the summaries and the runtimes. `support` says how far the paper's
own numbers carry its claims. Start with `claims`: one function a claim.
"""

from collections.abc import Mapping

import pandas as pd

from fairgat.audit import agreement, claims, pages, results, support
from fairgat.config.shown import AuditSettings
from fairgat.paper import sample_deviation
from fairgat.report import labels
from fairgat.report.inputs import Files, by_dataset
from fairgat.report.render import render
from fairgat.report.tables.runtime import medians
from fairgat.scores.paired import REFERENCE, against_reference, half_width
from fairgat.scores.runs import FAILURE, read, under
from fairgat.scores.selection import RULES
from fairgat.scores.summary import with_same

STATUSES = (claims.SUPPORTED, claims.PARTLY, claims.NOT_SUPPORTED, claims.NOT_RUN)


PAPER = "Paper's own numbers"


def make(settings: AuditSettings, files: Files) -> dict[str, str]:
    """Write the text of each of the audit's files, by its name.

    Args:
        files: of the kinds `winners`, `runs`, `runtime`, and `more_splits`, a study's differences.csv
            or none.
    """
    rows, runs = with_same(read(*files["winners"]), settings.same), read(*files["runs"])
    numbers = agreement.compare(rows, settings.margins, settings.protocols, settings.ddof)
    protocols = agreement.compare_protocols(rows, settings.margins, settings.ddof)

    winners = _distinct(rows, settings)  # the claims are judged by methods that differ
    studies = {str(path): _distinct(read(path), settings) for path in files.get("more_splits", ())}
    paired = against_reference(runs, winners, settings.rule, settings.protocols)
    ratios = {dataset.name: settings.ratios[dataset.task] for dataset in settings.datasets}
    paired = paired.assign(corrected=half_width(paired, paired["dataset"].map(ratios)))

    seconds = results.seconds(medians(by_dataset(files["runtime"])))
    ordered = [settings.rule, *(rule for rule in RULES if rule != settings.rule)]
    ours = {rule: {**results.ours(winners, rule, settings.protocols), **seconds} for rule in ordered}
    checks = _checks(ours, studies)
    statuses = judge(ours)
    counts = count(numbers, statuses)

    own, together = support.differences(), support.correlations(_deviations(winners, paired, studies, settings))
    splits = [_splits(frame) for frame in (winners, *studies.values())]
    chances = support.chances(support.scenarios([*winners["dataset"].unique()], splits), together)
    written = {
        "paper_vs_reproduced": pages.verdicts(numbers, protocols, settings),
        "claims": pages.claims(checks, own, chances, together),
        "paired": pages.paired(paired, settings),
    }
    tables = {
        "paper_vs_reproduced": numbers, "protocols": protocols, "paired": paired, "paper_differences": own,
        "checks": checks, "claims": statuses, "counts": counts,
    }  # fmt: skip
    return {
        "chances.csv": chances.to_csv(float_format="%.4g", lineterminator="\n"),
        "headline.txt": headline(runs, counts, numbers, chances, settings),
        **{
            f"{name}.csv": frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
            for name, frame in tables.items()
        },
        **{f"{name}.{form}": render(page, form) for name, page in written.items() for form in ("md", "html", "json")},
    }


def _checks(ours: Mapping[str, results.Results], studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The checks of every claim on the paper's own numbers, on ours under each rule, and on studies, by their file."""
    checks = [claims.checks(PAPER), *(claims.checks(f"Ours ({rule})", each) for rule, each in ours.items())]
    for path, frame in studies.items():
        checks.append(claims.checks(f"Ours ({_splits(frame)} splits)", results.of_study(frame), path))
    return pd.concat(checks)


def _distinct(frame: pd.DataFrame, settings: AuditSettings) -> pd.DataFrame:
    return frame[~frame["method"].isin([*settings.same])]


def _splits(frame: pd.DataFrame) -> int:
    """The number of splits behind the means of a summary or a study."""
    return int(frame["n_splits"].max()) if len(frame) else 0


def _deviations(
    winners: pd.DataFrame, paired: pd.DataFrame, studies: Mapping[str, pd.DataFrame], settings: AuditSettings
) -> pd.DataFrame:
    """What `support.correlations` reads: of the study with the most splits, or else of the run's selected cells."""
    if studies:
        frame = max(studies.values(), key=_splits)
        frame = frame[(frame["run_on"] == frame["dataset"]) & (frame["of"] == REFERENCE)]
        frame = frame[(frame["epochs"] == "accuracy") & (frame["of_epochs"] == "accuracy")]
    else:
        frame = under(winners[winners["rule"] == settings.rule], *settings.protocols)
        spreads = paired.loc[paired["selected"], ["dataset", "method", "metric", "spread"]]
        frame = frame.merge(spreads, how="left", on=["dataset", "method", "metric"])
    frame = frame[frame["n_splits"] > 1]
    return frame.assign(std=[sample_deviation(row.std, row.n_splits, settings.ddof) for row in frame.itertuples()])


def runs_in_words(runs: pd.DataFrame, settings: AuditSettings) -> str:
    """Say in a sentence what was run; `runs` are as `fairgat.scores.runs.read` gives them."""
    ran, titles = runs.drop_duplicates(["dataset", "method", "cell", "split"]), settings.dataset_titles
    names = [titles.get(name, name) for name in ran["dataset"].unique()]
    failed, counts = (ran["metric"] == FAILURE).sum(), ran.groupby("dataset")["split"].nunique()
    splits = f"{ran['split'].nunique()} splits of each data set"
    if counts.nunique() > 1:
        splits = f"{counts.min()} to {counts.max()} splits of a data set"
    return (
        f"{len(ran)} runs{f', {failed} of which failed' if failed else ''}: {ran['method'].nunique()} methods with "
        f"{len(ran[['method', 'cell']].drop_duplicates())} cells of hyperparameters, {splits} ({', '.join(names)})."
    )


def judge(ours: Mapping[str, results.Results]) -> pd.DataFrame:
    """Judge each `claim` by its number under each `rule`, by our results: its `status`."""
    rows = [
        (number, rule, claims.status([check.holds for check in claim.function(each)]))
        for number, claim in claims.CLAIMS.items()
        for rule, each in ours.items()
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


def headline(
    runs: pd.DataFrame, counts: pd.DataFrame, numbers: pd.DataFrame, chances: pd.DataFrame, settings: AuditSettings
) -> str:
    """Say in three paragraphs what was run, how many numbers agree, and how many claims hold.

    Args:
        runs: as `fairgat.scores.runs.read` gives them.
        counts: as `count` gives them.
        numbers: as `agreement.compare` gives them.
        chances: as `support.chances` gives them.
    """
    rule, paragraphs = settings.rule, [runs_in_words(runs, settings)]
    numbers = numbers[numbers["rule"] == rule]
    if (numbers["verdict"] == labels.NOT_RUN).all():
        return "\n\n".join([*paragraphs, f"None of the paper's {len(numbers)} results is among them.\n"])
    for about, what in [("numbers", "results (mean and standard deviation)"), ("claims", "claims")]:
        rows = counts[(counts["about"] == about) & (counts["rule"] == rule) & (counts["count"] > 0)]
        words = ", ".join(f"{count} {outcome}" for count, outcome in zip(rows["count"], rows["outcome"], strict=True))
        words = words.replace(labels.AGREES, "agree")
        paragraphs.append(f"Of the paper's {rows['count'].sum()} {what}, at cells chosen by the rule {rule}: {words}.")
    paragraphs[1] += f" {agreement.expected_in_words(numbers)}"
    paragraphs[2] += f" {support.in_words(chances)}"
    return "\n\n".join(paragraphs) + "\n"
