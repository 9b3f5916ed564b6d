"""Pokec's files, read as tables are: the first megabytes of the real ones, and generated ones of the same form."""

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


def load(folder, name="pokec-z", **options):
    graph = public.load(name, folder, public.Options.model_validate({"table": name, **options}), 0)
    graph.check()
    return graph


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "region_job.csv").write_text(HEADER + "\n".join(USERS.values()) + "\n")
    (tmp_path / "region_job_relationship.txt").write_text(FRIENDS)
    return load(tmp_path)


def test_the_largest_component_of_the_labelled_users(graph):
    assert graph.num_nodes == 5  # 10 .. 50; 70 and 80 hang on the unlabelled 60
    assert graph.labels.tolist() == [0, 1, 1, 0, 1]
    assert graph.sensitive.tolist() == [0, 1, 0, 0, 1]
    assert pairs(graph) == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_attributes_without_id_region_and_label_scaled_by_column(graph):
    features = graph.features
    assert features.shape == (5, 4)  # public, gender, AGE, hobby
    np.testing.assert_allclose(features[:, 2], [0, -1, 0.55, -1, 1])  # the empty AGE counts as 0
    np.testing.assert_allclose(features[:, 0], [1, 1, -1, 1, 1])


def test_friendships_are_counted_before_they_are_symmetrised(graph):
    facts = graph.facts
    assert (facts["listed_inter_edges"], facts["listed_intra_edges"], facts["edges_listed_both_ways"]) == (5, 1, 2)
    assert facts["left_out_nodes"] == 3


def test_the_statistics_show_both_counts(graph):
    published = {"s0": 3, "s1": 2, "inter_edges": 5, "intra_edges": 1, "features": 59}
    stats = statistics.describe(graph, "pokec-z", "node_classification", published, splits=Splits(), seed=0)
    equal = {check["quantity"]: check["equal"] for check in stats["checks"]}
    assert equal["s0"] and equal["s1"] and equal["listed_inter_edges"] and equal["listed_intra_edges"]
    assert not equal["inter_edges"] and not equal["features"]
    assert "8 directed edges, the paper counts 6" in stats["notes"][0] and "the file lists 6" in stats["notes"][0]


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "stem", "users", "labelled", "features", "regions"),
    [("pokec-z", "region_job", 3219, 502, 276, [2410, 809]), ("pokec-n", "region_job_2", 3341, 414, 265, [2374, 967])],
)
def test_the_real_excerpts(data_mirror, tmp_path, name, stem, users, labelled, features, regions):
    files = (f"{stem}.csv", f"{stem}_relationship.txt")
    for file in files:
        whole = (data_mirror / "pokec-sample" / file).read_bytes()
        (tmp_path / file).write_bytes(whole[: whole.rindex(b"\n") + 1])  # the excerpts end inside a row
    # The largest component of the labelled ones is of one region.
    graph = load(tmp_path, name, labelled_only=False, largest_component=False, drop=["unknown_ids", "self_loops"])
    assert (graph.num_nodes, len(graph.labelled)) == (users, labelled)
    assert graph.num_features == features and np.abs(graph.features).max() <= 1
    assert np.bincount(graph.sensitive).tolist() == regions and set(graph.labels.tolist()) == {-1, 0, 1}
    facts = graph.facts
    listed = facts["listed_inter_edges"] + facts["listed_intra_edges"]
    assert graph.num_edges == 2 * (listed - facts["edges_listed_both_ways"])
