"""`fairgat predict`: new people are scored as training's were, and what differs is said."""

import re
import shutil

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
  edits: {tasks: [node_classification], debiased: true, settings: {threshold: 0.2, debias: {epochs: 2}}}
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
    random = np.random.default_rng(seed)
    pairs = [(a, b) for a in names for b in names if a < b]
    chosen = random.permutation(len(pairs))[: 3 * len(names)]
    table = pd.DataFrame([pairs[row] for row in chosen], columns=["payer", "payee"])
    table["amount"] = random.integers(0, 4, len(table)) * 50
    return table


@pytest.fixture
def train(project, capsys):
    """Train a method; gives the run's folder."""
    (project / "config.yaml").write_text(CONFIG)
    table = people()
    table.to_csv("nodes.csv", index=False)
    links(list(table["client"])).to_csv("edges.csv", index=False)

    def run(method="gat", *settings):
        command = ["train", "--dataset", "clients", "--method", method, "--quiet"]
        assert cli.main([*command, *settings]) == 0
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
    return unpack(arrays, Record.read(folder / "run.json").reported)["logits"]


NOBODY = pd.DataFrame({"payer": ["c000"], "payee": ["c001"], "amount": [50]})


@pytest.mark.parametrize(
    "method", ["gat", "mlp", "nifty", "fairgnn", "thresholds", "fairgat"]
)
def test_the_files_of_training_give_the_scores_of_training(train, predict, method):
    folder = train(method)
    said, scores = predict(folder, "nodes.csv", "edges.csv")
    assert list(scores.index) == list(people()["client"])
    np.testing.assert_array_equal(scores["score"].to_numpy(), kept(folder))
    assert (scores["decision"] == (scores["score"] > 0)).all()
    assert list(scores["group"]) == [f"gender={each}" for each in people()["gender"]]
    labels = people()["repaid"].map({"yes": 1, "no": 0})
    np.testing.assert_array_equal(scores["label"], labels)
    assert "90 people have a score, 90 of them training's; 0 links are new" in said
    assert "people 0 are decided otherwise" in said
    assert "differences" not in said


@pytest.mark.parametrize("sensitive", ["gender", "[gender, area]"])
def test_three_groups_and_more(project, train, predict, sensitive):
    """Balanced shares, which are those of training's graph."""
    text = CONFIG.replace("sensitive: gender", f"sensitive: {sensitive}")
    (project / "config.yaml").write_text(text)
    table = pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)
    table["gender"] = np.resize(["F", "M", "X"], COUNT)
    table["area"] = np.resize(["N", "S", "S", "N"], COUNT)
    if sensitive == "gender":
        table = table.drop(columns="area")
    table.to_csv("nodes.csv", index=False)
    folder = train("fairgat")
    _, scores = predict(folder, "nodes.csv", "edges.csv")
    np.testing.assert_array_equal(scores["score"].to_numpy(), kept(folder))


def test_people_left_out_of_training_stay_left_out(project, train, predict):
    more = ("labelled_only: true", "largest_component: true", "drop: [unknown_groups]")
    text = CONFIG.replace("fill: mean", "\n      ".join(["fill: mean", *more]))
    (project / "config.yaml").write_text(text)
    table = pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)
    table.loc[5, "gender"] = ""
    table.to_csv("nodes.csv", index=False)
    folder = train()
    said, scores = predict(folder, "nodes.csv", "edges.csv")
    there = scores["score"].notna()
    assert 60 < there.sum() < 85
    np.testing.assert_array_equal(scores["score"][there].to_numpy(), kept(folder))
    assert "were left out of training: they have no score" in said


def test_people_without_ids_are_known_by_their_row(project, train, predict):
    (project / "config.yaml").write_text(
        CONFIG.replace("id: client", "id: null\n      exclude: client")
    )
    table = links(list(range(COUNT)))
    table.to_csv("edges.csv", index=False)
    folder = train("fairgat")
    _, scores = predict(folder, "nodes.csv", "edges.csv")
    np.testing.assert_array_equal(scores["score"].to_numpy(), kept(folder))
    longer = pd.concat([people(), people(2, COUNT, seed=3)])
    ties = pd.DataFrame({"payer": [90, 91], "payee": [3, 90], "amount": [1, 1]})
    said, scores = predict(folder, longer, ties)
    assert list(scores.index[-2:]) == ["90", "91"]
    assert scores["score"].notna().all()
    assert "2 links are new" in said


