"""The analyses of every study under a folder, as `make analyses` runs them."""

import shutil
from pathlib import Path

import pytest

from beyond.analyses import __main__ as analyses

PUBLISHED = Path(__file__).resolve().parents[4] / "results/reference/studies"


@pytest.mark.parametrize("name", ["dose", "dose-others", "groups", "when"])
def test_a_published_study_is_analysed_again_with_the_same_numbers(
    name, tmp_path, capsys
):
    shutil.copytree(PUBLISHED / name, tmp_path / name)

    status = analyses.main(tmp_path)

    written = [Path(path) for path in capsys.readouterr().out.split()]
    assert status == 0
    assert written
    for path in written:
        published = PUBLISHED / name / path.name
        assert published.exists()
        if path.suffix in (".csv", ".md"):
            assert path.read_bytes() == published.read_bytes()


def test_a_study_that_lacks_a_file_is_named_and_the_others_go_on(tmp_path, capsys):
    for name in ("dose", "when"):
        (tmp_path / name).mkdir()

    status = analyses.main(tmp_path)

    of_dose, of_when = capsys.readouterr().err.splitlines()
    assert status == 1
    assert "dose: " in of_dose
    assert "when: " in of_when
    assert "differences.csv does not exist" in of_when


def test_a_folder_without_a_study_is_refused(tmp_path, capsys):
    status = analyses.main(tmp_path)

    assert status == 1
    assert "give the folder `studies` of a run" in capsys.readouterr().err
