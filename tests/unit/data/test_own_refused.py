"""What is refused in a user's own table, and what is said then."""

import pytest
from own_tables import NODES, with_cell, with_column

from fairgat.errors import ConfigError, DataError

# -------------------------------------------------------------- what is not as declared

THREE_GROUPS = with_column("sex", "001122")
NO_NUMBER = "which is not a number"
REFUSED = {
    "an id twice": (
        with_cell(3, "person", "a"),
        {},
        r"column 'person' is 'a', which is the id of a node above \(row 3 of",
    ),
    "no id": (
        with_cell(2, "person", " "),
        {},
        r"column 'person' is empty, and is the id; .*keep_default_na.* \(row 2",
    ),
    "no group": (
        with_cell(2, "sex", ""),
        {},
        "column 'sex' is empty, and should name a group.*"
        r"unknown_groups.* \(row 2 of",
    ),
    "a word for no group": (
        with_cell(2, "sex", "#N/A"),
        {},
        "column 'sex' is empty, and should name a group.*keep_default_na: false",
    ),
    "another group": (
        with_cell(2, "sex", "d"),
        {"groups": ["f", "m"]},
        r"column 'sex' is 'd', which is none of `groups`.*\(row 2",
    ),
    "a group in capitals": (
        with_cell(2, "sex", "M"),
        {},
        "column 'sex' is 'm', which is 'M' elsewhere: .*"
        r"list both in `groups` \(row 4",
    ),
    "a group in capitals beside others": (
        with_cell(2, "sex", "F"),
        {"groups": {"f": "f", "others": "*"}},
        "column 'sex' is 'F', which is 'f' elsewhere",
    ),
    "a group in capitals that would be dropped": (
        with_cell(2, "sex", "F"),
        {"groups": ["f", "m"], "drop": ["unknown_groups"]},
        "'F', which is 'f' elsewhere",
    ),
    "one number written in two ways": (
        with_column("sex", ["1", "2", "1.0", "2", "1", "2"]),
        {},
        "column 'sex' is '1.0', which is '1' elsewhere",
    ),
    "one group": (
        with_column("sex", "ffffff"),
        {},
        r"1 groups are left \(sex=f\), and there should be 2 to 12",
    ),
    "one bin": (
        NODES,
        {"sensitive": "age", "bins": [100], "exclude": ["sex"]},
        r"1 groups are left \(age=below 100\)",
    ),
    "bins of words": (
        NODES,
        {"sensitive": "job", "bins": [1], "categories": []},
        f"column 'job' is 'x', {NO_NUMBER}: correct it, as it has `bins`",
    ),
    "another label": (
        with_cell(1, "paid", "2"),
        {},
        r"column 'paid' is '2', which is none of `positive`, `negative` .*\(row 1",
    ),
    "another minus": (
        with_cell(1, "paid", "\u22121"),
        {},
        "column 'paid' is '\u22121', which is none of",
    ),
    "no label": (
        with_cell(1, "paid", ""),
        {"negative": "*"},
        "column 'paid' is empty, which is none of",
    ),
    "a label in capitals": (
        with_column("paid", ["yes", "Yes", *"abcd"]),
        {"positive": "yes", "negative": "*"},
        "'Yes', which is 'yes'",
    ),
    "a feature of words": (
        NODES,
        {"categories": []},
        rf"column 'job' is 'x', {NO_NUMBER}: list .*`categories`, .* \(row 1",
    ),
    "a letter in a number": (
        with_cell(2, "age", "3O"),
        {},
        rf"column 'age' is '3O', {NO_NUMBER}.*\(row 2 of the data\)",
    ),
    "a comma in a number": (
        with_cell(2, "age", "30,5").replace("30,5", '"30,5"'),
        {},
        f"column 'age' is '30,5', {NO_NUMBER}",
    ),
    "no number": (
        with_cell(2, "age", ""),
        {},
        r"column 'age' is empty, and is a feature: `fill: mean`.*\(row 2",
    ),
    "no category": (
        with_cell(2, "job", ""),
        {},
        "column 'job' is empty, and is a feature: with `fill: zero`",
    ),
    "too large a number": (
        with_cell(2, "age", "1e39"),
        {},
        "feature 'age' should be a number below 1e38",
    ),
    "an infinite number, where others are filled with the mean": (
        with_cell(2, "age", "inf"),
        {"fill": "mean"},
        r"feature 'age' should be a number below 1e38 \(row 2",
    ),
    "no such column to exclude": (
        NODES,
        {"exclude": ["agee"]},
        "no column 'agee', which the option `exclude` names; did you mean 'age'",
    ),
    "no such categories": (
        NODES,
        {"categories": ["jobs"]},
        "'jobs', which the option `categories` na",
    ),
    "no such id": (NODES, {"id": "id"}, "no column 'id', which the option `id` names"),
    "no such label": (
        NODES,
        {"label": "y"},
        "no column 'y', which the option `label` names",
    ),
    "no such attribute": (
        NODES,
        {"sensitive": "g"},
        "no column 'g', which the option `sensitive` na",
    ),
    "no such feature": (
        NODES,
        {"features": ["f"]},
        "no column 'f', which the option `features` na",
    ),
    "no feature": (
        NODES,
        {"exclude": ["age", "job"], "categories": []},
        "no column is left as a feature",
    ),
    "a feature that is the groups": (
        with_column("female", "101010"),
        {},
        "feature 'female' is the groups in other words",
    ),
    "a feature that is the label": (
        with_column("wage", "505005"),
        {},
        "feature 'wage' is 'paid' in other words",
    ),
    "a feature that is the label where it is known": (
        with_column(
            "wage", "505055", with_column("paid", ["1", "0", "1", "0", "-1", "1"])
        ),
        {"unlabelled": -1},
        "'wage' is 'p",
    ),
    "a feature that is one of three groups": (
        with_column("first", "110000", THREE_GROUPS),
        {},
        "feature 'first' is the groups in other words",
    ),
    "a feature that is the attribute": (
        with_column("detail", "001122", THREE_GROUPS),
        {"groups": {"a": 0, "b": "*"}},
        "feature 'detail' is 'sex'",
    ),
}