@pytest.mark.parametrize("method", ["mlp", "fairgat", "thresholds"])
def test_new_people_are_scaled_as_training_was(train, predict, method):
    """Incomes of another range are not brought to training's by their own extremes."""
    folder = train(method)
    new = people(3, COUNT, seed=5)
    new["income"] = ["20,000", "21,000", "22,000"]
    new["town"] = "A"
    new["gender"] = "F"
    ties = pd.DataFrame({"payer": ["c090"], "payee": ["c091"], "amount": [50]})
    said, alone = predict(folder, new, ties)
    assert "3 people have a score, 0 of them training's; 1 links are new" in said

    rich = people(1, COUNT + 3, seed=5).assign(income="400,000", town="A", gender="F")
    said, beside = predict(folder, pd.concat([new, rich]), ties)
    assert "column 'income': 1 of these people are far outside" in said
    if method == "mlp":  # whose scores depend on nobody else
        same = beside.loc[alone.index, "score"]
        np.testing.assert_array_equal(same, alone["score"])
        assert "people 0 are decided otherwise" in said
        known = people().assign(town="A", income="21,000")
        _, old = predict(folder, known[:1], NOBODY)
        np.testing.assert_allclose(
            old["score"].iloc[0], alone["score"].iloc[1], atol=0.3
        )


def test_an_empty_cell_and_a_number_are_what_they_were_in_training(train, predict):
    """A new person who is in all a copy of one of training's, alone, has their score."""
    folder = train("mlp")
    copies = people().assign(client=[f"d{row:03}" for row in range(COUNT)])
    ties = links(list(copies["client"]))
    _, scores = predict(folder, copies, ties)
    np.testing.assert_allclose(scores["score"], kept(folder), rtol=1e-5)


def test_thresholds_stay_those_of_training(train, predict):
    """They would be others, were they chosen again with the new people's links."""
    folder = train("thresholds")
    plain = train("gat")
    new = people(40, COUNT, seed=7)
    names = [*people()["client"], *new["client"]]
    ties = links(names, seed=9)
    _, scores = predict(folder, new, ties)
    _, logits = predict(plain, new, ties)
    cuts = pd.Series(kept(plain).astype(float) - kept(folder))
    trained = cuts.groupby(people()["gender"]).mean()
    moved = (logits["score"] - scores["score"]).groupby(new["gender"].to_numpy()).mean()
    np.testing.assert_allclose(moved[trained.index], trained, atol=1e-6)
    assert trained.abs().max() > 0.001


def test_shares_stay_those_of_training(train, predict):
    """Links that lead to the other group for everyone would give another share."""
    folder = train("fairgat")
    table = people()
    women = table["client"][table["gender"] == "F"].tolist()
    men = table["client"][table["gender"] == "M"].tolist()
    ties = pd.DataFrame({"payer": np.resize(women, 60), "payee": np.resize(men, 60)})
    said, scores = predict(folder, table, ties.assign(amount=1))
    assert re.search(r"[1-9]\d* links are new", said)
    assert np.abs(scores["score"].to_numpy() - kept(folder)).max() > 1e-4


def test_what_training_did_not_have_is_said(train, predict):
    folder = train("fairgat")
    new = people(4, COUNT, seed=3)
    new.loc[0, "town"] = "Z"
    new.loc[1, "gender"] = "other"
    new.loc[2, "income"] = "9,000,000"
    new["shoe size"] = 40
    ties = pd.DataFrame(
        {"payer": ["c090", "c091"], "payee": ["c001", "c002"], "amount": [1, 1]}
    )
    said, scores = predict(folder, new.drop(columns="repaid"), ties)
    assert "training did not have, as 'Z': they are of none" in said
    assert (
        "1 of these people are of a group that training did not have, as other" in said
    )
    assert re.search(r"far outside training's \d+ to [\d.e+]+, as 9e\+06", said)
    assert "training had no column 'shoe size': not used" in said
    assert "1 links are new" in said
    assert scores["score"].isna().tolist() == [False, True, False, False]
    assert "label" not in scores


