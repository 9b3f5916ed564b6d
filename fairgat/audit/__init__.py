"""Does the paper hold? Its numbers (`agreement`) and its claims (`claims`) against ours, as `pages` and in a few lines.

`make` gives every file of results/audit from the summaries and the runtimes. `support` says how far the paper's
own numbers carry its claims. Start with `claims`: one function a claim.
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
    """Write the text of each of the audit's files, by its name; of a run that is not about the paper only `paired`.

    Args:
        files: of the kinds `winners`, `runs`, `runtime`, and `more_splits`, a study's differences.csv
            or none.
    """
    rows, runs = with_same(read(*files["winners"]), settings.same), read(*files["runs"])
    winners = _distinct(rows, settings)
    differences_to_gat = paired.compared(runs, winners, settings)
    tables = {"paired": differences_to_gat[paired.COLUMNS]}
    written = {"paired": paired.page(differences_to_gat)}
    if not settings.config.compares_with_paper:
        return _texts(tables, written)

    numbers = agreement.compare(
        rows, settings.margins, settings.protocols, settings.ddof
    )
    protocols = agreement.compare_protocols(rows, settings.margins, settings.ddof)

    studies = {
        str(path): _distinct(results.read_study(path), settings)
        for path in files.get("more_splits", ())
    }
    seconds = results.seconds(medians(by_dataset(files["runtime"])))
    headings = {
        f"Ours ({rule})": rule for rule in (settings.rule, *RULES)
    }  # in this order, each once
    ours = {
        heading: {**results.ours(winners, rule, settings.protocols), **seconds}
        for heading, rule in headings.items()
    }
    checks = _checks(ours, studies)
    statuses = (
        claims.statuses(checks)[[*headings]]
        .rename(columns=headings)
        .rename_axis(columns="rule")
    )
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
        "claims": pages.claims(checks, differences),
    }
    return _texts(tables, written) | {
        "headline.txt": headline(runs, counts, numbers, settings)
    }


def _texts(
    tables: Mapping[str, pd.DataFrame], written: Mapping[str, Table]
) -> dict[str, str]:
    texts = {
        f"{name}.csv": frame.to_csv(
            index=False, float_format="%.6g", lineterminator="\n"
        )
        for name, frame in tables.items()
    }
    return texts | {
        f"{name}.{form}": render(page, form)
        for name, page in written.items()
        for form in ("md", "html")
    }


def _checks(
    ours: Mapping[str, results.Results], studies: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """The checks of every claim on the paper's own numbers, on ours under each rule, and on studies, by their file."""
    checks = [
        claims.checks("Paper's own numbers"),
        *(claims.checks(*entry) for entry in ours.items()),
    ]
    for path, frame in studies.items():
        checks.append(
            claims.checks(
                f"Ours ({_splits(frame)} splits)", results.of_study(frame), path
            )
        )
    return pd.concat(checks)


def _distinct(frame: pd.DataFrame, settings: AuditSettings) -> pd.DataFrame:
    """The rows of methods that are not another one: claims are judged by these."""
    return frame[~frame["method"].isin([*settings.same])]


def _splits(frame: pd.DataFrame) -> int:
    """The number of splits behind the means of a summary or a study."""
    return int(frame["n_splits"].max()) if len(frame) else 0


def count(numbers: pd.DataFrame, statuses: pd.DataFrame) -> pd.DataFrame:
    """Count each verdict (about `numbers`, then about `claims`) under each selection rule.

    Args:
        numbers: as `agreement.compare` gives them.
        statuses: of each claim (index) by the rule (columns).

    Returns:
        One row per rule and outcome, with the columns `about`, `rule`, `outcome` and `count`.
    """
    rows = []
    for rule in statuses:
        verdicts = numbers.loc[numbers["rule"] == rule, "verdict"]
        rows += [
            ("numbers", rule, verdict, (verdicts == verdict).sum())
            for verdict in labels.VERDICTS
        ]
        rows += [
            ("claims", rule, status, (statuses[rule] == status).sum())
            for status in claims.STATUSES
        ]
    return pd.DataFrame(rows, columns=["about", "rule", "outcome", "count"])


def headline(
    runs: pd.DataFrame,
    counts: pd.DataFrame,
    numbers: pd.DataFrame,
    settings: AuditSettings,
) -> str:
    """Say in three paragraphs what was run, how many numbers agree, and how many claims hold.

    `runs` are as `fairgat.scores.runs.read` gives them, the others as `count` and
    `agreement.compare` do.
    """
    numbers = numbers[numbers["rule"] == settings.rule]
    if (numbers["verdict"] == labels.NOT_RUN).all():
        return f"{_what_ran(runs, settings)}\n\nNone of the paper's {len(numbers)} results is among them.\n"
    counts = counts[
        (counts["rule"] == settings.rule) & (counts["count"] > 0)
    ].set_index("about")

    def counted(about: str, what: str) -> str:
        rows = counts.loc[[about]]
        words = ", ".join(
            f"{count} {outcome}"
            for count, outcome in zip(rows["count"], rows["outcome"], strict=True)
        )
        words = words.replace(labels.AGREES, "agree")
        return f"Of the paper's {rows['count'].sum()} {what}, at cells chosen by the rule {settings.rule}: {words}."

    paragraphs = [
        _what_ran(runs, settings),
        f"{counted('numbers', 'results (mean and standard deviation)')} {agreement.expected_in_words(numbers)}",
        f"{counted('claims', 'claims')} Claims can fail, or pass, by luck.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _what_ran(runs: pd.DataFrame, settings: AuditSettings) -> str:
    ran, titles = (
        runs.drop_duplicates(["dataset", "method", "cell", "split"]),
        settings.dataset_titles,
    )
    names = ", ".join(titles.get(name, name) for name in ran["dataset"].unique())
    failed, counts = (
        (ran["metric"] == FAILURE).sum(),
        ran.groupby("dataset")["split"].nunique(),
    )
    splits = f"{ran['split'].nunique()} splits of each data set"
    if counts.nunique() > 1:
        splits = f"{counts.min()} to {counts.max()} splits of a data set"
    return (
        f"{len(ran)} runs{f', {failed} of which failed' if failed else ''}: {ran['method'].nunique()} methods with "
        f"{len(ran[['method', 'cell']].drop_duplicates())} cells of hyperparameters, {splits} ({names})."
    )
