"""`fairgat predict`: new people are scored as training's were."""

import re
import shutil
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from fairgat.cli import main as cli
from fairgat.data.graph import load_npz
from fairgat.training.record import Record, unpack

CONFIG = """
datasets:
  clients:
    task: node_classification
    source: tables
    options:
      nodes: {file: nodes.csv, read: {thousands: ","}}
      edges: {file: edges.csv, ends: [payer, payee], link_if: amount}
      id: client
      label: repaid
      positive: "yes"
      negative: "no"
      unlabelled: ""
      sensitive: gender
      categories: town
      fill: mean
      graph_features: [degree, constant]
splits: {count: 1}
training: {node_classification: {epochs: 12, hidden: 8}}
methods:
  gat: {tasks: [node_classification]}
  mlp: {tasks: [node_classification]}
  nifty: {tasks: [node_classification]}
  fairgnn: {tasks: [node_classification], settings: {estimator_epochs: 3}}
  thresholds: {tasks: [node_classification]}
  fairgat: {tasks: [node_classification]}
  edits:
    tasks: [node_classification]
    debiased: true
    settings: {threshold: 0.2, debias: {epochs: 2}}
"""
COUNT = 90


def people(count=COUNT, first=0, seed=0):
    """A table of clients, whose incomes have thousands separators."""
    random = np.random.default_rng(seed)
    incomes = random.integers(1000, 90_000, count)
    table = pd.DataFrame({"client": [f"c{first + row:03}" for row in range(count)]})
    table["income"] = [f"{income:,}" for income in incomes]
    table["town"] = random.choice(["A", "B", "C"], count)
    table["gender"] = random.choice(["F", "M"], count)
    paid = random.random(count) < incomes / 90_000
    table["repaid"] = np.where(paid, "yes", "no")
    table.loc[::9, "repaid"] = ""
    table.loc[4::20, "income"] = ""
    return table


def links(names, seed=1):
    """Three links a person, of which some have the amount 0."""
    random = np.random.default_rng(seed)
    pairs = pd.DataFrame(combinations(names, 2), columns=["payer", "payee"])
    chosen = random.permutation(len(pairs))[: 3 * len(names)]
    table = pairs.loc[chosen].reset_index(drop=True)
    table["amount"] = random.integers(0, 4, len(table)) * 50
    return table


@pytest.fixture
def train(project, capsys):
    """Train a method; gives the run's folder."""
    (project / "config.yaml").write_text(CONFIG)
    table = people()
    table.to_csv("nodes.csv", index=False)
    links(table["client"]).to_csv("edges.csv", index=False)

    def run(method="gat"):
        command = ["train", "--dataset", "clients", "--method", method, "--quiet"]
        assert cli.main(command) == 0
        (path,) = project.glob(f"by-hand/runs/*/clients/{method}/*/split-0/run.json")
        capsys.readouterr()
        return path.parent

    return run


@pytest.fixture
def predict(project, capsys):
    """Score people; gives what was printed, and the scores by id."""

    def run(folder, nodes, edges):
        if isinstance(nodes, pd.DataFrame):
            nodes.to_csv("new.csv", index=False)
            nodes = "new.csv"
        if isinstance(edges, pd.DataFrame):
            edges.to_csv("ties.csv", index=False)
            edges = "ties.csv"
        command = ["predict", str(folder), "--nodes", nodes, "--edges", edges]
        status = cli.main([*command, "--out", "scores.csv"])
        printed = capsys.readouterr()
        if status:
            return printed.err, None
        scores = pd.read_csv("scores.csv", dtype={"score": np.float32, "id": str})
        return printed.out, scores.set_index("id")

    return run


def kept(folder):
    """The logits that a run kept."""
    arrays = load_npz(folder / "predictions.npz")
    reported = Record.read(folder / "run.json").reported
    return unpack(arrays, reported)["logits"]


def assert_scores_are(scores, logits):
    np.testing.assert_array_equal(scores["score"].to_numpy(), logits)


def configure(project, old, new):
    """Change the configuration; not more than one place."""
    assert CONFIG.count(old) == 1
    (project / "config.yaml").write_text(CONFIG.replace(old, new))


