"""Texts that pages show: one line, without what would run or deceive."""

import pytest
import small_studies
from small_results import NODE

from fairgat import config
from fairgat.errors import ConfigError

DATASETS = {"cora": {"task": NODE, "title": "Cora"}}
METHODS = {"gat": {"tasks": [NODE]}}


def load(**changes):
    """A small configuration with something in place of what it has."""
    return config.load({"datasets": DATASETS, "methods": METHODS} | changes)


def study(title="s", changes="c"):
    """The key `study` of a small study."""
    row = {"title": "t", "changes": changes, "of": "gat", "method": "fairgat"}
    return {"name": "s", "title": title, "rows": [row]}


def with_study(**texts):
    content = small_studies.content({"cora": NODE}, {"fairgat": {}})
    return config.load(content | {"study": study(**texts)})


def with_dataset(**entry):
    return load(datasets={"cora": DATASETS["cora"] | entry})


def with_method(**entry):
    return load(methods={"gat": METHODS["gat"] | entry})


def with_table(title):
    return load(tables={"comparison": {"title": title, "methods": ["gat"]}})


SHOWN = {
    "title": lambda text: load(title=text),
    "note": lambda text: load(note=text),
    "datasets.cora.title": lambda text: with_dataset(title=text),
    "datasets.cora.reason": lambda text: with_dataset(reason=text),
    "methods.gat.title": lambda text: with_method(title=text),
    "methods.gat.note": lambda text: with_method(note=text),
    "methods.gat.note_of_more_groups": lambda text: with_method(
        note_of_more_groups=text
    ),
    "tables.comparison.title": with_table,
    "study.title": lambda text: with_study(title=text),
    "study.rows.0.changes": lambda text: with_study(changes=text),
}


@pytest.mark.parametrize("key", SHOWN)
def test_a_text_that_is_shown_may_be_any_line(key):
    SHOWN[key]("A line, with a < b & 100 %")


@pytest.mark.parametrize("key", SHOWN)
@pytest.mark.parametrize(
    "character",
    ["\n", "\r", "\0", "\x1b", "\x0b", "\x85", "\u2028", "\u202e", "\u2066", "\ud800"],
    ids=ascii,
)
def test_a_text_that_is_shown_is_one_line_without_control_characters(key, character):
    text = f"a{character}{character}.. include:: /etc/hostname"

    with pytest.raises(ConfigError, match=f"{key}: expected one line .* character 2 "):
        SHOWN[key](text)


PLACES = {
    "title": SHOWN["title"],
    "a method's title": SHOWN["methods.gat.title"],
    "a list in settings": lambda text: with_method(settings={"a": [text]}),
    "a key of options": lambda text: with_dataset(options={"groups": {text: ["a"]}}),
    "a path": lambda text: load(data_mirror=f"a/{text}"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", ["</script>", "a</ScRipt ", "<!--", "<script"])
def test_nothing_that_runs_in_snakemakes_report_is_a_text(place, text):
    with pytest.raises(ConfigError, match=r"would run as a script in report\.html"):
        PLACES[place](text)


def test_other_angle_brackets_are_text():
    title = "a < b <c> </d> <scribe>"

    assert load(title=title, note="x <- y").title == title


def test_line_breaks_around_a_text_are_none_of_it():
    title = "Études, كتاب\u200cها, 👩‍🔬"

    assert load(title=f"{title}\n").title == title
