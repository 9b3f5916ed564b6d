"""`fairgat data where`, `fairgat data add FOLDER` and `fairgat data stats`."""

import hashlib

import further
import pytest
import yaml

from fairgat import config
from fairgat.cli import data as commands
from fairgat.cli import main as cli
from fairgat.data import source
from fairgat.data.sources import public
from fairgat.errors import DataError

POKEC = public.ENTRIES["pokec-z"]


@pytest.fixture
def setting(tmp_path):
    def make(*names):
        entries = {
            name: {"task": "node_classification" if "po" in name else "link_prediction"}
            for name in names
        }
        return config.load(
            {
                "datasets": entries,
                "methods": {},
                "results_dir": str(tmp_path / "results"),
            }
        )

    return make


def test_where_names_addresses_checksums_and_state(setting):
    lines = "\n".join(commands.where(setting("citeseer", "pokec-z", "demo-citation")))
    assert "planetoid/ind.citeseer.x  [missing]\n    SHA-256 d20de19150741e" in lines
    assert "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf46" in lines
    assert "pokec/region_job.csv  [missing]\n    git blob id c50552a998e224f9" in lines
    assert "demo-citation: generated, needs no files" in lines


@pytest.fixture
def pokec_of(monkeypatch):
    """Pin Pokec-z's files to other contents."""

    def pin(users, ties):
        for name, content in (
            ("region_job.csv", users),
            ("region_job_relationship.txt", ties),
        ):
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            entry = next(
                file
                for file in (POKEC["nodes"], POKEC["edges"])
                if file["file"].endswith(f"/{name}")
            )
            monkeypatch.setitem(entry, "git_blob", blob)

    return pin


def test_files_are_known_by_their_content_whatever_their_names(
    setting, tmp_path, pokec_of
):
    pokec_of(b"user_id\n1\n", b"1\t2\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/a.dat").write_bytes(b"user_id\n1\n")
    (tmp_path / "b").write_bytes(b"1\t2\n")
    (tmp_path / "region_job.csv").write_bytes(b"an excerpt of the same name")
    lines = commands.add(setting("pokec-z"), tmp_path)
    assert [line.split(" -> ")[0] for line in lines] == [
        f"pokec/region_job_relationship.txt: {tmp_path / 'b'}",
        f"pokec/region_job.csv: {tmp_path / 'deep/a.dat'}",
    ]
    assert (
        tmp_path / "results/data/raw/pokec-z/region_job_relationship.txt"
    ).read_bytes() == b"1\t2\n"
    assert sum("[here]" in line for line in commands.where(setting("pokec-z"))) == 2
    assert (
        len(commands.add(setting("pokec-z"), tmp_path, mirror=tmp_path / "mirror")) == 2
    )
    assert (tmp_path / "mirror/pokec/region_job.csv").read_bytes() == b"user_id\n1\n"


def test_altered_files_are_refused_and_the_others_taken(setting, tmp_path, pokec_of):
    pokec_of(b"user_id\n1\n", b"1\t2\n")
    (tmp_path / "ind.cora.x").write_bytes(b"altered")
    (tmp_path / "ties").write_bytes(b"1\t2\n")
    with pytest.raises(
        DataError,
        match=r"ind\.cora\.x is not planetoid/ind\.cora\.x, which has SHA-256 23cfa55d",
    ):
        commands.add(setting("cora", "pokec-z"), tmp_path)
    raw = tmp_path / "results/data/raw"
    assert (raw / "pokec-z/region_job_relationship.txt").exists() and not (
        raw / "cora/ind.cora.x"
    ).exists()


def test_a_file_that_cannot_be_read_is_said_and_the_others_taken(
    setting, tmp_path, pokec_of, monkeypatch
):
    pokec_of(b"user_id\n1\n", b"1\t2\n")
    (tmp_path / "closed").write_bytes(b"")
    (tmp_path / "ties").write_bytes(b"1\t2\n")

    def identities(path):
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return source.identities(path)

    monkeypatch.setattr(commands, "identities", identities)
    with pytest.raises(
        DataError,
        match=r"relationship\.txt: .*\n.*closed cannot be read: Permission denied",
    ):
        commands.add(setting("pokec-z"), tmp_path)


