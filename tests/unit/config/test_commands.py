"""What Snakemake's command line says of the configuration."""

import re
from pathlib import Path

import pytest

from fairgat import config
from fairgat.errors import ConfigError
from tools import results_dir

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        ("--config seed=1 -n --config skip=cora", "--config seed=1 skip=cora"),
        ("-C seed=1 --config=skip=cora", "--config seed=1 skip=cora"),
        (
            "--configfile a.yaml --configfiles b.yaml c.yaml --cores 1",
            "--configfile a.yaml b.yaml c.yaml",
        ),
        ("-R table --forcerun figure", "--forcerun table figure"),
        ("--until collect -n -U theory", "--until collect theory"),
        ("-O runtime --omit-from theory", "--omit-from runtime theory"),
    ],
)
def test_a_flag_of_which_snakemake_takes_the_last_is_given_once(words, joined):
    with pytest.raises(ConfigError, match=f"Write: {joined}$"):
        config.check_command(words.split())


def test_a_key_of_which_snakemake_takes_the_last_is_given_once():
    words = ["--config", "seed=1", "skip=cora", "seed=2"]
    with pytest.raises(ConfigError, match="--config seed= is given 2 times"):
        config.check_command(words)


def test_flags_that_are_given_once_are_accepted():
    words = "--config seed=1 --configfile a.yaml -R table -- --config"

    config.check_command(words.split())


@pytest.fixture
def overlay(tmp_path, monkeypatch):
    """A configuration file, in the folder of the repository."""
    monkeypatch.chdir(ROOT)
    path = tmp_path / "mine.yaml"
    path.write_text("results_dir: results/mine\n")
    return str(path)


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        ("--cores 2", "results"),
        ("--configfile configs/demo.yaml {} --forcerun table", "results/mine"),
        ("--configfile {} -n --config seed=1 results_dir=/tmp/b/", "/tmp/b"),
    ],
    ids=["nowhere", "a file", "the command line"],
)
def test_make_finds_where_a_command_writes(overlay, words, folder):
    assert results_dir.find(words.format(overlay).split()) == folder


def test_a_folder_may_have_a_blank(overlay):
    assert results_dir.find(["--config", "results_dir=/tmp/a b/"]) == "/tmp/a b"


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        ("splits.count=3", '--config "splits={count: 3}"'),
        (
            "training.node_classification.epochs=5",
            '--config "training={node_classification: {epochs: 5}}"',
        ),
        ("splits", "Snakemake takes NAME=VALUE"),
        ("=3", "Snakemake takes NAME=VALUE"),
    ],
)
def test_what_snakemake_takes_for_no_setting_is_refused_by_make(
    overlay, entry, written
):
    with pytest.raises(ConfigError, match=re.escape(written)):
        results_dir.find(["-n", "--config", "seed=1", entry])


def test_a_mapping_is_a_setting(overlay):
    results_dir.find(["--config", "seed=1", "splits={count: 3}"])