@pytest.mark.parametrize(("nodes", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_as_declared_is_refused(make, nodes, options, said):
    with pytest.raises(DataError, match=rf"^n\.csv: .*{said}"):
        make(nodes, **options)


# ------------------------------------------------------------------------- the options


def published(folder):
    return {"file": f"{folder}/1.csv", "url": "https://x.org/1.csv", "sha256": 64 * "0"}


WRONG_OPTIONS = {
    "no id": ({"id": ...}, "options.id: this key is missing"),
    "YAML's true": (
        {"positive": [True]},
        "write quotes around the value, as the file has it: "
        "YAML reads this one as True",
    ),
    "YAML's null": ({"groups": [None, "m"]}, "write quotes around the value.*None"),
    "groups of two attributes": (
        {"sensitive": ["sex", "age"], "groups": ["f", "m"]},
        "are for a single attribute: recode several in the file",
    ),
    "bins and groups": (
        {"sensitive": "age", "bins": [30], "groups": ["f"]},
        "leave one out",
    ),
    "bins that fall": ({"sensitive": "age", "bins": [40, 30]}, "must rise"),
    "an attribute twice": (
        {"sensitive": ["sex", "sex"]},
        "'sex' is listed twice in `sensitive`",
    ),
    "a label twice": ({"positive": 0}, "'0' is listed twice in the values of labels"),
    "a column in two roles": (
        {"exclude": "sex"},
        "column 'sex' is in both `sensitive` and `exclude`",
    ),
    "the label as a feature": (
        {"features": ["paid", "age"]},
        "column 'paid' is in both `label` and `features`",
    ),
    "a weight": (
        {"edges": {"file": "e.csv", "weight": "w"}},
        "`weight` is now `link_if: w`.*amounts are not used",
    ),
    "one column for both ends": (
        {"edges": {"file": "e.csv", "ends": ["from", "from"]}},
        "'from' is listed twice in `ends`",
    ),
    "an end that is excluded": (
        {"edges": {"file": "e.csv", "ends": ["from", "to"], "exclude": "to"}},
        "column 'to' is in both `ends` and `exclude`",
    ),
    "an end that says what is an edge": (
        {"edges": {"file": "e.csv", "ends": ["from", "to"], "link_if": "to"}},
        "column 'to' is in both `ends` and `link_if`",
    ),
    "no checksum": (
        {"nodes": {"url": "https://x.org/n.csv"}},
        "a file with a `url` needs its `sha256`",
    ),
    "no place": (
        {"nodes": {"sha256": 64 * "0"}},
        "give the path of a `file`, or the `url`",
    ),
    "one end": ({"edges": {"file": "e.csv", "ends": ["from"]}}, "edges.ends"),
    "one name for both": (
        {"nodes": published("nodes"), "edges": published("edges")},
        "both files are called 1.csv",
    ),
}


@pytest.mark.parametrize(("options", "said"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_options_that_do_not_fit_are_refused(make, options, said):
    with pytest.raises(ConfigError, match=said):
        make(**options)
