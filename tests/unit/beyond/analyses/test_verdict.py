"""README's picture, from the published run and the planned study."""

from pathlib import Path

import pytest

from beyond.analyses import verdict
from fairgat import paper
from fairgat.errors import DataError

PUBLISHED = Path(__file__).resolve().parents[4] / "results/reference"
TITLES = verdict.PEOPLE | verdict.ARTICLES


@pytest.fixture(scope="module")
def differences():
    return verdict.differences(PUBLISHED)


def test_every_data_set_and_measure_has_one_difference_of_a_variant(differences):
    for datasets, measures in verdict.ROWS.values():
        is_row = differences["dataset"].isin(datasets)
        shown = differences[is_row & differences["metric"].isin(measures)]
        variants = shown.groupby(["dataset", "metric"])["method"].agg(list)
        assert len(variants) == len(datasets) * len(measures)
        for methods in variants:
            assert len(methods) == len(set(methods))
            assert "fairgat" in methods


def test_only_links_have_a_placebo(differences):
    is_placebo = differences["method"] == "fairgat-matched"

    assert set(differences.loc[is_placebo, "dataset"]) == set(verdict.ARTICLES)


def test_differences_are_in_points_with_half_their_intervals(differences):
    is_cora = differences["dataset"] == "cora"
    lines = differences[is_cora & (differences["metric"] == "eo_mixed")]

    assert (lines["difference"] < -1).all()
    assert (lines["corrected"] > 1).all()


def test_the_papers_differences_are_fairgats_less_gats():
    printed = paper.printed("comparison")
    of_fairgat = printed["recidivism", "fairgat", "equal_opportunity"][0]
    of_gat = printed["recidivism", "gat", "equal_opportunity"][0]

    found = verdict.papers()

    assert found["recidivism", "equal_opportunity"] == of_fairgat - of_gat
    assert ("cora", "eo_mixed") not in found  # whose table has no GAT


def test_a_run_without_fairgat_on_a_data_set_is_refused(tmp_path):
    for name in (verdict.RUN, verdict.STUDY):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        rows = (PUBLISHED / name).read_text().splitlines(keepends=True)
        kept = [row for row in rows if "cora,fairgat," not in row]
        file.write_text("".join(kept))

    with pytest.raises(DataError, match=r"differences\.csv lacks FairGAT on cora"):
        verdict.differences(tmp_path)


def test_the_picture_shows_each_data_set_and_variant(tmp_path):
    verdict.main(PUBLISHED, tmp_path / "verdict.svg")

    picture = (tmp_path / "verdict.svg").read_text()
    variants = [title for title, *_ in verdict.VARIANTS.values()]
    for title in [*TITLES.values(), *variants]:
        assert f"<!-- {title} -->" in picture
