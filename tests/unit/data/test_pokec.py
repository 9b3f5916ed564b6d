"""Pokec's files: generated ones of the same form."""

import pytest
from obtain import pairs

from fairgat.config import Splits
from fairgat.data import statistics
from fairgat.data.sources import public

# A component of five, 10 - 20 - 30 - 40 - 50, through one-way and mutual friendships;
# 60 has no label: it would join 70 and 80 to the others.
USERS = """\
user_id,public,gender,region,AGE,I_am_working_in_field,hobby
10,1,0.0,0,20.0,0,1
20,1,1.0,1,0.0,3,0
30,0,1.0,0,31.0,1,0
40,1,0.0,0,,0,1
50,1,0.0,1,40.0,2,1
60,1,0.0,1,40.0,-1,1
70,1,0.0,1,40.0,1,1
80,1,0.0,1,40.0,0,1
"""
FRIENDS = "10\t20\n20\t10\n20\t30\n30\t20\n40\t30\n50\t40\n60\t10\n70\t60\n70\t80\n"


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "region_job.csv").write_text(USERS)
    (tmp_path / "region_job_relationship.txt").write_text(FRIENDS)
    options = public.Options.model_validate({"table": "pokec-z"})
    return public.load("pokec-z", tmp_path, options, 0)


def test_the_graph_is_of_labelled_users_and_their_friendships(graph):
    assert graph.num_nodes == 5
    assert graph.labels.tolist() == [0, 1, 1, 0, 1]
    assert graph.sensitive.tolist() == [0, 1, 0, 0, 1]
    assert pairs(graph) == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert graph.facts["edges_listed_both_ways"] == 2
    assert graph.facts["left_out_nodes"] == 3


def test_an_empty_age_counts_as_0(graph):
    assert graph.facts["feature_names"] == ["public", "gender", "AGE", "hobby"]
    ages = graph.features[:, 2].tolist()
    assert ages == pytest.approx([0, -1, 0.55, -1, 1])


def test_the_statistics_show_both_counts_of_edges(graph):
    published = {"s0": 3, "s1": 2, "inter_edges": 5, "intra_edges": 1, "features": 59}

    stats = statistics.describe(
        graph, "pokec-z", "node_classification", published, splits=Splits(), seed=0
    )

    equal = {check["quantity"]: check["equal"] for check in stats["checks"]}
    assert equal == {
        "s0": True,
        "s1": True,
        "inter_edges": False,
        "intra_edges": False,
        "listed_inter_edges": True,
        "listed_intra_edges": True,
        "features": False,
    }
    first, *_ = stats["notes"]
    assert "8 directed edges, the paper counts 6" in first
    assert "the file lists 6" in first
