"""Numbers in the prose of docs/ are those of the published studies (tables and parts between marks: test_pages.py).

quoted.yaml has sentences with `{STUDY DATASETS METHODS METRICS form}` in place of each number, which is made of
these rows of the study's differences.csv. METHODS-of-OTHER is less OTHER, otherwise less GAT; METHOD@RULE names the
rule that chose its epoch.
"""

import re
from pathlib import Path

import pytest
import yaml

from fairgat import frames
from fairgat.publish.pages import others

ROOT = Path(__file__).parents[3]
STUDIES = ROOT / "results/reference/studies"
SENTENCES = yaml.safe_load(
    (Path(__file__).parent / "quoted.yaml").read_text(encoding="utf-8")
)

FORMS = {  # of rows of differences.csv
    "size": lambda rows: (
        f"{100 * abs(only(rows).difference):.1f} ± {half(only(rows)):.1f}{others(only(rows))}"
    ),
    "signed": lambda rows: (
        f"{100 * only(rows).difference:+.1f} ± {half(only(rows)):.1f}{others(only(rows))}"
    ),
    "reversed": lambda rows: (
        f"{-100 * only(rows).difference:+.1f} ± {half(only(rows)):.1f}{others(only(rows))}"
    ),
    "points": lambda rows: f"{100 * abs(only(rows).difference):.0f}",
    "published": lambda rows: f"{100 * only(rows).paper_difference:+.2f}",
    "mean": lambda rows: f"{100 * only(rows)['mean']:.1f}",
    "range": lambda rows: (
        f"{100 * rows.difference.abs().min():.0f} to {100 * rows.difference.abs().max():.0f}"
    ),
    "narrower": lambda rows: str((rows.high < 0).sum()),
    "narrower-for-others": lambda rows: str(
        (rows.difference + rows.corrected < 0).sum()
    ),
    "wider": lambda rows: str((rows.low > 0).sum()),
    "wider-for-others": lambda rows: str((rows.difference - rows.corrected > 0).sum()),
    "narrower-as-marked": lambda rows: marked(rows, rows.high < 0),
    "wider-as-marked": lambda rows: marked(rows, rows.low > 0),
}


@pytest.mark.skipif(
    not STUDIES.exists(),
    reason="results/reference is missing: git checkout results/reference",
)
def test_prose_counts_the_grids_that_choose_another_cell():
    cells = frames.read(STUDIES / "processors/chosen.csv")
    other = cells.assign(other=cells["cell"] != cells["other"]).groupby("rule")["other"]
    fair, accuracy, grids = (
        other.sum()["fair"],
        other.sum()["accuracy"],
        other.size()["fair"],
    )
    said = f"*fair* chooses another cell in {fair} of {grids} grids, *accuracy* in {accuracy}"
    assert said in " ".join(
        (ROOT / "docs/evidence.md").read_text(encoding="utf-8").split()
    )


def only(rows):
    assert len(rows) == 1, rows
    return rows.iloc[0]


def marked(rows, shown):
    """The sign that all these gaps have, which are all shown to be narrower or all wider."""
    (sign,) = {others(row) for _, row in rows.iterrows()}
    assert shown.all(), rows
    return sign


def half(row):
    return 50 * (row.high - row.low)


def number(quoted):
    study, datasets, methods, metrics, form = quoted.split()
    rows = frames.read(STUDIES / study / "differences.csv").dropna(subset="mean")
    methods, _, other = methods.partition("-of-")
    methods, _, rule = methods.partition("@")
    other, _, other_rule = (other or "gat").partition("@")
    wanted = {
        "method": methods,
        "metric": metrics,
        "of": other,
        "epochs": rule or "accuracy",
    }
    wanted |= {"of_epochs": other_rule} if other_rule else {}
    wanted |= {"dataset": datasets} if datasets != "*" else {}
    for column, values in wanted.items():
        rows = rows[rows[column].isin(values.split(","))]
    return FORMS[form](rows)


@pytest.mark.skipif(
    not STUDIES.exists(),
    reason="results/reference is missing: git checkout results/reference",
)
@pytest.mark.parametrize(
    ("page", "sentence"),
    [(page, text) for page, texts in SENTENCES.items() for text in texts],
)
def test_prose_quotes_the_published_numbers(page, sentence):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    plain = re.sub(
        r"\]\([^)]*\)|[*\[]", "", " ".join(text.split())
    )  # no links, no emphasis
    assert re.sub(r"\{(.*?)\}", lambda found: number(found[1]), sentence) in plain
