"""YAML is read once, as it is written, and not for ever."""

import os

import pytest
from snakemake.common.configfile import load_configfile
from snakemake.utils import update_config

from fairgat import config
from fairgat.errors import ConfigError


@pytest.fixture
def read(tmp_path):
    """Write a configuration file and read it."""

    def read(text):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        return config.read_file(path)

    return read


def test_a_key_that_is_there_twice_is_refused_with_both_lines(read):
    text = "seed: 1\nmethods:\n  gat: { title: A }\n  gat: { title: B }\n"

    with pytest.raises(
        ConfigError,
        match=r"mine\.yaml: gat stands on line 3 and again on line 4; keep one",
    ):
        read(text)


def test_a_text_and_a_number_are_two_keys(read):
    assert read("a: {'1': 0, 1: 0}") == {"a": {"1": 0, 1: 0}}


def test_a_merged_key_may_be_written_again(read):
    content = read("a: &a { <<: { x: 1 }, x: 2 }\nb: { <<: *a, x: 3 }\n")

    assert content == {"a": {"x": 2}, "b": {"x": 3}}


def test_a_key_that_is_a_list_is_refused(read):
    with pytest.raises(ConfigError, match=r"(?s)is not YAML: .*unhashable"):
        read("? [a]\n: 1\n? [b]\n: 1\n")


@pytest.mark.parametrize(
    ("written", "read_as", "base"),
    [
        ("010", 8, 8),
        ("-010", -8, 8),
        ("0_10", 8, 8),
        ("12:30", 750, 60),
        ("1:30", 90, 60),
    ],
)
def test_a_number_that_yaml_reads_as_another_is_refused(read, written, read_as, base):
    message = rf"mine\.yaml: line 2: YAML reads {written} as {read_as}, in base {base}"

    with pytest.raises(ConfigError, match=message):
        read(f"others: [10]\ngroups: [{written}]\n")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0x10", 16),
        ("01", 1),
        ("08", "08"),
        ("0_7", 7),
        ("1_000", 1000),
        ("10", 10),
        ("0.5", 0.5),
        ("'020'", "020"),
        ("1e3", "1e3"),
        ("-5", -5),
        ("0", 0),
    ],
)
def test_a_number_that_is_clear_is_read(read, written, value):
    assert read(f"a: [{written}]") == {"a": [value]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must hold keys and values"),
        (b"[", "is not YAML"),
        (b"a: 2024-02-31", "is not YAML: day is out of range"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
    ids=["empty", "broken", "no date", "no text"],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, content, message):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=rf"mine\.yaml:? {message}"):
        config.load_files(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"mine\.yaml does not exist"):
        config.load_files(tmp_path / "mine.yaml")


def test_a_folder_is_no_configuration(tmp_path):
    with pytest.raises(ConfigError, match="it is a folder; give a file like config"):
        config.load_files(tmp_path)


@pytest.fixture(params=["/dev/zero", "pipe", "link"])
def endless(request, tmp_path):
    """A path that could be read for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    return str(tmp_path / request.param)


def test_what_never_ends_is_no_configuration(endless):
    with pytest.raises(ConfigError, match=r"it is a (device|pipe)"):
        config.read_file(endless)


def expanding(first, entry):
    """Ten anchors, each of which names the one before, *, ten times."""
    lines = [f"a0: &a0 {first}"]
    for number in range(1, 11):
        named = entry.replace("*", f"*a{number - 1}")
        lines.append(f"a{number}: &a{number} {named}")
    return "\n".join(lines)


def chain(length):
    """As many anchors, each of which is a list of the one before."""
    lines = ["a0: &a0 [x]"]
    for number in range(1, length):
        lines.append(f"a{number}: &a{number} [*a{number - 1}]")
    return "\n".join(lines)


TEN = ", ".join(["*"] * 10)
TEN_KEYS = ", ".join(f"k{number}: *" for number in range(10))
STAIRS = "\n".join(" " * depth + "a:" for depth in range(99))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (expanding("[x]", f"[{TEN}]"), "line 6: .* more than 100000 values"),
        (expanding("{x: 1}", f"{{{TEN_KEYS}}}"), "line 6: .* more than 100000 values"),
        (expanding("{x: 1}", f"{{<<: [{TEN}]}}"), "line .* more than 100000 values"),
        ("a: &a [*a]", "line 1: an alias names what it is a part of"),
        ("? &a {b: *a}\n: 1", "line 1: an alias names what it is a part of"),
        ("a:\n- " + "[" * 3000 + "]" * 3000, "line 2: nested more than 50 deep"),
        (STAIRS, "line 50: nested more than 50"),
        (chain(3000), "line 50: aliases nest it more than 50 deep"),
        ("a: " + "x" * (1 << 20), "more than 1048576 bytes"),
    ],
    ids=["lists", "maps", "merged", "loop", "key", "flow", "block", "chain", "long"],
)
def test_yaml_that_grows_or_goes_deep_is_refused_while_it_is_read(read, text, message):
    with pytest.raises(ConfigError, match=rf"mine\.yaml: .*{message}"):
        read(text)


def test_an_alias_stands_for_what_it_names(read):
    content = read("a: &a {b: [1]}\nc: *a\nd: {<<: *a, e: 2}")

    assert content["c"] == content["a"]
    assert content["d"] == {"b": [1], "e": 2}


def test_what_is_nested_as_a_configuration_may_be_is_read(read):
    content = read("a: " + "[" * 40 + "x" + "]" * 40)

    for _ in range(40):
        (content["a"],) = content["a"]
    assert content["a"] == "x"


# ------------------------------------------------------------- files over each other


@pytest.fixture
def lay(tmp_path):
    """Lay files over the first, as `fairgat` does and as the workflow does."""

    def lay(*contents):
        paths = []
        for number, content in enumerate(contents):
            path = tmp_path / f"{number}.yaml"
            path.write_text(content)
            paths.append(path)
        ours = {}
        for path in paths:
            config.merge(ours, config.read_file(path))

        first, *files = paths
        theirs = {}
        for path in files:
            update_config(theirs, load_configfile(path))
        defaults = config.read_file(first)
        config.lay_over(defaults, theirs, files)
        assert list(defaults) == list(ours)
        assert defaults == ours
        return ours

    return lay


@pytest.mark.parametrize("nothing", ["null", "[]", "{x: null}"])
def test_what_one_file_takes_away_the_next_does_not_bring_back(lay, nothing):
    made = lay("a: {x: {y: 1}}\nb: 1", f"a: {nothing}", "a: {x: {z: 2}}")
    assert made == {"a": {"x": {"z": 2}}, "b": 1}


def test_what_the_last_file_takes_away_is_not_there(lay):
    assert lay("a: {x: 1}", "a: {y: 1}", "a: null") == {"a": None}


def test_a_change_where_an_alias_stood_is_none_of_what_it_names(lay):
    made = lay("d: 1", "b: &b {x: {y: 1}}\nc: *b", "b: {x: {y: 2}}")
    assert made == {"d": 1, "b": {"x": {"y": 2}}, "c": {"x": {"y": 1}}}


def test_an_alias_in_the_first_file_stands_alone_too(lay):
    made = lay("b: &b {x: {y: 1}}\nc: *b", "b: {x: {y: 2}}")
    assert made == {"b": {"x": {"y": 2}}, "c": {"x": {"y": 1}}}
