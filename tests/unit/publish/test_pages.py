"""What docs/ quotes of a published run."""

import re
from pathlib import Path

import pytest

from fairgat.errors import DataError
from fairgat.files import write_text
from fairgat.publish import pages

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"
PAGES = sorted(ROOT.glob("docs/*.md"))
MARK = re.compile(r"^<!-- (?!end)([\w./-]+) -->$", re.M)
HEADER = "dataset,method,metric,mean,std,difference,low,high,corrected"
STUDY = [
    HEADER,
    *(
        f"recidivism,gat,{name},0.9,0.01,,,,"
        for name in ("accuracy", "statistical_parity")
    ),
]
STUDY += [
    "recidivism,gat,equal_opportunity,0.0204,0.0106,,,,",
    "recidivism,fairgat-steps-1,accuracy,0.8,0.01,-0.1,-0.12,-0.08,0.099",
    "recidivism,fairgat-uncapped,accuracy,0.8,0.01,-0.1,-0.12,-0.08,0.1",
    *(
        f"recidivism,{name},statistical_parity,0.8,,0.001,,,"
        for name in ("fairgat-steps-1", "fairgat-uncapped")
    ),
    *(
        f"recidivism,{name},equal_opportunity,0.8,0,0,-0.005,0.005,1"
        for name in ("fairgat-steps-1", "fairgat-uncapped")
    ),
]
PAGE = "before\n<!-- uncapped -->\nstale\n<!-- end -->\nafter <!-- uncapped -->\n"


@pytest.fixture
def published(tmp_path):
    write_text(tmp_path / "studies/dose/differences.csv", "\n".join([*STUDY, ""]))
    write_text(
        tmp_path / "tables/runtime.md", "# Run time\n\nSeconds.\n\n| GAT | 0.1 |\n"
    )
    return tmp_path


def test_studies_are_listed_by_the_version_of_their_oldest_part(published):
    for name, version in [
        ("new/provenance", "0.10.0"),
        ("newer/provenance", "0.10.0"),
        ("newest/provenance", "0.11.0"),
        ("old/provenance", "0.10.0"),
        ("old/provenance-2", "0.2.0"),
    ]:
        write_text(
            published / f"studies/{name}.json",
            f'{{"versions": {{"fairgat": "{version}"}}}}',
        )
    text = pages.filled(
        "<!-- studies -->\n<!-- end -->\n", published, "."
    )  # dose has none
    assert "Trained by version 0.10.0 or later, except old (0.2.0).\n" in text


def test_a_template_shows_numbers_of_the_run(published):
    text = pages.filled(PAGE, published, ".")
    assert "| GAT | 90.00 ± 1.00 | 90.00 ± 1.00 | 2.04 ± 1.06 |" in text
    assert "| Step 1 − GAT | **-10.00** ± 2.00 | +0.10 | +0.00 ± 0.50 |" in text
    assert (
        "| FairGAT − GAT | **-10.00** ± 2.00° | +0.10 | +0.00 ± 0.50 |" in text
    )  # other people: ± 10
    assert text.startswith("before\n<!-- uncapped -->\n\n|") and text.endswith(
        "|\n\n<!-- end -->\nafter <!-- uncapped -->\n"
    )
    assert "stale" not in text and pages.filled(text, published, ".") == text


def test_a_file_is_quoted_below_its_heading(published):
    text = pages.filled(
        "<!-- tables/runtime.md -->\n<!-- end -->\n", published, "../results"
    )
    source = "From [tables/runtime.md](../results/tables/runtime.md)."
    assert text.splitlines()[2:] == [
        "Seconds.",
        "",
        "| GAT | 0.1 |",
        "",
        source,
        "",
        "<!-- end -->",
    ]


@pytest.mark.parametrize(
    "name",
    sorted(
        {
            name
            for page in PAGES
            for name in MARK.findall(page.read_text(encoding="utf-8"))
        }
    ),
)
def test_what_a_run_lacks_stays_as_it_is_and_is_said(tmp_path, capsys, name):
    page = f"before\n<!-- {name} -->\nstale\n<!-- end -->\nafter <!-- {name} -->\n"
    assert pages.filled(page, tmp_path, ".") == page
    assert f"{name} stays as it is: {tmp_path}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("page", "rows", "words"),
    [
        (
            "<!-- uncapped -->\n<!-- uncapped -->\n<!-- end -->\n",
            STUDY,
            "needs a line <!-- end -->",
        ),
        (
            "<!-- uncaped -->\n<!-- end -->\n",
            STUDY,
            r"there is no template uncaped\.md\.j2",
        ),
        (
            PAGE,
            STUDY[:-1],
            "has 0 rows with dataset recidivism, method fairgat-uncapped, metric equal_opportunity",
        ),
        (PAGE, [*STUDY, STUDY[-1]], "has 2 rows"),
        (PAGE, ["a,b", "1,2"], "lacks the column dataset"),
    ],
)
def test_what_cannot_be_quoted_is_an_error(published, page, rows, words):
    write_text(published / "studies/dose/differences.csv", "\n".join([*rows, ""]))
    with pytest.raises(DataError, match=words):
        pages.filled(page, published, ".")


@pytest.mark.skipif(
    not PUBLISHED.exists(),
    reason="results/reference is missing: git checkout results/reference",
)
def test_every_quoted_number_is_the_published_runs(capsys):
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert pages.filled(text, PUBLISHED, "../results/reference") == text, page
        for name in re.findall(
            r"^(\S+) stays as it is", capsys.readouterr().out, re.M
        ):  # not yet published
            assert re.search(rf"^<!-- {name} -->\s*<!-- end -->$", text, re.M), page
    assert pages.rendered("reference", PUBLISHED, ".") + "\n" == (
        PUBLISHED / "README.md"
    ).read_text(encoding="utf-8")