@pytest.mark.parametrize(
    ("folder", "said"),
    [("nowhere", "is not a folder"), (".", "holds none of the files")],
)
def test_nothing_to_add_is_said(setting, tmp_path, folder, said):
    with pytest.raises(DataError, match=said):
        commands.add(setting("cora"), tmp_path / folder)


def test_the_command_line(tmp_path, capsys, refused):
    (tmp_path / "config.yaml").write_text(
        "datasets: {cora: {task: link_prediction}}\nmethods: {}\n"
    )
    where = ["data", "where", "--config", str(tmp_path / "config.yaml"), "--dataset"]
    assert cli.main([*where, "cora"]) == 0
    assert "ind.cora.test.index" in capsys.readouterr().out
    assert "'core' is not a data set; did you mean 'cora'?" in refused(*where, "core")


@pytest.fixture
def stats(tmp_path, capsys):
    """What `fairgat data stats` prints of a data set of this source with these options."""

    def printed(source, **options):
        entry = {"task": "node_classification", "source": source, "options": options}
        (tmp_path / "mine.yaml").write_text(
            yaml.safe_dump({"datasets": {"mine": entry}})
        )
        overlays = ["config.yaml", str(tmp_path / "mine.yaml")]
        folders = ["--out", str(tmp_path), "--data-mirror", str(tmp_path)]
        assert (
            cli.main(
                ["data", "stats", "--config", *overlays, "--dataset", "mine", *folders]
            )
            == 0
        )
        return capsys.readouterr().out.splitlines()

    return printed


def test_stats_counts_a_graph(stats):
    blocks = further.source("blocks")
    name, *lines = stats(blocks, nodes=400, group_homophily=0.25, dependence=0.4)
    shown = dict(line.split(maxsplit=1) for line in lines)
    assert name == "mine:" and shown["s0"] == "200" and shown["label_gap"] == "0.4000"
    assert float(shown["group_homophily"]) == pytest.approx(0.25, abs=0.05)
    assert float(shown["cap"]) == pytest.approx(0.5, abs=0.01)


def test_stats_say_what_each_column_was_taken_for(tmp_path, stats):
    nodes = "who,age,almost,sex,won\n" + "".join(
        f"p{k},{20 + k},{k % 2 if k else 1},{'fm'[k % 2]},{k // 2 % 2}\n"
        for k in range(40)
    )
    edges = "a,b\n" + "".join(f"p{k},p{k + 1}\n" for k in range(39)) + "p1,p0\np9,p9\n"
    files = {}  # in the mirror
    for kind, text in (("nodes", nodes), ("edges", edges)):
        (tmp_path / f"{kind}.csv").write_text(text)
        checksum = hashlib.sha256(text.encode()).hexdigest()
        files[kind] = {
            "file": f"{kind}.csv",
            "url": "https://localhost:9/",
            "sha256": checksum,
        }
    lines = stats(
        "tables", **files, id="who", sensitive="sex", label="won", drop=["self_loops"]
    )
    assert lines[1:13] == [
        "  column who: id: p0, p1, p2, p3, p4, ... (40 values)",
        "  column age: feature: 20 to 59, all different",
        "  column almost: feature: 0 to 1",
        "  column sex: sensitive: f, m",
        "  column won: label: 0, 1",
        "  edges: 'a' and 'b' are the ends",
        "  first edge: p0 – p1",
        "  edges left out: 1",
        "  group sex=f: 20 nodes, label 1 for 10 of 20 (0.5000), R_chi 1.0000, homophily 0.0000",
        "  group sex=m: 20 nodes, label 1 for 10 of 20 (0.5000), R_chi 1.0000, homophily 0.0000",
        "  feature almost almost says group sex=f (AUC 0.975): is it one? See `exclude`",
        "  nodes               40",
    ]
