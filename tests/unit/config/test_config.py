"""The configuration: valid as shipped, and clear about what is wrong otherwise."""

import math
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from fairgat import cells, config, methods
from fairgat.config import reading
from fairgat.data import datasets
from fairgat.errors import ConfigError
from tools import results_dir

ROOT = Path(__file__).resolve().parents[3]
NODE = "node_classification"


def shipped() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def gat(**entry) -> dict:
    return {"methods": {"gat": entry}}


def test_the_shipped_configurations_are_valid():
    studies = ROOT / "beyond/studies"
    more = ROOT / "configs/more-methods.yaml"
    for overlays in (
        [],
        [ROOT / "configs/demo.yaml"],
        [ROOT / "configs/reference.yaml"],
        [studies / "extended.yaml", more, studies / "newer-methods.yaml"],
        [studies / "sensitivity.yaml"],
    ):
        loaded = config.load_files(ROOT / "config.yaml", *overlays)
        methods.check(loaded)
        datasets.check(loaded)


def test_it_is_the_papers_experiment():
    loaded = config.load_files(ROOT / "config.yaml")
    listed = {"datasets", "methods", "tables", "figures"}
    assert loaded.model_dump(exclude=listed) == config.Config(
        datasets={}, methods={}
    ).model_dump(exclude=listed)
    assert {"pokec-z", "pokec-n", "recidivism", "cora", "citeseer", "pubmed"} <= set(
        loaded.datasets
    )
    assert loaded.splits.count == 5
    protocol = {
        "epochs": 500,
        "learning_rate": 0.005,
        "weight_decay": 0.0005,
        "hidden": 128,
    }
    assert loaded.training.node_classification.model_dump().items() >= protocol.items()
    assert loaded.training.link_prediction.cutoffs == [
        0.45,
        0.5,
        0.55,
        0.6,
        0.65,
        0.7,
        0.75,
    ]
    assert len(loaded.cells("fairgat", "recidivism")) == 6


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"results_dir": ""}, "results_dir: expected at least 1 character, got ''"),
        (
            {"results_dir": 2024_11_25},
            "results_dir: expected a path, but YAML reads this as 20241125; write ./ before",
        ),
        ({"results_dir": "/tmp/r{x}"}, "results_dir: a path must not hold { or }"),
        (
            {"datasets": {"my data": {"task": "link_prediction"}}},
            "datasets.my data: a name has letters, digits",
        ),
        (
            {"methods": {"fairgat": {"grid": {}}}},
            "methods.fairgat.grid: {} changes nothing",
        ),
        ({"tables": {}}, "To take all keys of tables away, write `tables: null`"),
        ({"resuts_dir": "x"}, "resuts_dir: unknown key; did you mean 'results_dir'?"),
        ({"splits": {"cuont": 3}}, "splits.cuont: unknown key; did you mean 'count'?"),
        (
            {"methods": {"gat": {"titel": "x"}}},
            "methods.gat.titel: unknown key; did you mean 'title'?",
        ),
        ({"seed": -1}, "seed: expected greater than or equal to 0, got -1"),
        (
            {"splits": {"count": True}},
            "splits.count: expected a number, and YAML reads yes",
        ),
        (
            {"splits": {"count": False}},
            "splits.count: expected a number, and YAML reads yes",
        ),
        ({"splits": {"train": 1.5}}, "splits.train: expected less than 1, got 1.5"),
        (
            {"training": {"link_prediction": {"negatives": math.inf}}},
            "link_prediction.negatives: expected a finite",
        ),
        ({"splits": {"train": 0.8}}, "splits: train + validation must leave"),
        (
            {"training": {"node_classification": {"epochs": "many"}}},
            "training.node_classification.epochs: expected",
        ),
        (
            {"selection": {"rule": "fairest"}},
            "selection.rule: expected 'fair', 'accuracy' or 'paper', got 'fairest'",
        ),
        (
            {"audit": {"margins": {"fairness": 2}}},
            "audit.margins.fairness: expected less than 1, got 2",
        ),
        (
            {
                "datasets": {
                    "pokec-n": {"splits_of": "pokec-z"},
                    "cora": {"splits_of": "pokec-n"},
                }
            },
            "datasets.cora.splits_of: pokec-n stands for pokec-z itself; name that",
        ),
        (
            {"skip": "pokec-y"},
            "skip: 'pokec-y' is not a data set; did you mean 'pokec-",
        ),
        (
            {"only_methods": ["gta"]},
            "only_methods: 'gta' is not a method; did you mean 'gat'?",
        ),
        (
            {"only_methods": ["gat-penalty"]},
            "'gat-penalty' is not a method; configs/more-methods.yaml declares it",
        ),
        (
            {"tables": {"ablation": ["gat", "fairgat2"]}},
            "tables.ablation: 'fairgat2' is not a method",
        ),
        (
            {"datasets": {"cora": {"enabled": False}}},
            "datasets.cora: a data set with enabled: false needs a reason",
        ),
        ({"methods": {"gat": {"tasks": ["nodes"]}}}, "methods.gat.tasks.0: expected"),
        (
            {"methods": {"nifty": {"same_as": "nifty"}}},
            "methods.nifty.same_as: nifty stands for nifty itself",
        ),
        (
            {"results_dir": "$NOT_SET_ANYWHERE/x"},
            "results_dir: a path may hold $ only before the name of a var",
        ),
        (
            {"methods": {"nifty": {"title": "GAT"}}},
            "methods.nifty.title: 'GAT' is that of gat, too",
        ),
        (
            {"datasets": {"cora": {"title": "Pubmed"}}},
            "datasets.pubmed.title: 'Pubmed' is that of cora, too",
        ),
        (
            {"methods": {"fairgat": {"grid": {"eta": [1, 1.0]}}}},
            "methods.fairgat: the values of eta repeat themselves",
        ),
        ({"methods": {"fairgat": {"grid": {"eta": ["a/b"]}}}}, "none of / ~ { }"),
        ({"methods": {"fairgat": {"grid": {"eta": [""]}}}}, "no empty text"),
        (
            gat(module="gatt"),
            "methods.gat: there is no method module fairgat/methods/gatt.py; did you mean 'gat'?",
        ),
        (
            gat(settings={"eta": 1}),
            "methods.gat.settings.eta: unknown key; nothing is allowed here",
        ),
        (
            gat(module="fairgat", settings={"step": [1]}),
            "gat.settings.step: unknown key; did you mean 'steps'?",
        ),
        (
            gat(module="fairgat", grid={"eta": [math.inf]}),
            "eta.0: expected a finite number, got inf",
        ),
        (
            gat(module="fairgat", grid={"eta": [-1]}),
            "methods.gat.grid.eta: expected greater than 0, got -1",
        ),
        (
            gat(module="fairgat", settings={"eta": 0.3}, grid={"eta": [1.0]}),
            "gat.settings.eta: a grid has it, too",
        ),
        (
            gat(module="fairgat", settings={"steps": [1, 2]}, grid={"eta": [1.0]}),
            "`eta` is of step 3, which `steps` l",
        ),
        (
            gat(
                module="edits",
                tasks=[NODE],
                debiased=True,
                settings={"debias": {"epochs": 0}},
            ),
            "methods.gat.settings.debias.epochs: expected greater than or equal to 1, got 0",
        ),
        (gat(module="edits", tasks=[NODE]), "set methods.gat.debiased to true"),
        (
            gat(
                module="edits",
                tasks=[NODE],
                debiased=True,
                settings={"debias": {"epochs_of": {"recidivsm": 5}}},
            ),
            "methods.gat.settings.debias.epochs_of: 'recidivsm' is not a data set; did you mean 'recidivism'?",
        ),
    ],
)
def test_what_is_wrong_is_explained(change, expected):
    content = shipped()
    with pytest.raises(ConfigError) as error:
        reading.merge(content, change)
        methods.check(config.load(content))
    assert expected in str(error.value)