def nodes_csv():
    """The table that `train` wrote, as it is."""
    return pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)


NOBODY = pd.DataFrame({"payer": ["c000"], "payee": ["c001"], "amount": [50]})


@pytest.mark.parametrize(
    "method", ["gat", "mlp", "nifty", "fairgnn", "thresholds", "fairgat"]
)
def test_the_files_of_training_give_the_scores_of_training(train, predict, method):
    folder = train(method)

    said, scores = predict(folder, "nodes.csv", "edges.csv")

    table = people()
    assert_scores_are(scores, kept(folder))
    assert list(scores.index) == list(table["client"])
    assert list(scores["group"]) == list("gender=" + table["gender"])
    labels = table["repaid"].map({"yes": 1, "no": 0})
    np.testing.assert_array_equal(scores["label"], labels)
    np.testing.assert_array_equal(scores["decision"], scores["score"] > 0)
    assert "90 people have a score, 90 of them training's; 0 links are new" in said
    assert "people 0 are decided otherwise" in said
    assert "differences" not in said


@pytest.mark.parametrize("sensitive", ["gender", "[gender, area]"])
def test_three_groups_and_more_have_the_scores_of_training(
    project, train, predict, sensitive
):
    """Balanced shares, which are those of training's graph."""
    configure(project, "sensitive: gender", f"sensitive: {sensitive}")
    table = nodes_csv()
    table["gender"] = np.resize(["F", "M", "X"], COUNT)
    if "area" in sensitive:
        table["area"] = np.resize(["N", "S", "S", "N"], COUNT)
    table.to_csv("nodes.csv", index=False)
    folder = train("fairgat")

    _, scores = predict(folder, "nodes.csv", "edges.csv")

    assert_scores_are(scores, kept(folder))


def test_people_left_out_of_training_stay_left_out(project, train, predict):
    more = """fill: mean
      labelled_only: true
      largest_component: true
      drop: [unknown_groups]"""
    configure(project, "fill: mean", more)
    table = nodes_csv()
    table.loc[5, "gender"] = ""
    table.to_csv("nodes.csv", index=False)
    folder = train()

    said, scores = predict(folder, "nodes.csv", "edges.csv")

    there = scores.dropna(subset="score")
    assert 60 < len(there) < 85
    assert_scores_are(there, kept(folder))
    count = COUNT - len(there)  # also who is of no group, now as then
    assert f"{count} of these people were left out of training: they have no" in said
    assert "training did not have" not in said


@pytest.fixture
def by_row(project, train):
    """A run of people without ids."""
    configure(project, "id: client", "id: null\n      exclude: client")
    links(range(COUNT)).to_csv("edges.csv", index=False)
    return train("fairgat")


def test_people_without_ids_are_known_by_their_row(by_row, predict):
    _, scores = predict(by_row, "nodes.csv", "edges.csv")
    assert_scores_are(scores, kept(by_row))


def test_new_people_without_ids_are_further_rows(by_row, predict):
    longer = pd.concat([people(), people(2, COUNT, seed=3)])
    ties = pd.DataFrame({"payer": [90, 91], "payee": [3, 90], "amount": [1, 1]})

    said, scores = predict(by_row, longer, ties)

    assert list(scores.index[-2:]) == ["90", "91"]
    assert scores["score"].notna().all()
    assert "2 links are new" in said


# --------------------------------------------------------------------------- new people


@pytest.fixture
def new():
    """Three new people who are the same but for their incomes."""
    table = people(3, COUNT, seed=5).assign(town="A", gender="F")
    table["income"] = ["20,000", "21,000", "22,000"]
    return table


NEW_LINK = pd.DataFrame({"payer": ["c090"], "payee": ["c091"], "amount": [50]})


@pytest.fixture
def with_rich(new):
    """Them, and a new person whose income is of another range."""
    rich = people(1, COUNT + 3, seed=5).assign(income="400,000", town="A", gender="F")
    return pd.concat([new, rich])


