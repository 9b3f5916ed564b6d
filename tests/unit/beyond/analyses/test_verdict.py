"""README's picture, from published studies."""

from pathlib import Path

import pytest

from beyond.analyses import verdict

PUBLISHED = Path(__file__).resolve().parents[4] / "results/reference"
TITLES = verdict.PEOPLE | verdict.ARTICLES


@pytest.fixture(scope="module")
def differences():
    return verdict.differences(PUBLISHED)


def test_every_data_set_is_compared_with_gat(differences):
    assert set(differences["dataset"]) == set(TITLES)
    assert set(differences["of"]) == {"gat"}


def test_differences_are_in_points_with_their_intervals(differences):
    of_cora = differences[differences["dataset"] == "cora"]
    lines = of_cora[of_cora["metric"] == "dp_mixed"]

    assert set(lines["method"]) == set(verdict.VARIANTS)
    assert (lines["difference"] < -1).all()
    assert (lines["low"] < lines["difference"]).all()
    assert (lines["difference"] < lines["high"]).all()


def test_the_picture_shows_each_data_set_and_the_control(tmp_path):
    verdict.main(PUBLISHED, tmp_path / "verdict.svg")

    picture = (tmp_path / "verdict.svg").read_text()
    for title in [*TITLES.values(), "the same, groups shuffled"]:
        assert f"<!-- {title} -->" in picture
