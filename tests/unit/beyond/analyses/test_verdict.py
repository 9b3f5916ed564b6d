"""README's picture, from published studies."""

from pathlib import Path

from beyond.analyses import verdict

PUBLISHED = Path(__file__).resolve().parents[4] / "results/reference"


def test_the_picture_shows_each_data_set_and_the_control(tmp_path):
    """In points, not fractions: the differences to GAT of the studies that are published."""
    frame = verdict.differences(PUBLISHED)
    titles = verdict.PEOPLE | verdict.ARTICLES
    assert set(frame["dataset"]) == set(titles) and set(frame["of"]) == {"gat"}
    cora = frame[
        (frame["dataset"] == "cora") & (frame["metric"] == "dp_mixed")
    ].set_index("method")
    assert set(cora.index) == set(verdict.VARIANTS) and (cora["difference"] < -1).all()
    assert (
        (cora["low"] < cora["difference"]) & (cora["difference"] < cora["high"])
    ).all()
    verdict.main(PUBLISHED, tmp_path / "verdict.svg")
    text = (tmp_path / "verdict.svg").read_text()
    assert all(
        f"<!-- {title} -->" in text
        for title in [*titles.values(), "the same, groups shuffled"]
    )
