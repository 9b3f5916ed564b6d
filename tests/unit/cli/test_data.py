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
from fairgat.errors import ConfigError, DataError

POKEC = public.ENTRIES["pokec-z"]


@pytest.fixture
def setting(tmp_path):
    """A configuration with these data sets."""

    def make(*names):
        tasks = {"pokec-z": "node_classification"}
        entries = {}
        for name in names:
            entries[name] = {"task": tasks.get(name, "link_prediction")}
        results = str(tmp_path / "results")
        return config.load({"datasets": entries, "methods": {}, "results_dir": results})

    return make


def test_where_names_addresses_checksums_and_state(setting):
    lines = "\n".join(commands.where(setting("citeseer", "pokec-z", "demo-citation")))

    assert "planetoid/ind.citeseer.x  [missing]\n    SHA-256 d20de19150741e" in lines
    assert "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf46" in lines
    assert "pokec/region_job.csv  [missing]\n    git blob id c50552a998e224f9" in lines
    assert "demo-citation: generated, needs no files" in lines


# --------------------------------------------------------------------- fairgat data add

USERS, TIES = b"user_id\n1\n", b"1\t2\n"


@pytest.fixture
def pokec(setting, monkeypatch):
    """A configuration with Pokec-z, whose files are USERS and TIES."""
    for kind, content in (("nodes", USERS), ("edges", TIES)):
        blob = b"blob %d\0" % len(content) + content
        git_id = hashlib.sha1(blob).hexdigest()
        monkeypatch.setitem(POKEC[kind], "git_blob", git_id)
    return setting("pokec-z")


@pytest.fixture
def folder(tmp_path):
    """A folder with both files under other names, and another one under one's name."""
    folder = tmp_path / "mine"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/a.dat").write_bytes(USERS)
    (folder / "b").write_bytes(TIES)
    (folder / "region_job.csv").write_bytes(b"an excerpt of the same name")
    return folder


def test_files_are_known_by_their_content_whatever_their_names(pokec, folder, tmp_path):
    lines = commands.add(pokec, folder)

    assert [line.partition(" -> ")[0] for line in lines] == [
        f"pokec/region_job_relationship.txt: {folder / 'b'}",
        f"pokec/region_job.csv: {folder / 'deep/a.dat'}",
    ]
    raw = tmp_path / "results/data/raw/pokec-z"
    assert (raw / "region_job_relationship.txt").read_bytes() == TIES
    states = commands.where(pokec)
    assert sum("[here]" in line for line in states) == 2


def test_files_may_be_added_to_a_mirror(pokec, folder, tmp_path):
    lines = commands.add(pokec, folder, mirror=tmp_path / "mirror")

    assert len(lines) == 2
    assert (tmp_path / "mirror/pokec/region_job.csv").read_bytes() == USERS


def test_altered_files_are_refused_and_the_others_taken(
    setting, pokec, folder, tmp_path
):
    (folder / "ind.cora.x").write_bytes(b"altered")

    wanted = r"planetoid/ind\.cora\.x, which has SHA-256 23cfa55d"
    with pytest.raises(DataError, match=rf"ind\.cora\.x is not {wanted}"):
        commands.add(setting("cora", "pokec-z"), folder)

    raw = tmp_path / "results/data/raw"
    assert (raw / "pokec-z/region_job_relationship.txt").exists()
    assert not (raw / "cora/ind.cora.x").exists()


def test_a_file_that_cannot_be_read_is_said_and_the_others_taken(
    pokec, folder, monkeypatch
):
    (folder / "deep/a.dat").rename(folder / "closed")

    def identities(path):
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return source.identities(path)

    monkeypatch.setattr(commands, "identities", identities)
    said = r"relationship\.txt: .*\n.*closed cannot be read: Permission denied"
    with pytest.raises(DataError, match=said):
        commands.add(pokec, folder)


@pytest.mark.parametrize(
    ("folder", "said"),
    [("nowhere", "is not a folder"), (".", "holds none of the files")],
)
def test_nothing_to_add_is_said(setting, tmp_path, folder, said):
    with pytest.raises(DataError, match=said):
        commands.add(setting("cora"), tmp_path / folder)


def test_where_is_of_one_data_set_if_it_is_asked_for(tmp_path, capsys, refused):
    path = tmp_path / "config.yaml"
    path.write_text("datasets: {cora: {task: link_prediction}}\nmethods: {}\n")
    where = ["data", "where", "--config", str(path), "--dataset"]

    assert cli.main([*where, "cora"]) == 0
    assert "ind.cora.test.index" in capsys.readouterr().out
    assert "'core' is not a data set; did you mean 'cora'?" in refused(*where, "core")


# ------------------------------------------------------------------- fairgat data stats


@pytest.fixture
def stats(tmp_path, capsys):
    """The lines of `fairgat data stats` for a source with these options."""

    def printed(source, **options):
        entry = {"task": "node_classification", "source": source, "options": options}
        overlay = tmp_path / "mine.yaml"
        overlay.write_text(yaml.safe_dump({"datasets": {"mine": entry}}))
        command = ["data", "stats", "--config", "config.yaml", str(overlay)]
        folders = ["--out", str(tmp_path), "--data-mirror", str(tmp_path)]
        assert cli.main([*command, "--dataset", "mine", *folders]) == 0
        return capsys.readouterr().out.splitlines()

    return printed