@pytest.mark.parametrize("method", ["mlp", "fairgat", "thresholds"])
def test_new_people_have_scores_and_outliers_are_said(
    train, predict, new, with_rich, method
):
    folder = train(method)

    alone, _ = predict(folder, new, NEW_LINK)
    beside, _ = predict(folder, with_rich, NEW_LINK)

    assert "3 people have a score, 0 of them training's; 1 links are new" in alone
    assert "column 'income': 1 of these people are far outside" in beside


def test_new_people_are_scaled_as_training_was(train, predict, new, with_rich):
    """Incomes are not brought to training's by their own extremes.

    An MLP's scores depend on nobody else.
    """
    folder = train("mlp")
    known = people(1).assign(town="A", income="21,000")

    _, alone = predict(folder, new, NEW_LINK)
    said, beside = predict(folder, with_rich, NEW_LINK)
    _, old = predict(folder, known, NOBODY)

    same = beside.loc[alone.index, "score"]
    np.testing.assert_array_equal(same, alone["score"])
    assert "people 0 are decided otherwise" in said
    of_21_000 = alone["score"].iloc[1]
    assert old["score"].iloc[0] == pytest.approx(of_21_000, abs=0.3)


def test_a_copy_of_one_of_trainings_people_has_their_score(train, predict):
    """An empty cell and a number are what they were in training."""
    folder = train("mlp")
    copies = people().assign(client=[f"d{row:03}" for row in range(COUNT)])

    _, scores = predict(folder, copies, links(copies["client"]))

    np.testing.assert_allclose(scores["score"], kept(folder), rtol=1e-5)


def test_thresholds_stay_those_of_training(train, predict):
    """They would be others, were they chosen again with the new people's links."""
    folder, plain = train("thresholds"), train("gat")
    new = people(40, COUNT, seed=7)
    ties = links([*people()["client"], *new["client"]], seed=9)

    _, scores = predict(folder, new, ties)
    _, logits = predict(plain, new, ties)

    cuts = pd.Series(kept(plain).astype(float) - kept(folder))
    trained = cuts.groupby(people()["gender"]).mean()
    moved = logits["score"] - scores["score"]
    now = moved.groupby(new["gender"].to_numpy()).mean()
    np.testing.assert_allclose(now[trained.index], trained, atol=1e-6)
    assert trained.abs().max() > 0.001


def test_new_links_change_the_scores_of_trainings_people(train, predict):
    """Links that lead to the other group for everyone."""
    folder = train("fairgat")
    table = people()
    is_woman = table["gender"] == "F"
    women, men = table["client"][is_woman], table["client"][~is_woman]
    ties = pd.DataFrame({"payer": np.resize(women, 60), "payee": np.resize(men, 60)})

    said, scores = predict(folder, table, ties.assign(amount=1))

    assert re.search(r"[1-9]\d* links are new", said)
    moved = scores["score"].to_numpy() - kept(folder)
    furthest = np.abs(moved).max()
    assert furthest > 1e-4
    assert f"scores move by up to {furthest:.2g}" in said


def test_new_people_may_have_no_links(train, predict, new):
    folder = train("mlp")

    said, scores = predict(folder, new, NEW_LINK[:0])
    no_amount, _ = predict(folder, new, NEW_LINK.assign(amount=0))

    assert "3 people have a score, 0 of them training's; 0 links are new" in said
    assert said == no_amount
    assert scores["score"].notna().all()


# ---------------------------------------------------------------------- what is said


def test_what_training_did_not_have_is_said(train, predict):
    folder = train("fairgat")
    new = people(4, COUNT, seed=3)
    new.loc[0, "town"] = "Z"
    new.loc[1, "gender"] = "other"
    new.loc[2, "income"] = "9,000,000"
    new["shoe size"] = 40
    ends = {"payer": ["c090", "c091"], "payee": ["c001", "c002"]}
    ties = pd.DataFrame(ends).assign(amount=1)

    said, scores = predict(folder, new.drop(columns="repaid"), ties)

    assert "training did not have, as 'Z': they are of none" in said
    of_a_group = "1 of these people are of a group that training did not have, as other"
    assert of_a_group in said
    assert re.search(r"far outside training's \d+ to [\d.e+]+, as 9e\+06", said)
    assert "training had no column 'shoe size': not used" in said
    assert "1 links are new" in said
    assert scores["score"].isna().tolist() == [False, True, False, False]
    assert "label" not in scores


