"""The configuration: valid as shipped, and clear about what is wrong otherwise."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from fairgat import config, methods
from fairgat.config import reading
from fairgat.config.models import named_files
from fairgat.data import datasets
from fairgat.errors import ConfigError
from fairgat.methods.base import NodeMethod

ROOT = Path(__file__).resolve().parents[3]
STUDIES = ROOT / "beyond/studies"
MORE_METHODS = ROOT / "configs/more-methods.yaml"
NODE = "node_classification"


def changed(change) -> dict:
    """The shipped configuration with something laid over it."""
    content = yaml.safe_load((ROOT / "config.yaml").read_text())
    reading.merge(content, change)
    return content


def gat(**entry) -> dict:
    """A change of the entry of GAT."""
    return {"methods": {"gat": entry}}


@pytest.mark.parametrize(
    "overlays",
    [
        [],
        [ROOT / "configs/demo.yaml"],
        [ROOT / "configs/reference.yaml"],
        [STUDIES / "extended.yaml", MORE_METHODS, STUDIES / "newer-methods.yaml"],
        [STUDIES / "sensitivity.yaml"],
    ],
    ids=["alone", "demo", "reference", "extended", "sensitivity"],
)
def test_the_shipped_configurations_are_valid(overlays):
    loaded = config.load_files(ROOT / "config.yaml", *overlays)

    methods.check(loaded)
    datasets.check(loaded)


@pytest.fixture(scope="module")
def shipped():
    return config.load_files(ROOT / "config.yaml")


def test_the_shipped_configuration_has_the_defaults_and_lists_what_is_run(shipped):
    listed = {"datasets", "methods", "tables", "figures"}

    defaults = config.Config(datasets={}, methods={})

    assert shipped.model_dump(exclude=listed) == defaults.model_dump(exclude=listed)


def test_the_shipped_configuration_has_the_papers_protocol(shipped):
    training = shipped.training.node_classification

    assert (training.epochs, training.hidden) == (500, 128)
    assert (training.learning_rate, training.weight_decay) == (0.005, 0.0005)
    assert shipped.splits.count == 5
    cutoffs = [0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75]
    assert shipped.training.link_prediction.cutoffs == cutoffs


def test_the_shipped_configuration_has_the_papers_data_sets_and_grid(shipped):
    papers = {"pokec-z", "pokec-n", "recidivism", "cora", "citeseer", "pubmed"}

    assert papers <= set(shipped.datasets)
    assert len(shipped.cells("fairgat", "recidivism")) == 6


def assert_refused(change, expected):
    """The configuration is refused, by words that say where and what to do."""
    with pytest.raises(ConfigError) as error:
        methods.check(config.load(changed(change)))
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"resuts_dir": "x"}, "resuts_dir: unknown key; did you mean 'results_dir'?"),
        ({"splits": {"cuont": 3}}, "splits.cuont: unknown key; did you mean 'count'?"),
        (gat(titel="x"), "methods.gat.titel: unknown key; did you mean 'title'?"),
        (
            gat(settings={"eta": 1}),
            "methods.gat.settings.eta: unknown key; that method has no settings",
        ),
        (
            gat(module="fairgat", settings={"step": [1]}),
            "gat.settings.step: unknown key; did you mean 'steps'?",
        ),
    ],
    ids=["top", "section", "method", "no setting", "setting"],
)
def test_an_unknown_key_names_the_nearest_one(change, expected):
    assert_refused(change, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"results_dir": ""}, "results_dir: expected at least 1 character, got ''"),
        ({"seed": -1}, "seed: expected greater than or equal to 0, got -1"),
        (
            {"splits": {"count": True}},
            "splits.count: expected a number, and YAML reads yes",
        ),
        (
            {"splits": {"count": False}},
            "splits.count: expected a number, and YAML reads yes",
        ),
        (
            {"training": {"link_prediction": {"cutoffs": [0.5, True]}}},
            "link_prediction.cutoffs: expected a number, and YAML reads yes",
        ),
        (gat(title=False), "methods.gat.title: expected a text, got False"),
        ({"splits": {"train": 1.5}}, "splits.train: expected less than 1, got 1.5"),
        ({"splits": {"train": 0.8}}, "splits: train + validation must leave"),
        (
            {"training": {"link_prediction": {"negatives": math.inf}}},
            "link_prediction.negatives: expected a finite",
        ),
        (
            {"training": {NODE: {"epochs": "many"}}},
            "training.node_classification.epochs: expected a whole number, got 'many'",
        ),
        (
            {"selection": {"rule": "fairest"}},
            "selection.rule: expected 'fair', 'accuracy' or 'paper', got 'fairest'",
        ),
        (
            {"audit": {"margins": {"fairness": 2}}},
            "audit.margins.fairness: expected less than 1, got 2",
        ),
        ({"splits": {"count": 2.5}}, "splits.count: expected a whole number, got 2.5"),
        ({"splits": {"train": "half"}}, "splits.train: expected a number, got 'half'"),
        ({"skip": {"a": 1}}, "skip: expected a list, got {'a': 1}"),
        (gat(tasks=["nodes"]), "methods.gat.tasks.0: expected"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_what_was_expected(change, expected):
    assert_refused(change, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
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
            gat(module="gatt"),
            "methods.gat: there is no method module fairgat/methods/gatt.py; "
            "did you mean 'gat'?",
        ),
    ],
    ids=["data set", "method", "method of an overlay", "row", "module"],
)
def test_a_name_of_nothing_names_the_nearest_one(change, expected):
    assert_refused(change, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"datasets": {"my data": {"task": "link_prediction"}}},
            "datasets.my data: a name has letters, digits",
        ),
        (
            {"datasets": {"cora": {"enabled": False}}},
            "datasets.cora: a data set with enabled: false needs a reason",
        ),
        (
            {"datasets": {"cora": {"title": "Pubmed"}}},
            "datasets.pubmed.title: 'Pubmed' is that of cora, too",
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
            {"methods": {"nifty": {"title": "GAT"}}},
            "methods.nifty.title: 'GAT' is that of gat, too",
        ),
        (
            {
                "methods": {
                    "edits": {"title": "X", "tasks": []},
                    "nifty": {"title": "X"},
                    "fairdrop": {"title": "X"},
                    "fairgat": {"title": "X", "tasks": ["link_prediction"]},
                }
            },
            "methods.fairgat.title: 'X' is that of fairdrop, too",
        ),
        (
            {"methods": {"nifty": {"same_as": "nifty"}}},
            "methods.nifty.same_as: nifty stands for nifty itself",
        ),
    ],
    ids=[
        "name",
        "reason",
        "title",
        "splits of another's",
        "method's title",
        "method's title, of one of its tasks",
        "itself",
    ],
)
def test_entries_that_make_no_sense_together_are_refused(change, expected):
    assert_refused(change, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"figures": ["runtime", "my/runtime.py"]},
            "figures: runtime and my/runtime.py would both be figures/runtime.svg",
        ),
        (
            {"tables": {"all_tables": ["gat"]}},
            "tables.all_tables: tables/all_tables.tex is the document with all tables",
        ),
        (
            {"tables": {"ablation": {"measures": ["auc", "f1", "auc"]}}},
            "tables.ablation: `measures` lists auc more than once",
        ),
        (
            {"tables": {"ablation": ["gat", "gat"]}},
            "tables.ablation: `methods` lists gat more than once",
        ),
    ],
    ids=["figures of a name", "the document's name", "columns", "rows"],
)
def test_pages_that_would_take_each_others_place_are_refused(change, expected):
    assert_refused(change, expected)


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ({}, "methods.fairgat.grid: {} changes nothing"),
        (
            {"eta": [1, 1.0]},
            "methods.fairgat: the values of eta repeat themselves",
        ),
        ({"eta": ["a/b"]}, "none of / ~ { }"),
        ({"eta": [""]}, "no empty text"),
        ({"eta": ["a\nb"]}, "no control character"),
        ({"eta": [math.inf]}, "eta.0: expected a finite number, got inf"),
        (
            {"eta": [-1]},
            "methods.fairgat.grid.eta: expected greater than 0, got -1",
        ),
    ],
    ids=[
        "empty",
        "repeated",
        "no path",
        "no text",
        "two lines",
        "infinite",
        "not of the method",
    ],
)
def test_a_grid_without_cells_of_the_method_is_refused(grid, expected):
    assert_refused({"methods": {"fairgat": {"grid": grid}}}, expected)


def test_an_empty_section_says_how_it_is_taken_away():
    assert_refused(
        {"tables": {}}, "To take all keys of tables away, write `tables: null`"
    )


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"module": "fairgat", "settings": {"eta": 0.3}, "grid": {"eta": [1.0]}},
            "gat.settings.eta: a grid has it, too",
        ),
        (
            {"module": "fairgat", "settings": {"steps": [1]}, "grid": {"eta": [1.0]}},
            "`eta` is of step 3, which `steps` l",
        ),
        (
            {"module": "edits", "tasks": [NODE]},
            "set methods.gat.debiased to true",
        ),
        (
            {
                "module": "edits",
                "tasks": [NODE],
                "debiased": True,
                "settings": {"debias": {"epochs": 0}},
            },
            "methods.gat.settings.debias.epochs: expected greater than or equal to 1, "
            "got 0",
        ),
        (
            {
                "module": "edits",
                "tasks": [NODE],
                "debiased": True,
                "settings": {"debias": {"epochs_of": {"recidivsm": 5}}},
            },
            "methods.gat.settings.debias.epochs_of: 'recidivsm' is not a data set; "
            "did you mean 'recidivism'?",
        ),
    ],
    ids=["twice", "no such step", "not debiased", "rounds", "rounds of nothing"],
)
def test_settings_that_a_method_cannot_take_are_refused(entry, expected):
    assert_refused(gat(**entry), expected)


def test_null_takes_away_what_an_empty_mapping_would_not():
    change = {"methods": {"fairgat": {"grid": None}}, "figures": None}

    loaded = config.load(changed(change))

    assert loaded.cells("fairgat", "cora") == ["default"]
    assert loaded.figures == []


def test_a_method_of_ones_own_may_have_a_setting_called_debias(monkeypatch):
    class Settings(config.Model):
        debias: float = 0.5

    own = SimpleNamespace(Settings=Settings, NodeClassification=NodeMethod)
    module = methods.module
    monkeypatch.setattr(
        methods, "module", lambda name: own if name == "mlp" else module(name)
    )
    entry = {"module": "mlp", "tasks": [NODE], "settings": {"debias": 0.3}}

    methods.check(config.load(changed(gat(**entry))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x = 1\ny = (\n",
            r"SyntaxError: '\(' was never closed \(own_broken\.py, line 2\)",
        ),
        ("import nowhere", "ModuleNotFoundError: No module"),
        ("x = y", "NameError: name 'y'"),
    ],
    ids=["syntax", "import", "name"],
)
def test_a_method_that_python_cannot_read_is_named(tmp_path, text, message):
    path = tmp_path / "own_broken.py"
    path.write_text(text)

    with pytest.raises(ConfigError, match=f"cannot be imported: {message}"):
        methods.check(config.load(changed(gat(module=str(path)))))


@pytest.mark.parametrize(("dataset", "rounds"), [("recidivism", 100), ("pokec-z", 500)])
def test_rounds_of_one_data_set_are_no_setting_of_another(shipped, dataset, rounds):
    debias = shipped.training_settings("edits", dataset)["debias"]

    assert debias["epochs"] == rounds
    assert "epochs_of" not in debias
    assert "epochs_of" in shipped.methods["edits"].settings["debias"]


@pytest.mark.parametrize("title", [None, "", "  "])
def test_what_has_no_title_is_called_by_its_key(title):
    loaded = config.load(changed(gat(title=title)))

    assert loaded.methods["gat"].title == "gat"


def test_a_comma_separated_list_is_a_list():
    loaded = config.load(changed({"skip": "pokec-z,pokec-n"}))

    assert loaded.skip == ["pokec-z", "pokec-n"]


def test_a_data_set_that_is_skipped_is_not_run():
    loaded = config.load(changed({"skip": ["pokec-z"]}))

    assert loaded.not_run("pokec-z") == "left out with skip"
    assert "pokec-z" not in loaded.datasets_of(NODE)


@pytest.mark.parametrize(
    "path", ["results/x/", "./results//x", "results/x", "~/x", "$HOME/x/"]
)
def test_the_results_folder_is_spelt_one_way(path, monkeypatch):
    monkeypatch.setenv("HOME", "results")

    loaded = config.load(changed({"results_dir": path}))

    assert loaded.results_dir == "results/x"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (2024_11_25, "expected a path, but YAML reads this as 20241125; write ./ "),
        ("/tmp/r{x}", "a path must not hold { or }"),
        ("$NOT_SET_ANYWHERE/x", "a path may hold $ only before the name of a var"),
    ],
    ids=["a number", "braces", "a variable that is not set"],
)
def test_a_path_that_is_none_is_refused(path, expected):
    assert_refused({"results_dir": path}, f"results_dir: {expected}")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "$MINE is an empty text here, and a path is needed"),
        ("a{b", "a path must not hold { or }"),
        ("a\nb", "a path must not hold control characters"),
    ],
    ids=["nothing", "a brace", "two lines"],
)
@pytest.mark.parametrize("key", ["results_dir", "data_mirror"])
def test_a_variable_in_a_path_holds_what_a_path_may(key, value, expected, monkeypatch):
    monkeypatch.setenv("MINE", value)

    assert_refused({key: "$MINE"}, f"{key}: {expected}")


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "a\x1bb"])
@pytest.mark.parametrize("key", ["results_dir", "data_mirror"])
def test_a_path_holds_no_control_characters(key, path):
    assert_refused({key: path}, f"{key}: a path must not hold control")


def test_paths_of_own_data_are_expanded(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    options = {"path": "~/graph.pt"}
    own = config.Dataset(task=NODE, source="pyg", options=options)

    (file,) = datasets.files_of("own", own)

    assert file.local == Path("/home/me/graph.pt")


def test_files_that_settings_name_are_found_however_deep(tmp_path):
    """Runs depend on their content."""
    first, second, third = (str(tmp_path / name) for name in "abc")
    for path in (first, second, third):
        Path(path).touch()
    settings = {
        "weights": first,
        "loss": {"prior": second, "rate": 0.1, "name": "none"},
        "more": [third, "x" * 5000, "a\0b", None],
        "folder": str(tmp_path),
    }
    assert named_files(settings) == [first, second, third]
