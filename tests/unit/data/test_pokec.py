"""Pokec's files: generated ones of the same form."""

import numpy as np
import pytest
from obtain import pairs

from fairgat.config import Splits
from fairgat.data import statistics
from fairgat.data.sources import public

HEADER = "user_id,public,gender,region,AGE,I_am_working_in_field,hobby\n"
USERS = {
    # a component of five: 10 - 20 - 30 - 40 - 50, through one-way and mutual friendships
    10: "10,1,0.0,0,20.0,0,1",
    20: "20,1,1.0,1,0.0,3,0",
    30: "30,0,1.0,0,31.0,1,0",
    40: "40,1,0.0,0,,0,1",
    50: "50,1,0.0,1,40.0,2,1",
    60: "60,1,0.0,1,40.0,-1,1",  # unlabelled: would join 70 and 80 to the others
    70: "70,1,0.0,1,40.0,1,1",
    80: "80,1,0.0,1,40.0,0,1",
}
FRIENDS = "10\t20\n20\t10\n20\t30\n30\t20\n40\t30\n50\t40\n60\t10\n70\t60\n70\t80\n"


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "region_job.csv").write_text(HEADER + "\n".join(USERS.values()) + "\n")
    (tmp_path / "region_job_relationship.txt").write_text(FRIENDS)
    return public.load(
        "pokec-z", tmp_path, public.Options.model_validate({"table": "pokec-z"}), 0
    )


def test_the_labelled_users_and_their_friendships(graph):
    assert graph.num_nodes == 5  # 10 .. 50; 70 and 80 hang on the unlabelled 60
    assert graph.labels.tolist() == [0, 1, 1, 0, 1] and graph.sensitive.tolist() == [
        0,
        1,
        0,
        0,
        1,
    ]
    assert pairs(graph) == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert graph.facts["feature_names"] == ["public", "gender", "AGE", "hobby"]
    np.testing.assert_allclose(
        graph.features[:, 2], [0, -1, 0.55, -1, 1]
    )  # the empty AGE counts as 0
    assert (
        graph.facts["edges_listed_both_ways"] == 2
        and graph.facts["left_out_nodes"] == 3
    )


def test_the_statistics_show_both_counts(graph):
    published = {"s0": 3, "s1": 2, "inter_edges": 5, "intra_edges": 1, "features": 59}
    stats = statistics.describe(
        graph, "pokec-z", "node_classification", published, splits=Splits(), seed=0
    )
    equal = {check["quantity"]: check["equal"] for check in stats["checks"]}
    assert (
        equal["s0"]
        and equal["s1"]
        and equal["listed_inter_edges"]
        and equal["listed_intra_edges"]
    )
    assert not equal["inter_edges"] and not equal["features"]
    assert (
        "8 directed edges, the paper counts 6" in stats["notes"][0]
        and "the file lists 6" in stats["notes"][0]
    )