def test_links_that_are_left_out_are_counted(project, train, predict):
    drop = "drop: [unknown_ids, self_loops, unknown_groups]"
    configure(project, "fill: mean", f"fill: mean\n      {drop}")
    table = nodes_csv()
    table.loc[5, "gender"] = ""
    table.to_csv("nodes.csv", index=False)
    folder = train()
    new = people(2, COUNT, seed=3)
    payees = ["c091", "c090", "C091", "zed", "c005", "c001"]
    ties = pd.DataFrame({"payer": "c090", "payee": payees, "amount": 1})

    said, _ = predict(folder, new, ties)

    assert "2 rows of ties.csv name nobody: they are left out" in said
    assert "1 rows of ties.csv join somebody to themselves: they are left out" in said
    assert "1 rows of ties.csv join somebody who is left out" in said
    assert "2 links are new" in said


def test_what_predict_writes_is_evaluated_without_those_left_out(
    project, train, predict, capsys
):
    folder = train("fairgat")
    new = people(30, COUNT, seed=3)
    new.loc[1, "gender"] = "other"

    _, scores = predict(folder, new, NOBODY)
    assert cli.main(["evaluate", "scores.csv", "--kind", "logits"]) == 0

    said = capsys.readouterr().out
    judged = scores.dropna(subset=["score", "label"])
    accuracy = (judged["decision"] == judged["label"]).mean()
    assert f"{len(judged)} people" in said.splitlines()
    assert "1 people without a score are left out" in said
    assert re.search(rf"^accuracy +{accuracy:.4f}$", said, re.M)


def test_trainings_people_may_have_other_values(train, predict):
    folder = train()
    changed = people()[10:13].assign(income="33,333")

    said, scores = predict(folder, changed, NOBODY)

    assert "3 of training's people have other values now" in said
    assert list(scores.index) == ["c010", "c011", "c012"]


def test_a_group_is_a_value_that_may_be_another(train, predict):
    folder = train("mlp")
    changed = people()[10:13]
    changed["gender"] = changed["gender"].map({"F": "M", "M": "F"})

    said, scores = predict(folder, changed, NOBODY)

    assert "3 of training's people have other values now" in said
    assert list(scores["group"]) == list("gender=" + changed["gender"])


def test_trainings_people_of_a_group_that_is_unknown_stay_as_they_were(train, predict):
    folder = train("fairgat")
    changed = people()[10:13].assign(gender=["other", "", "other"])

    said, scores = predict(folder, changed, NOBODY)

    assert "3 of training's people are of a group that training did not have" in said
    assert "they keep their group of training in the graph, and have no score" in said
    assert "other values" not in said
    assert scores["score"].isna().all()


@pytest.mark.parametrize(
    ("old", "new", "column", "value", "other"),
    [
        ("sensitive: gender", None, "gender", "f", "F"),
        (
            "sensitive: gender",
            'sensitive: gender\n      groups: {women: F, others: "*"}',
            "gender",
            "f",
            "F",
        ),
        ('negative: "no"', 'negative: "*"', "repaid", "Yes", "yes"),
        ('positive: "yes"', 'positive: "*"', "repaid", "NO", "no"),
    ],
    ids=["a group", "one of others", "negative", "positive"],
)
def test_what_is_spelt_otherwise_than_in_training_is_refused(
    project, train, predict, old, new, column, value, other
):
    """It would be left out, or be among all others."""
    configure(project, old, new or old)
    folder = train()
    table = people(4, COUNT, seed=3)
    table.loc[1, column] = value

    said, _ = predict(folder, table, NOBODY)

    assert f"new.csv: column {column!r} is {value!r}, which is {other!r} else" in said
    assert said.count(repr(value)) == 1


