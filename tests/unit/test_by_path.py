"""A module of one's own, from one's own folder."""

import pytest

from fairgat import config, methods, plan
from fairgat.by_path import imported, place_of
from fairgat.config import read_file
from fairgat.config.reading import locate
from fairgat.data import datasets
from fairgat.errors import ConfigError

METHOD = """
from .losses import WEIGHT
from fairgat.methods.gat import NodeClassification, Settings
"""


@pytest.fixture
def mine(tmp_path):
    """A folder with a method and a helper beside it."""
    (tmp_path / "mine.py").write_text(METHOD)
    (tmp_path / "losses.py").write_text("WEIGHT = 2.0\n")
    return tmp_path


def test_files_with_equal_names_in_two_folders_stay_apart(mine, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.py").write_text("from .losses import WEIGHT")
    (other / "losses.py").write_text("WEIGHT = 3.0")
    assert imported(mine / "mine.py").WEIGHT == 2.0
    assert imported(other / "mine.py").WEIGHT == 3.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0", r"wrong\.py cannot be imported: ZeroDivisionError"),
        ("import losses", r"write `from \.losses import \.\.\.`"),
        ("import no_such_package", "No module named 'no_such_package'$"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(mine, text, words):
    (mine / "wrong.py").write_text(text)
    with pytest.raises(ConfigError, match=words):
        imported(mine / "wrong.py")
    with pytest.raises(ConfigError, match=r"there is no file .*lost\.py"):
        imported(mine / "lost.py")


def test_a_method_by_its_path_does_its_tasks(mine):
    path = str(mine / "mine.py")
    assert methods.implementation(path, "node_classification")
    with pytest.raises(ConfigError, match=r"mine\.py has no class LinkPrediction"):
        methods.implementation(path, "link_prediction")


OTHER_SETTINGS = """
from pydantic import BaseModel
from fairgat.methods.gat import NodeClassification

class Settings(BaseModel):
    rate: float = 1.0
"""
NO_SETTINGS = OTHER_SETTINGS.replace("(BaseModel)", "")
OTHER_CLASS = """
from fairgat.methods.gat import LinkPrediction as NodeClassification, Settings
"""


@pytest.mark.parametrize(
    ("text", "settings", "advice"),
    [
        (OTHER_SETTINGS, {"raet": 3.0}, r"write `class Settings\(Model\):`"),
        (NO_SETTINGS, {}, r"write `class Settings\(Model\):`"),
        (OTHER_CLASS, {}, r"write `class NodeClassification\(NodeMethod\):`"),
    ],
    ids=["settings that take any key", "settings that are none", "of another task"],
)
def test_a_file_that_is_no_method_is_refused_before_a_run(mine, text, settings, advice):
    """Not only by `fairgat check-method`."""
    (mine / "other.py").write_text(text)
    entry = {"module": str(mine / "other.py"), "settings": settings}
    entry["tasks"] = ["node_classification"]
    declared = {"datasets": {}, "methods": {"other": entry}}

    with pytest.raises(ConfigError, match=rf"other\.py: {advice}"):
        methods.check(config.load(declared))


def test_what_a_file_imports_from_its_folder_is_digested(mine, tmp_path):
    script = tmp_path / "job.py"
    script.write_text("")

    def digest():
        plan.modules._sha256.cache_clear()
        plan.modules._followed.cache_clear()
        plan.modules._parsed.cache_clear()
        return plan.digest(script, str(mine / "mine.py"))

    first = digest()
    (mine / "losses.py").write_text("WEIGHT = 2.5\n")
    second = digest()
    (mine / "unused.py").write_text("")
    assert first != second == digest()


def test_a_path_is_relative_to_the_file_that_says_it(tmp_path):
    text = "methods: {mine: {module: ../mine.py}}\nfigures: [ablation, own.py]\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "a/overlay.yaml").write_text(text)
    said = read_file(tmp_path / "a/overlay.yaml")
    assert said["methods"]["mine"]["module"] == str(tmp_path / "mine.py")
    assert said["figures"] == ["ablation", str(tmp_path / "a/own.py")]


@pytest.mark.parametrize("path", ["~/mine.py", "$HOME/mine.py", "${HOME}/mine.py"])
def test_a_path_may_begin_with_a_variable(tmp_path, monkeypatch, path):
    monkeypatch.setenv("HOME", "/home/me")
    overlay = tmp_path / "overlay.yaml"
    text = f"methods: {{mine: {{module: '{path}'}}}}\nfigures: ['{path}']\n"
    overlay.write_text(text)
    said = read_file(overlay)
    assert said["methods"]["mine"]["module"] == "/home/me/mine.py"
    assert said["figures"] == ["/home/me/mine.py"]


def test_a_path_of_an_overlay_is_not_taken_for_one_of_the_file_below(tmp_path):
    merged = {"methods": {"mine": {"module": "mine.py"}}}
    said = {"methods": {"mine": {"module": "mine.py"}}}
    for folder in ("over", "below"):
        locate(merged, said, tmp_path / folder)
    assert merged["methods"]["mine"]["module"] == str(tmp_path / "over/mine.py")


def test_a_source_by_its_path_needs_its_parts(tmp_path):
    (tmp_path / "source.py").write_text("def files(name, options): return []")
    entry = config.Dataset(
        task="node_classification", source=str(tmp_path / "source.py")
    )
    with pytest.raises(ConfigError, match=r"source\.py lacks Options, load"):
        datasets.source_of("mine", entry)


def test_a_source_whose_options_take_any_key_is_refused(tmp_path):
    (tmp_path / "source.py").write_text(
        "from pydantic import BaseModel\n"
        "class Options(BaseModel): pass\n"
        "def files(name, options): return []\n"
        "def load(name, folder, options): pass\n"
    )
    entry = config.Dataset(
        task="node_classification", source=str(tmp_path / "source.py")
    )
    with pytest.raises(ConfigError, match=r"source\.py: write `class Options\(Model"):
        datasets.source_of("mine", entry)


def test_a_table_and_a_figure_by_their_path(tmp_path):
    for name in ("table", "figure"):
        (tmp_path / f"{name}.py").write_text('"""Mine."""\nREADS = ("winners",)\n')
    made = plan.Plan(
        config.load(
            {
                "datasets": {"a": {"task": "node_classification"}},
                "methods": {"gat": {"tasks": ["node_classification"]}},
                "tables": {"best": {"module": str(tmp_path / "table.py")}},
                "figures": [str(tmp_path / "figure.py")],
            }
        )
    )
    assert made.tables() == ["best"] and made.table("best").about == "Mine."
    assert made.figures() == ["figure"]
    assert made.figure("figure").module == str(tmp_path / "figure.py")


@pytest.mark.parametrize("name", ["fairsin", "noise"])
def test_a_method_that_has_left_the_package_is_found_by_its_path(name):
    path = rf"write `module: beyond/methods/{name}\.py`"
    with pytest.raises(ConfigError, match=path):
        plan.method_path(name)


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("mine", "blocks", r"write `source: beyond/sources/blocks\.py`"),
        ("syn-1", None, r"write `source: beyond/sources/blocks\.py`"),
        ("mine", "networkx", r"docs/extending\.md"),
    ],
)
def test_a_source_that_has_left_the_package_is_found_by_its_path(name, source, words):
    entry = config.Dataset(task="node_classification", source=source)
    with pytest.raises(ConfigError, match=words):
        datasets.source_of(name, entry)


def test_messages_name_a_file_of_ones_own_and_no_invented_package(mine, monkeypatch):
    module = imported(mine / "mine.py").__name__
    (mine / "wrong.py").write_text("from .losses import LOST")

    with pytest.raises(ConfigError) as error:
        imported(mine / "wrong.py")

    assert "cannot import name 'LOST' from 'losses'" in str(error.value)
    assert place_of(module) == str(mine / "mine.py")
    monkeypatch.chdir(mine)
    assert place_of(module) == "mine.py"
    assert place_of("fairgat.methods.gat") == "fairgat.methods.gat"