def test_null_takes_away_what_an_empty_mapping_would_not():
    content = shipped()
    reading.merge(content, {"methods": {"fairgat": {"grid": None}}, "figures": None})
    loaded = config.load(content)
    assert loaded.cells("fairgat", "cora") == ["default"] and loaded.figures == []


def test_a_key_that_is_there_twice_is_refused_with_both_lines(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("seed: 1\nmethods:\n  gat: { title: A }\n  gat: { title: B }\n")
    with pytest.raises(
        ConfigError,
        match=r"mine\.yaml: gat stands on line 3 and again on line 4; keep one",
    ):
        config.load_files(path)
    path.write_text(
        "inner: &inner { <<: { a: 1 }, a: 2 }\nouter: { <<: *inner, a: 3, '1': 0, 1: 0 }\n"
    )
    assert config.read_file(path) == {
        "inner": {"a": 2},
        "outer": {"a": 3, "1": 0, 1: 0},
    }
    path.write_text("? [a]\n: 1\n? [b]\n: 1\n")
    with pytest.raises(ConfigError, match=r"(?s)is not YAML: .*unhashable"):
        config.read_file(path)


@pytest.mark.parametrize(
    ("number", "read", "base"),
    [
        ("010", 8, 8),
        ("-010", -8, 8),
        ("12:30", 750, 60),
        ("1:30", 90, 60),
        ("0x10", None, None),
        ("01", None, None),
    ],
)
def test_a_number_that_yaml_reads_as_another_is_refused(tmp_path, number, read, base):
    path = tmp_path / "mine.yaml"
    path.write_text(f"others: [08, 10, 0.5, '020', 1e3, -5, 0]\ngroups: [{number}]\n")
    if read is None:
        assert config.read_file(path)["groups"] == [
            int(number, 0 if "x" in number else 10)
        ]
    else:
        with pytest.raises(
            ConfigError,
            match=rf"mine\.yaml: line 2: YAML reads {number} as {read}, in base {base}",
        ):
            config.read_file(path)


def test_a_method_of_ones_own_may_have_a_setting_called_debias(monkeypatch):
    class Settings(config.Model):
        debias: float = 0.5

    own = SimpleNamespace(
        Settings=Settings, NodeClassification=SimpleNamespace(needs_debiased=False)
    )
    real = methods.module
    monkeypatch.setattr(
        methods, "module", lambda name: own if name == "mlp" else real(name)
    )
    content = shipped()
    reading.merge(content, gat(module="mlp", tasks=[NODE], settings={"debias": 0.3}))
    methods.check(config.load(content))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x = 1\ny = (\n",
            r"SyntaxError: '\(' was never closed \(own_broken\.py, line 2\)",
        ),
        ("import nowhere", "ModuleNotFoundError: No module"),
        ("x = y", "NameError: name 'y'"),
    ],
)
def test_a_method_that_python_cannot_read_is_named(tmp_path, text, expected):
    path = tmp_path / "own_broken.py"
    path.write_text(text)
    content = shipped()
    reading.merge(content, gat(module=str(path)))
    with pytest.raises(ConfigError, match=f"cannot be imported: {expected}"):
        methods.check(config.load(content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "does not exist"),
        ("", "must hold keys and values"),
        ("[", "is not YAML"),
        ("a: 2024-02-31", "is not YAML: day is out of range"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (Path, "it is a folder; give a file like config.yaml"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, content, expected):
    path = tmp_path / "mine.yaml"
    if content is Path:
        path.mkdir()
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError, match=rf"mine\.yaml:? {expected}"):
        config.load_files(path)


@pytest.mark.parametrize("path", ["/dev/zero", "pipe", "link"])
def test_what_never_ends_is_no_configuration(tmp_path, path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=r"it is a (device|pipe)"):
        config.read_file(tmp_path / path)
    given = shipped() | {"audit": {"more_splits": str(tmp_path / path)}}
    with pytest.raises(ConfigError, match=r"audit\.more_splits: .* is a (device|pipe)"):
        config.load(given)


def expanding(entry: str, first: str) -> str:
    """Ten anchors, each of which names the one before ten times."""
    lines = [f"a0: &a0 {first}"]
    for number in range(1, 11):
        lines.append(f"a{number}: &a{number} {entry}".replace("*", f"*a{number - 1}"))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            expanding("[" + "*, " * 10 + "]", "[x]"),
            "line 6: .* more than 100000 values",
        ),
        (
            expanding("{" + ", ".join(f"k{n}: *" for n in range(10)) + "}", "{x: 1}"),
            "line 6: .* more than 100000 values",
        ),
        (
            expanding("{<<: [" + "*, " * 10 + "]}", "{x: 1}"),
            "line .* more than 100000 values",
        ),
        ("a: &a [*a]", "line 1: an alias names what it is a part of"),
        ("? &a {b: *a}\n: 1", "line 1: an alias names what it is a part of"),
        ("a:\n- " + "[" * 3000 + "]" * 3000, "line 2: nested more than 50 deep"),
        ("\n".join(" " * n + "a:" for n in range(99)), "line 50: nested more than 50"),
        (
            "a0: &a0 [x]\n"
            + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 3000)),
            "line 50: aliases nest it more than 50 deep",
        ),
        ("a: " + "x" * (1 << 20), "more than 1048576 bytes"),
    ],
    ids=["lists", "maps", "merged", "loop", "key", "flow", "block", "chain", "long"],
)
def test_yaml_that_grows_or_goes_deep_is_refused_while_it_is_read(
    tmp_path, text, expected
):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=rf"mine\.yaml: .*{expected}"):
        config.read_file(tmp_path / "mine.yaml")


