"""Does the paper hold?

Its numbers (`agreement`) and its claims (`claims`) against ours, as `pages` and in a
few lines.

`make` gives every file of results/audit from the summaries and the runtimes. `support`
says how far the paper's own numbers carry its claims. Start with `claims`: one function
a claim.
"""

from collections.abc import Mapping

import pandas as pd

from fairgat.audit import agreement, claims, pages, paired, results, support
from fairgat.config.shown import AuditSettings
from fairgat.report import labels
from fairgat.report.inputs import Files, by_dataset
from fairgat.report.model import Table
from fairgat.report.render import render
from fairgat.report.tables.runtime import medians
from fairgat.scores.runs import FAILURE, read
from fairgat.scores.selection import RULES
from fairgat.scores.summary import with_same


def make(settings: AuditSettings, files: Files) -> dict[str, str]:
    """Write the text of each of the audit's files, by its name.

    A run that is not about the paper has only `paired`.

    Args:
        files: of the kinds `winners`, `runs` and `runtime`.
    """
    runs = read(*files["runs"])
    rows = with_same(read(*files["winners"]), settings.same)
    winners = _distinct(rows, settings)
    differences_to_gat = paired.compared(runs, winners, settings)
    tables = {"paired": differences_to_gat[paired.COLUMNS]}
    written = {"paired": paired.page(differences_to_gat)}
    if not settings.compares_with_paper:
        return _texts(tables, written)

    numbers = agreement.compare(
        rows, settings.margins, settings.protocols, settings.ddof
    )
    protocols = agreement.compare_protocols(rows, settings.margins, settings.ddof)

    times = medians(by_dataset(files["runtime"]))
    headings = _headings(settings)
    ours = {}
    for heading, rule in headings.items():
        scores = results.ours(winners, rule, settings.protocols)
        ours[heading] = {**scores, **results.seconds(times)}
    checks = _checks(ours)
    statuses = claims.statuses(checks)[[*headings]]
    statuses = statuses.rename(columns=headings).rename_axis(columns="rule")
    counts = count(numbers, statuses)

    differences = support.differences()

    tables |= {
        "paper_vs_reproduced": numbers,
        "protocols": protocols,
        "paper_differences": differences,
        "checks": checks,
        "claims": statuses.stack().rename("status").reset_index(),
        "counts": counts,
    }
    written |= {
        "paper_vs_reproduced": pages.verdicts(numbers, protocols, settings),
        "claims": pages.claims(checks, differences, settings),
    }
    texts = _texts(tables, written)
    texts["headline.txt"] = headline(runs, counts, numbers, settings)
    return texts


def _headings(settings: AuditSettings) -> dict[str, str]:
    """Name the rules in headings: the one that is shown first, each once."""
    return {f"Ours ({rule})": rule for rule in (settings.rule, *RULES)}


def _texts(
    tables: Mapping[str, pd.DataFrame], written: Mapping[str, Table]
) -> dict[str, str]:
    """Write CSV files and pages, by their names."""
    texts = {}
    for name, frame in tables.items():
        texts[f"{name}.csv"] = frame.to_csv(
            index=False, float_format="%.6g", lineterminator="\n"
        )
    for name, page in written.items():
        for form in ("md", "html"):
            texts[f"{name}.{form}"] = render(page, form)
    return texts


def _checks(ours: Mapping[str, results.Results]) -> pd.DataFrame:
    """Check every claim on the paper's own numbers and on ours.

    Args:
        ours: under each rule, by its heading.
    """
    checks = [claims.checks("Paper's own numbers")]
    for heading, of_rule in ours.items():
        checks.append(claims.checks(heading, of_rule))
    return pd.concat(checks)


def _distinct(frame: pd.DataFrame, settings: AuditSettings) -> pd.DataFrame:
    """Leave out methods that stand for another one: claims are judged without them."""
    return frame[~frame["method"].isin([*settings.same])]


def count(numbers: pd.DataFrame, statuses: pd.DataFrame) -> pd.DataFrame:
    """Count each verdict, about `numbers`, then about `claims`, under each rule.

    Args:
        numbers: as `agreement.compare` gives them.
        statuses: of each claim (index) by the rule (columns).

    Returns:
        One row per rule and outcome, with the columns `about`, `rule`, `outcome` and
        `count`.
    """
    rows = []
    for rule in statuses:
        verdicts = numbers.loc[numbers["rule"] == rule, "verdict"]
        counted = verdicts.value_counts().reindex(labels.VERDICTS, fill_value=0)
        rows += [("numbers", rule, *count) for count in counted.items()]
        counted = statuses[rule].value_counts().reindex(claims.STATUSES, fill_value=0)
        rows += [("claims", rule, *count) for count in counted.items()]
    return pd.DataFrame(rows, columns=["about", "rule", "outcome", "count"])


def headline(
    runs: pd.DataFrame,
    counts: pd.DataFrame,
    numbers: pd.DataFrame,
    settings: AuditSettings,
) -> str:
    """Say what was run, how many numbers agree, and how many claims hold.

    Args:
        runs: as `fairgat.scores.runs.read` gives them.
        counts, numbers: as `count` and `agreement.compare` give them.
    """
    ran = _what_ran(runs, settings)
    numbers = numbers[numbers["rule"] == settings.rule]
    if (numbers["verdict"] == labels.NOT_RUN).all():
        return f"{ran}\n\nNone of the paper's {len(numbers)} results is among them.\n"

    counts = counts[counts["rule"] == settings.rule]
    agreeing = _counted(counts, "numbers", "results (mean and standard deviation)")
    holding = _counted(counts, "claims", "claims")
    paragraphs = [
        ran,
        f"{agreeing} {agreement.expected_in_words(numbers)}",
        f"{holding} Claims can fail, or pass, by luck.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _counted(counts: pd.DataFrame, about: str, what: str) -> str:
    """Say how often each outcome under a rule came out."""
    rows = counts[(counts["about"] == about) & (counts["count"] > 0)]
    outcomes = ", ".join(f"{row.count} {row.outcome}" for row in rows.itertuples())
    outcomes = outcomes.replace(labels.AGREES, "agree")
    return (
        f"Of the paper's {rows['count'].sum()} {what}, at cells chosen by the rule "
        f"{rows['rule'].iloc[0]}: {outcomes}."
    )


def _what_ran(runs: pd.DataFrame, settings: AuditSettings) -> str:
    """Say how many runs there are, of what, and how many failed."""
    ran = runs.drop_duplicates(["dataset", "method", "cell", "split"])
    methods = labels.counted(ran["method"].nunique(), "method")
    n_cells = len(ran[["method", "cell"]].drop_duplicates())
    cells = f"{labels.counted(n_cells, 'cell')} of hyperparameters"

    said = labels.counted(len(ran), "run")
    failed = (ran["metric"] == FAILURE).sum()
    if failed:
        said += f", {failed} of which failed"

    n_splits = ran["split"].nunique()
    splits = f"{labels.counted(n_splits, 'split')} of each data set"
    counts = ran.groupby("dataset")["split"].nunique()
    if counts.nunique() > 1:
        splits = f"{counts.min()} to {counts.max()} splits of a data set"

    titles = settings.dataset_titles
    names = [titles.get(name, name) for name in ran["dataset"].unique()]
    return f"{said}: {methods} with {cells}, {splits} ({', '.join(names)})."
