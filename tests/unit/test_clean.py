"""`make clean` removes what the project's commands made, and nothing else."""

import re
from pathlib import Path

import pytest

from tools.clean import PARTS, clean

RUN = (
    *("logs/train.log", "benchmarks/train.tsv", "runs/run.json", "report.html"),
    *("perfect/demo.csv", "provenance.json.sha256", ".snakemake-key"),
)
ROOT = Path(__file__).parents[2]
MADE = [
    ".venv/.complete",
    ".venv/bin/python",
    ".snakemake/log/1",
    ".gpu-test/triton.py",
    "by-hand/runs/run.json",
    *(f"results/{name}" for name in RUN),
    *(f"results/power/{name}" for name in RUN),
    *("results/power/studies/power/table.md", "results/power.html"),
    *("results/power/studies/epochs/table.md", "results/epochs.html"),
    *(f"results/power/again/{name}" for name in RUN),
]


@pytest.fixture
def checkout(tmp_path):
    """A folder with these files."""

    def filled(*names, folder=tmp_path / "checkout"):
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        return folder

    return filled


def files(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_all_that_was_made_goes(checkout):
    folder = checkout(*MADE, "config.yaml", "results/reference/README.md")
    assert clean(folder) == []
    assert files(folder) == {"config.yaml", "results/reference/README.md"}


def test_what_was_not_made_stays_and_is_named(checkout):
    mine = [
        ".venv/bin/python",  # of another command
        ".venv.old/bin/python",
        "by-hand/notes.txt",
        "results/notes.txt",
        "results/notes.html",
        "results/thesis/data/table.csv",
        "results/power/thesis.tex",
    ]
    folder = checkout(*mine, *MADE[2:])
    left = clean(folder)
    assert files(folder) == {*mine}
    assert [line.partition(":")[0] for line in left] == [
        ".venv",
        "by-hand/notes.txt",
        "results/notes.html",
        "results/notes.txt",
        "results/power",
        "results/thesis",
    ]


@pytest.mark.parametrize(
    "link",
    [".venv", ".snakemake", "results", "by-hand", "results/runs", "results/power"],
)
def test_no_link_is_followed_or_removed(checkout, tmp_path, link):
    disk = checkout(*RUN, ".complete", folder=tmp_path / "disk")
    before = files(disk)
    folder = checkout("config.yaml")
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(disk)
    clean(folder)
    assert files(disk) == before and (folder / link).is_symlink()


def test_a_link_among_what_was_made_goes_alone(checkout, tmp_path):
    disk = checkout("mine.txt", folder=tmp_path / "disk")
    folder = checkout(*MADE)
    (folder / "results/runs/elsewhere").symlink_to(disk)
    (folder / ".venv/lib").symlink_to(disk)
    assert clean(folder) == []
    assert files(folder) == set() and files(disk) == {"mine.txt"}


def test_whatever_a_rule_writes_is_a_part_that_goes():
    rules = "".join(path.read_text() for path in ROOT.glob("rules/*.smk"))
    written = re.findall(r'(?:results|reported)\(f?"([^"/{]+)', rules)
    assert {"data", "runs", "perfect", "provenance.json"} <= set(written)
    assert set(written) <= PARTS