def test_an_alias_stands_for_what_it_names(tmp_path):
    (tmp_path / "mine.yaml").write_text("a: &a {b: [1]}\nc: *a\nd: {<<: *a, e: 2}")
    content = config.read_file(tmp_path / "mine.yaml")
    assert content["c"] == content["a"] and content["d"] == {"b": [1], "e": 2}


SHOWN = {
    "title": lambda text: {"title": text},
    "note": lambda text: {"note": text},
    "datasets.cora.title": lambda text: {"datasets": {"cora": {"title": text}}},
    "datasets.cora.reason": lambda text: {"datasets": {"cora": {"reason": text}}},
    "methods.gat.title": lambda text: gat(title=text),
    "methods.gat.note": lambda text: gat(note=text),
    "methods.gat.note_of_more_groups": lambda text: gat(note_of_more_groups=text),
    "tables.comparison.title": lambda text: {
        "tables": {"comparison": {"title": text, "methods": ["gat"]}}
    },
    "study.title": lambda text: {
        "study": {
            "name": "s",
            "title": text,
            "rows": [{"title": "t", "changes": "c", "of": "gat", "method": "fairgat"}],
        }
    },
    "study.rows.0.changes": lambda text: {
        "study": {
            "name": "s",
            "title": "s",
            "rows": [{"title": "t", "changes": text, "of": "gat", "method": "fairgat"}],
        }
    },
}


