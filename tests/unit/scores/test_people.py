"""People's scores, labels and groups as a CSV file has them."""

import pytest

from fairgat.data.roles import MOST_GROUPS
from fairgat.errors import DataError
from fairgat.scores.people import read_people

PEOPLE = """id,score,label,group,decision
007,1.5,1,10,1
7,-0.5,0,9,1
8,2,,9,0
9,-3,1,9,0
"""


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def read(text):
        path = tmp_path / "people.csv"
        path.write_text(text)
        return read_people(path)

    return read


def test_people_whose_label_is_known_are_read(read):
    people = read(PEOPLE)

    assert people.scores.tolist() == [1.5, -0.5, -3.0]
    assert people.labels.tolist() == [1, 0, 1]
    assert people.decisions.tolist() == [True, True, False]
    assert people.unlabelled == 1


def test_groups_are_numbered_in_the_order_of_their_names(read):
    people = read(PEOPLE)

    assert people.names == ["9", "10"]
    assert people.groups.tolist() == [1, 0, 0]


def test_who_has_no_score_is_left_out_and_counted(read):
    people = read(f"{PEOPLE}10,,1,,\n11,,,unheard of,1\n")

    assert people.scores.tolist() == [1.5, -0.5, -3.0]
    assert people.decisions.tolist() == [True, True, False]
    assert people.names == ["9", "10"]
    assert (people.unscored, people.unlabelled) == (2, 1)


def test_without_the_column_there_are_no_decisions(read):
    people = read(PEOPLE.replace("decision", "of another name"))

    assert people.decisions is None


@pytest.mark.parametrize("count", [1, MOST_GROUPS + 1])
def test_too_few_or_too_many_groups_are_refused(read, count):
    rows = [f"{number},0.5,1,g{number % count}" for number in range(2 * count)]

    with pytest.raises(DataError, match=f"'group' has {count} values"):
        read("\n".join(["id,score,label,group", *rows]))


def test_as_many_groups_as_a_graph_may_have_are_read(read):
    rows = [f"{number},0.5,1,g{number}" for number in range(MOST_GROUPS)]

    people = read("\n".join(["id,score,label,group", *rows]))

    assert len(people.names) == MOST_GROUPS


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("9,-3", ",-3", "column 'id' is empty"),
        ("9,-3", "7,-3", "column 'id' is '7', which is the id of a row above"),
        ("9,-3", "9,inf", "column 'score' is 'inf', which is not a finite number"),
        ("-3,1", "-3,0.5", "column 'label' is '0.5', which is neither 1 nor 0"),
        ("1,9,0", ",,0", "column 'group' is empty, and should name a group"),
        ("1,9,0", "1,none,0", "column 'group' is 'none', and should name a group"),
        ("1,9,0", "1,9,", "column 'decision' is empty, and should be 1 or 0"),
        ("1,9,0", "1,9,2", "column 'decision' is '2', which is neither 1 nor 0"),
    ],
)
def test_a_wrong_cell_is_named(read, old, new, message):
    with pytest.raises(DataError, match=message):
        read(PEOPLE.replace(old, new))


def test_a_file_without_scores_is_refused(read):
    with pytest.raises(DataError, match="no row has a score"):
        read("id,score,label,group\n1,,1,a\n2,,0,b")


def test_a_file_without_labels_is_refused(read):
    rows = ["1,0.5,,a", "2,0.5,,b"]

    with pytest.raises(DataError, match="no row has a label"):
        read("\n".join(["id,score,label,group", *rows]))