def test_stats_counts_a_graph(stats):
    blocks = further.source("blocks")

    name, *lines = stats(blocks, nodes=400, group_homophily=0.25, dependence=0.4)

    counted = dict(line.split(maxsplit=1) for line in lines)
    assert name == "mine:"
    assert counted["s0"] == "200"
    assert counted["label_gap"] == "0.4000"
    assert float(counted["group_homophily"]) == pytest.approx(0.25, abs=0.05)
    assert float(counted["cap"]) == pytest.approx(0.5, abs=0.01)


def test_stats_make_no_graph_where_the_workflow_does(setting, tmp_path):
    """Its runs would be of a graph that this configuration made."""
    made = setting("demo-citation")

    with pytest.raises(ConfigError, match="is where the workflow writes"):
        list(commands.stats(made, tmp_path / "results"))

    assert not (tmp_path / "results").exists()


@pytest.fixture
def mirrored(tmp_path):
    """Write a table into the mirror, and give its entry in the options."""

    def write(name, text):
        (tmp_path / name).write_text(text)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        return {"file": name, "url": "https://localhost:9/", "sha256": sha256}

    return write


def test_stats_say_what_each_column_was_taken_for(mirrored, stats):
    nodes, edges = "who,age,almost,sex,won\n", "a,b\n"
    for k in range(40):
        almost = k % 2 if k else 1
        nodes += f"p{k},{20 + k},{almost},{'fm'[k % 2]},{k // 2 % 2}\n"
    for k in range(39):
        edges += f"p{k},p{k + 1}\n"
    edges += "p1,p0\np9,p9\n"

    lines = stats(
        "tables",
        nodes=mirrored("nodes.csv", nodes),
        edges=mirrored("edges.csv", edges),
        id="who",
        sensitive="sex",
        label="won",
        drop=["self_loops"],
    )

    of_group = "20 nodes, label 1 for 10 of 20 (0.5000), R_chi 1.0000, homophily 0.0000"
    of_feature = "almost says group sex=f (AUC 0.975): is it one? See `exclude`"
    assert lines[1:13] == [
        "  column who: id: p0, p1, p2, p3, p4, ... (40 values)",
        "  column age: feature: 20 to 59, all different",
        "  column almost: feature: 0 to 1",
        "  column sex: sensitive: f, m",
        "  column won: label: 0, 1",
        "  edges: 'a' and 'b' are the ends",
        "  first edge: p0 – p1",
        "  rows of edges: 41 = 39 edges + 1 that repeat one, in either direction + 1 "
        "that join a node to itself",
        f"  group sex=f: {of_group}",
        f"  group sex=m: {of_group}",
        f"  feature almost {of_feature}",
        "  nodes               40",
    ]


EDGES = {
    "edges": ["a,b", "b,c", "c,d", "d,e"],
    "that repeat one, in either direction": ["a,b", "b,a", "d,c"],
    "of nodes left out": ["gone,e", "gone,a", "f,gone"],
    "that name nobody": ["a,nobody", "nobody,nobody", "nobody,gone"],
    "that join a node to itself": ["a,a", "gone,gone"],
}
"""Rows by what becomes of them."""


@pytest.mark.parametrize("without", [None, *list(EDGES)[1:]])
def test_every_row_of_edges_is_counted_once(mirrored, stats, without):
    """Whatever there is of each kind, the counts add up to the rows of the file."""
    rows_of = {title: rows for title, rows in EDGES.items() if title != without}
    rows = [row for rows in rows_of.values() for row in rows]
    nodes = "who,age,sex,won\n" + "".join(
        f"{name},{20 + place},{'fm'[place % 2]},{place // 2 % 2}\n"
        for place, name in enumerate("abcdef")
    )

    lines = stats(
        "tables",
        nodes=mirrored("nodes.csv", f"{nodes}gone,30,,1\n"),
        edges=mirrored("edges.csv", "\n".join(["from,to", *rows])),
        id="who",
        sensitive="sex",
        label="won",
        drop=["self_loops", "unknown_ids", "unknown_groups"],
    )

    (said,) = [line for line in lines if "rows of edges" in line]
    total, _, parts = said.removeprefix("  rows of edges: ").partition(" = ")
    counted = {}
    for part in parts.split(" + "):
        count, _, title = part.partition(" ")
        counted[title] = int(count)
    assert int(total) == len(rows) == sum(counted.values())
    assert counted == {title: len(rows) for title, rows in rows_of.items()}


def test_an_empty_category_is_said_to_be_none(mirrored, stats):
    nodes = "who,job,sex,won\na,x,f,0\nb,,m,1\nc,y,f,1\nd,x,m,0\ne,y,f,0\n"

    lines = stats(
        "tables",
        nodes=mirrored("nodes.csv", nodes),
        edges=mirrored("edges.csv", "from,to\na,b\nb,c\nc,d\n"),
        id="who",
        sensitive="sex",
        label="won",
        categories=["job"],
        fill="mean",
    )

    assert "  column job: categories: x, y; 1 empty, which are none of these" in lines


def test_what_acts_on_a_terminal_is_shown(mirrored, stats):
    """As the name of a column that comes from elsewhere may."""
    nodes = "who,age\x1b[2J,\u202esex,won\na,9,f,0\nb,8,m,1\nc,7,f,1\nd,6,m,0\n"

    lines = stats(
        "tables",
        nodes=mirrored("nodes.csv", nodes),
        edges=mirrored("edges.csv", "from,to\na,b\nb,c\nc,d\n"),
        id="who",
        sensitive="\u202esex",
        label="won",
    )

    assert "\x1b" not in "".join(lines)
    assert r"  column age\x1b[2J: feature: 6 to 9" in lines
    assert any(line.startswith(r"  group \u202esex=f: 2 nodes") for line in lines)