@pytest.mark.parametrize("key", SHOWN)
@pytest.mark.parametrize(
    "character",
    ["\n", "\r", "\0", "\x1b", "\x0b", "\x85", "\u2028", "\u202e", "\u2066", "\ud800"],
)
def test_a_text_that_is_shown_is_one_line_without_control_characters(key, character):
    content = shipped()
    text = f"a{character}{character}.. include:: /etc/hostname"
    reading.merge(content, SHOWN[key](text))
    with pytest.raises(ConfigError, match=f"{key}: expected one line .* character 2 "):
        config.load(content)


@pytest.mark.parametrize("text", ["</script>", "a</ScRipt ", "<!--", "<script"])
@pytest.mark.parametrize(
    "place",
    [
        lambda text: {"title": text},
        lambda text: gat(title=text),
        lambda text: gat(settings={"a": [text]}),
        lambda text: {"datasets": {"cora": {"options": {"groups": {text: ["a"]}}}}},
        lambda text: {"data_mirror": f"a/{text}"},
    ],
)
def test_nothing_that_runs_in_snakemakes_report_is_a_text(place, text):
    content = shipped()
    reading.merge(content, place(text))
    with pytest.raises(ConfigError, match=r"would run as a script in report\.html"):
        config.load(content)


def test_other_angle_brackets_are_text():
    given = {"title": "a < b <c> </d> <scribe>", "note": "x <- y"}
    assert config.load(shipped() | given).title == given["title"]


