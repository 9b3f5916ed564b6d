"""Where files may be written: never over what is no regular file."""

import os

import pytest

from fairgat.errors import DataError
from fairgat.files import write_text


@pytest.mark.parametrize(
    ("make", "kind"), [(os.mkfifo, "a pipe"), (os.mkdir, "a folder")]
)
def test_what_is_no_file_is_not_replaced(tmp_path, make, kind):
    """Root could replace /dev/null, too."""
    path = tmp_path / "scores.csv"
    make(path)

    with pytest.raises(DataError, match=f"cannot be written: it is {kind}"):
        write_text(path, "id,score\n")

    assert not path.is_file()
    assert os.listdir(tmp_path) == ["scores.csv"]


@pytest.mark.parametrize("name", [".", "x" * 300 + ".csv", "nodes.csv/scores.csv"])
def test_a_name_that_no_file_may_have_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write_text("nodes.csv", "id\n")

    with pytest.raises(DataError, match="cannot be written"):
        write_text(name, "id,score\n")

    assert os.listdir() == ["nodes.csv"]


def test_a_link_stays_one_and_what_it_leads_to_is_not_written(tmp_path):
    target = tmp_path / "scores.csv"
    target.write_text("id,score\n")
    link = tmp_path / "link.csv"
    link.symlink_to(target)

    with pytest.raises(DataError, match=r"a link to .*scores\.csv; name that file"):
        write_text(link, "lost\n")

    assert link.is_symlink()
    assert target.read_text() == "id,score\n"