def test_all_that_is_wrong_is_said_at_once(train, predict):
    folder = train()
    new = people(4, COUNT, seed=3)
    new.loc[0, "income"] = "much"
    new.loc[1, "client"] = "c090"
    new.loc[2, "repaid"] = "perhaps"
    new.loc[3, "income"] = "inf"
    ties = pd.DataFrame({"payer": ["c090"], "payee": ["x"], "amount": ["lots"]})

    said, _ = predict(folder, new, ties)

    for problem in (
        "new.csv: column 'income' is 'much', which is not a number",
        "new.csv: feature 'income' should be a number below 1e38 (row 4 of the data)",
        "new.csv: column 'client' is 'c090', which is the id of a node above",
        "new.csv: column 'repaid' is 'perhaps', which is none of",
        "ties.csv: column 'amount' is 'lots'",
        "ties.csv: column 'payee' is 'x', which names nobody",
    ):
        assert problem in said


def test_columns_that_are_missing_are_named(train, predict):
    new = people(4, COUNT, seed=3).drop(columns=["town", "gender"])

    said, _ = predict(train(), new, NOBODY)

    assert "there is no column 'gender', which the option `sensitive` names" in said
    assert "there is no column 'town', which the option `categories` names" in said


def test_a_file_that_is_missing_is_named(train, predict):
    said, _ = predict(train(), "nowhere.csv", "edges.csv")
    assert "nowhere.csv does not exist" in said


RAW = "by-hand/data/raw/clients/nodes.csv"


@pytest.mark.parametrize("out", ["ties.csv", "nodes.csv", "model.npz", RAW])
def test_nothing_that_is_read_is_written_over(train, project, capsys, out):
    """Neither the new files nor training's own, by whatever link, nor the run."""
    folder = train()
    NOBODY.to_csv("ties.csv", index=False)
    place = folder if out == "model.npz" else project
    (project / "out.csv").symlink_to(place / out)
    before = (project / "out.csv").read_bytes()

    command = ["predict", str(folder), "--nodes", "nodes.csv", "--edges", "ties.csv"]
    assert cli.main([*command, "--out", "out.csv"]) == 1

    assert "out.csv is a file that is read: give another" in capsys.readouterr().err
    assert (project / "out.csv").read_bytes() == before


# ------------------------------------------------------- what cannot score new people


def test_a_method_that_changes_the_graph_says_so(train, predict):
    said, _ = predict(train("edits"), "nodes.csv", "edges.csv")
    because = "edits cannot score new people: .* for training's people alone"
    assert re.search(because, said)


def test_a_run_without_the_columns_of_training_says_so(train, predict, project):
    folder = train("gat")
    (project / "by-hand/data/graphs/clients.columns.json").unlink()

    said, _ = predict(folder, "nodes.csv", "edges.csv")

    assert "clients.columns.json is missing" in said
    assert "Traceback" not in said


HALF = """\
from fairgat.methods.base import NodeMethod
from fairgat.methods.gat import Settings as Settings


class NodeClassification(NodeMethod):
    def postprocess(self, output):
        return output / 2
"""


def test_a_method_that_changes_scores_for_trainings_people_says_so(
    project, train, predict
):
    (project / "half.py").write_text(HALF)
    method = "  half: {tasks: [node_classification], module: half.py}\n"
    (project / "config.yaml").write_text(CONFIG + method)

    said, _ = predict(train("half"), "nodes.csv", "edges.csv")

    assert "half cannot score new people: it changes its scores after training" in said


GENERATED = """
datasets: {demo-social: {task: node_classification, options: {nodes: 300}}}
splits: {count: 1}
training: {node_classification: {epochs: 2, hidden: 8}}
methods: {gat: {tasks: [node_classification]}}
"""


def test_a_run_on_generated_data_has_no_tables(project, predict):
    (project / "config.yaml").write_text(GENERATED)
    command = ["train", "--dataset", "demo-social", "--method", "gat", "--quiet"]
    assert cli.main(command) == 0
    (path,) = project.glob("by-hand/runs/*/*/gat/*/split-0")

    said, _ = predict(path, "nodes.csv", "edges.csv")

    assert "demo-social was not read from any" in said


def test_trainings_table_must_be_the_one_of_training(train, predict, project):
    folder = train()
    raw = project / "by-hand/data/raw/clients/nodes.csv"
    shutil.copy(raw, project / "kept.csv")
    raw.write_text(raw.read_text().replace("c000", "c999"))

    said, _ = predict(folder, "kept.csv", "edges.csv")

    assert "altered" in said