def test_line_breaks_around_a_text_are_none_of_it():
    given = {"title": "Études, كتاب\u200cها, 👩‍🔬\n"}
    assert config.load(shipped() | given).title == "Études, كتاب\u200cها, 👩‍🔬"


def test_rounds_of_one_data_set_are_no_setting_of_another():
    loaded = config.load(shipped())
    rounds = {
        name: loaded.training_settings("edits", name)["debias"]
        for name in ("recidivism", "pokec-z")
    }
    assert [settings["epochs"] for settings in rounds.values()] == [100, 500]
    assert not any("epochs_of" in settings for settings in rounds.values())
    assert "epochs_of" in loaded.methods["edits"].settings["debias"]


@pytest.mark.parametrize(
    "path", ["results/x/", "./results//x", "results/x", "~/x", "$HOME/x/"]
)
def test_the_results_folder_is_spelt_one_way(path, monkeypatch):
    monkeypatch.setenv("HOME", "results")
    assert config.load(shipped() | {"results_dir": path}).results_dir == "results/x"


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "a\x1bb"])
@pytest.mark.parametrize("key", ["results_dir", "data_mirror"])
def test_a_path_holds_no_control_characters(key, path):
    with pytest.raises(ConfigError, match=f"{key}: a path must not hold control"):
        config.load(shipped() | {key: path})


def test_paths_of_own_data_are_expanded(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    options = {"path": "~/graph.pt"}
    own = config.Dataset(task="node_classification", source="pyg", options=options)
    (file,) = datasets.files_of("own", own)
    assert file.local == Path("/home/me/graph.pt")


def test_make_finds_where_a_command_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "mine.yaml").write_text("results_dir: results/mine\n")
    overlays = ["--configfile", "configs/demo.yaml", str(tmp_path / "mine.yaml")]
    assert results_dir.find(["--cores", "2"]) == "results"
    assert results_dir.find([*overlays, "--forcerun", "table"]) == "results/mine"
    assert (
        results_dir.find(
            [*overlays, "-n", "--config", "seed=1", "results_dir=/tmp/a b/"]
        )
        == "/tmp/a b"
    )


def test_a_comma_separated_list_is_a_list():
    loaded = config.load(shipped() | {"skip": "pokec-z,pokec-n"})
    assert loaded.skip == ["pokec-z", "pokec-n"]
    assert loaded.not_run("pokec-z") == "left out with skip"
    assert "pokec-z" not in loaded.datasets_of("node_classification")


def test_a_cell_is_a_path():
    assert (
        cells.to_path({"eta": 1.0, "alpha_chi_max": 0.25})
        == "alpha_chi_max~0.25/eta~1.0"
    )
    for cell in cells.expand({"alpha_chi_max": [0.25, 0.5], "eta": [0.75, 1]}):
        assert cells.from_path(cells.to_path(cell)) == cell
    assert cells.to_path({}) == "default"
    assert cells.from_path("default") == {}
    with pytest.raises(ConfigError, match="not a cell"):
        cells.from_path("eta=1")


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
    ],
)
def test_a_flag_of_which_snakemake_takes_the_last_is_given_once(words, joined):
    with pytest.raises(ConfigError, match=f"Write: {joined}$"):
        config.check_command(words.split())
    config.check_command(
        [
            "--config",
            "seed=1",
            "--configfile",
            "a.yaml",
            "-R",
            "table",
            "--",
            "--config",
        ]
    )


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
    entry, written, monkeypatch
):
    monkeypatch.chdir(ROOT)
    results_dir.find(["--config", "seed=1", "splits={count: 3}"])
    with pytest.raises(ConfigError, match=re.escape(written)):
        results_dir.find(["-n", "--config", "seed=1", entry])
