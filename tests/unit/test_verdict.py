"""README's picture, from published studies."""

import pandas as pd
import pytest

from analyses import verdict


def _study(folder, name, method, datasets, metrics, difference):
    rows = [
        {
            "dataset": dataset, "of": "gat", "run_on": dataset, "method": method, "metric": metric,
            "difference": difference, "low": difference - 0.01, "high": difference + 0.01, "paper_difference": None,
        }
        for dataset in datasets
        for metric in metrics
    ]  # fmt: skip
    path = folder / f"studies/{name}/differences.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = pd.read_csv(path) if path.exists() else None
    pd.concat([before, pd.DataFrame(rows)]).to_csv(path, index=False)


@pytest.fixture
def published(tmp_path):
    _study(tmp_path, "power", "fairgat", ["recidivism", "cora"], ["accuracy", "statistical_parity"], -0.02)
    _study(tmp_path, "links", "fairgat", ["cora"], ["accuracy", "dp_mixed"], -0.05)
    return tmp_path


def _control(folder, datasets):
    for method, difference in {"fairgat": -0.06, "fairgat-placebo": -0.07}.items():
        _study(folder, "links-control", method, datasets, ["dp_mixed"], difference)


def _cora(folder):
    frame = verdict.differences(folder)
    return frame[frame["dataset"] == "cora"].groupby("method")["difference"].unique().map(list).to_dict()


def test_links_are_from_the_study_at_validations_cells_until_all_controls_are_there(published):
    """Points, not fractions; a data set of links has nothing of the study of node classification."""
    assert _cora(published) == {"fairgat": [-5.0]}
    _control(published, ["cora", "citeseer"])
    assert _cora(published) == {"fairgat": [-5.0]}
    _control(published, ["pubmed"])
    assert _cora(published) == {"fairgat": [-6.0], "fairgat-placebo": [pytest.approx(-7.0)]}


def test_the_picture_names_each_data_set_and_the_control_where_it_is_there(published, tmp_path):
    picture = tmp_path / "verdict.svg"
    verdict.main(published, picture)
    assert "<!-- Recidivism -->" in picture.read_text() and "groups shuffled" not in picture.read_text()
    _control(published, ["cora", "citeseer", "pubmed"])
    verdict.main(published, picture)
    assert "<!-- the same, groups shuffled -->" in picture.read_text()