def test_training_s_people_may_have_other_values(train, predict):
    folder = train()
    changed = people()[10:13].assign(income="33,333")
    said, scores = predict(folder, changed, NOBODY)
    assert "3 of training's people have other values now" in said
    assert list(scores.index) == ["c010", "c011", "c012"]


def test_all_that_is_wrong_is_said_at_once(train, predict):
    folder = train()
    new = people(4, COUNT, seed=3)
    new.loc[0, "income"] = "much"
    new.loc[1, "client"] = "c090"
    new.loc[2, "repaid"] = "perhaps"
    ties = pd.DataFrame({"payer": ["c090"], "payee": ["x"], "amount": ["lots"]})
    said, _ = predict(folder, new, ties)
    assert "new.csv: column 'income' is 'much', which is not a number" in said
    assert "new.csv: column 'client' is 'c090', which is the id of a node above" in said
    assert "new.csv: column 'repaid' is 'perhaps', which is none of" in said
    assert "ties.csv: column 'amount' is 'lots'" in said
    assert "ties.csv: column 'payee' is 'x', which names nobody" in said
    said, _ = predict(folder, new.drop(columns=["town", "gender"]), NOBODY)
    assert "there is no column 'gender', which the option `sensitive` names" in said
    assert "there is no column 'town', which the option `categories` names" in said
    said, _ = predict(folder, "nowhere.csv", "edges.csv")
    assert "nowhere.csv does not exist" in said


def test_what_cannot_score_new_people_says_so(train, predict, project, capsys):
    folder = train("edits")
    said, _ = predict(folder, "nodes.csv", "edges.csv")
    assert re.search(
        r"edits cannot score new people: .* for training's people alone", said
    )
    folder = train("gat")
    (project / "by-hand/data/graphs/clients.columns.json").unlink()
    said, _ = predict(folder, "nodes.csv", "edges.csv")
    assert "clients.columns.json is missing" in said
    assert "Traceback" not in said


def test_a_method_that_changes_scores_for_training_s_people(project, train, predict):
    (project / "half.py").write_text(
        "from fairgat.methods.base import NodeMethod\n"
        "from fairgat.methods.gat import Settings as Settings\n\n\n"
        "class NodeClassification(NodeMethod):\n"
        "    def postprocess(self, output):\n"
        "        return output / 2\n"
    )
    method = "  half: {tasks: [node_classification], module: half.py}\n"
    (project / "config.yaml").write_text(CONFIG + method)
    said, _ = predict(train("half"), "nodes.csv", "edges.csv")
    assert "half cannot score new people: it changes its scores after training" in said


def test_a_run_on_generated_data_has_no_tables(project, predict, capsys):
    (project / "config.yaml").write_text(
        "datasets: {demo-social: {task: node_classification, options: {nodes: 300}}}\n"
        "splits: {count: 1}\n"
        "training: {node_classification: {epochs: 2, hidden: 8}}\n"
        "methods: {gat: {tasks: [node_classification]}}\n"
    )
    command = ["train", "--dataset", "demo-social", "--method", "gat", "--quiet"]
    assert cli.main(command) == 0
    (path,) = project.glob("by-hand/runs/*/*/gat/*/split-0")
    said, _ = predict(path, "nodes.csv", "edges.csv")
    assert "demo-social was not read from any" in said


def test_training_s_table_is_the_one_of_training(train, predict, project):
    folder = train()
    raw = project / "by-hand/data/raw/clients/nodes.csv"
    shutil.copy(raw, project / "kept.csv")
    raw.write_text(raw.read_text().replace("c000", "c999"))
    said, _ = predict(folder, "kept.csv", "edges.csv")
    assert "altered" in said
