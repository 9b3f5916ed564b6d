"""`fairgat.load` and `fairgat.judge`: the workflow's data and scores, without it."""

import numpy as np
import pytest
import torch

import fairgat
from fairgat import config as configuration
from fairgat.cli import main as cli
from fairgat.cli.finished_run import data_of
from fairgat.data import download
from fairgat.data.graph import load_npz
from fairgat.errors import ConfigError, DataError
from fairgat.scores.judging import judged
from fairgat.training.record import RUN_JSON, Record, unpack

OVERLAY = """
only_datasets: [demo-social, demo-citation]
datasets:
  demo-social: {task: node_classification, options: {nodes: 300}}
  demo-citation: {task: link_prediction, options: {nodes: 200}}
training:
  node_classification: {epochs: 8, hidden: 8}
  link_prediction: {epochs: 4, hidden: 8}
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a run of GAT on each of the demo's data sets, and the overlay."""
    folder = tmp_path_factory.mktemp("trained")
    overlay = folder / "overlay.yaml"
    overlay.write_text(OVERLAY)
    files = [str(configuration.DEFAULTS), str(overlay)]
    for name in ("demo-social", "demo-citation"):
        command = ["train", "--dataset", name, "--method", "gat", "--split", "1"]
        command += ["--quiet", "--out", str(folder), "--config", *files]
        assert cli.main(command) == 0
    return folder


def _run(folder, name):
    """A run's graph, split, scores (as `collect` has them) and predictions."""
    (path,) = folder.glob(f"runs/*/{name}/gat/*/split-1/{RUN_JSON}")
    record = Record.read(path)
    _, graph, split = data_of(path.parent, record)
    scores = judged(path, graph, split, record.inputs).scores[record.protocol]
    predictions = unpack(load_npz(path.parent / "predictions.npz"), record.reported)
    return graph, split, scores, predictions


def _load(folder, name):
    return fairgat.load(name, split=1, config=folder / "overlay.yaml")


def _same(scores, others):
    for part in ("validation", "test"):
        assert scores[part].keys() == others[part].keys()
        for name, value in scores[part].items():
            np.testing.assert_equal(value, others[part][name], name)


def test_people_are_those_that_the_workflow_trains_on(trained):
    graph, split, _, _ = _run(trained, "demo-social")
    data = _load(trained, "demo-social")
    assert data.validate()
    for ours, theirs in (
        (data.x, graph.features),
        (data.edge_index, graph.edge_index),
        (data.y, graph.labels),
        (data.sensitive, graph.sensitive),
        (data.train_mask.nonzero().squeeze(1), split["train"]),
        (data.val_mask.nonzero().squeeze(1), split["validation"]),
        (data.test_mask.nonzero().squeeze(1), split["test"]),
    ):
        assert np.array_equal(ours, theirs)
    assert data.group_names == graph.group_names


def test_links_held_out_are_not_among_those_of_training(trained):
    _, split, _, _ = _run(trained, "demo-citation")
    data = _load(trained, "demo-citation")
    assert np.array_equal(data.edge_index, split["train_edges"])
    seen = set(map(tuple, data.edge_index.T.tolist()))
    for part in ("val", "test"):
        pairs = data[f"{part}_edge_label_index"].T.tolist()
        assert not seen & set(map(tuple, pairs))
        assert data[f"{part}_edge_label"].float().mean() == 0.5


def test_people_are_judged_as_by_the_workflow(trained):
    _, _, scores, predictions = _run(trained, "demo-social")
    data = _load(trained, "demo-social")
    logits = torch.from_numpy(predictions["logits"])
    _same(fairgat.judge(data, logits), scores)

    probable = fairgat.judge(data, logits.double().sigmoid(), kind="probabilities")
    for name, value in scores["test"].items():
        assert probable["test"][name] == pytest.approx(value, abs=1e-6, nan_ok=True)


def test_links_are_judged_as_by_the_workflow(trained):
    _, _, scores, predictions = _run(trained, "demo-citation")
    data = _load(trained, "demo-citation")
    logits = {}
    for part in ("validation", "test"):
        logits[part] = torch.from_numpy(predictions[f"{part}_logits"])
    _same(fairgat.judge(data, logits, kind="logits"), scores)

    probabilities = {part: values.sigmoid() for part, values in logits.items()}
    probable = fairgat.judge(data, probabilities, kind="probabilities")
    for name in ("accuracy", "dp_mixed", "eo_subgroup"):
        assert probable["test"][name] == scores["test"][name]


def test_pairs_may_stand_in_any_order(trained):
    _, _, scores, predictions = _run(trained, "demo-citation")
    data = _load(trained, "demo-citation")
    logits = {}
    for part, prefix in (("validation", "val"), ("test", "test")):
        order = torch.randperm(len(data[f"{prefix}_edge_label"]))
        data[f"{prefix}_edge_label"] = data[f"{prefix}_edge_label"][order]
        pairs = data[f"{prefix}_edge_label_index"]
        data[f"{prefix}_edge_label_index"] = pairs[:, order]
        logits[part] = predictions[f"{part}_logits"][order]
    again = fairgat.judge(data, logits, kind="logits")
    for name, value in scores["test"].items():
        if not name.startswith("ndkl_perfect"):  # which is of links in a random order
            assert again["test"][name] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (torch.zeros(300, 1), r"shape \(300,\), got \(300, 1\)"),
        (torch.full((300,), torch.nan), "finite"),
        (torch.rand(300), "probabilities or logits"),
        ((torch.rand(300) > 0.5), "probabilities or logits"),
        (np.ma.masked_less(np.arange(300.0), 1), "some scores are masked"),
        (torch.ones(300, dtype=torch.complex64), "must be real numbers, got complex64"),
        (["yes"] * 300, "must be real numbers"),
        ({"test": torch.ones(300)}, "must be real numbers"),
    ],
)
def test_scores_that_cannot_be_judged(trained, scores, said):
    data = _load(trained, "demo-social")
    with pytest.raises(ValueError, match=said):
        fairgat.judge(data, scores)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32"])
def test_scores_may_be_of_any_real_type(trained, dtype):
    data = _load(trained, "demo-social")
    whole = torch.arange(-150, 150)[torch.randperm(300)].clamp(-99, 99)

    scores = fairgat.judge(data, whole.to(getattr(torch, dtype)))

    _same(scores, fairgat.judge(data, whole.float()))


def test_masks_are_those_that_were_loaded(trained):
    """Numbers of nodes, as others keep a split, would be taken for a mask."""
    data = _load(trained, "demo-social")
    data.test_mask = data.test_mask.nonzero().squeeze(1)
    with pytest.raises(ValueError, match=r"data\.test_mask must be \(300,\) bool"):
        fairgat.judge(data, torch.arange(300.0))


def test_nobody_without_a_label_is_judged(trained):
    """They would count as people with label 0."""
    data = _load(trained, "demo-social")
    data.y[data.test_mask.nonzero()[:2]] = -1
    with pytest.raises(ValueError, match=r"data\.test_mask has 2 nodes whose label is"):
        fairgat.judge(data, torch.arange(300.0))


def test_scores_that_are_not_what_is_said_of_them(trained):
    data = _load(trained, "demo-social")
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        fairgat.judge(data, torch.full((300,), 1.5), kind="probabilities")
    with pytest.raises(ValueError, match="'logits' or 'probabilities'"):
        fairgat.judge(data, torch.ones(300), kind="probability")
    links = _load(trained, "demo-citation")
    with pytest.raises(ValueError, match="'validation' and 'test'"):
        fairgat.judge(links, torch.ones(300))


def test_a_data_set_that_is_not_there():
    with pytest.raises(ConfigError, match="did you mean 'cora'"):
        fairgat.load("corra")
    with pytest.raises(ConfigError, match=r"studies/extended\.yaml declares it"):
        fairgat.load("german")
    for split in (-1, 0.5, "0"):
        with pytest.raises(ConfigError, match="split is a whole number from 0"):
            fairgat.load("cora", split=split)


OWN = """
datasets:
  own:
    task: node_classification
    source: tables
    options: {nodes: n.csv, edges: e.csv, id: id, label: won, sensitive: sex}
"""


def test_data_of_ones_own(tmp_path, monkeypatch):
    """They are read anew each time: nothing of them stays in the cache."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text(OWN)
    cache = tmp_path / "cache"
    with pytest.raises(DataError, match=r"own: 2 of 2 files cannot be had"):
        fairgat.load("own", config="own.yaml", cache=cache)

    rows = [f"p{i},{i % 2},{'fm'[i // 2 % 2]},{i}" for i in range(40)]
    (tmp_path / "n.csv").write_text("\n".join(["id,won,sex,age", *rows]))
    edges = [f"p{i},p{i + 1}" for i in range(39)]
    (tmp_path / "e.csv").write_text("\n".join(["from,to", *edges]))
    data = fairgat.load("own", config="own.yaml", cache=cache)
    assert data.feature_names == ["age"]
    assert data.group_names == ["sex=f", "sex=m"]
    assert data.x.flatten().tolist() == pytest.approx(np.linspace(-1, 1, 40).tolist())
    assert not cache.exists()


def test_without_a_network_the_mirror_is_named(tmp_path, monkeypatch):
    def unreachable(url, part):
        raise download.Unreachable("no connection to example.org")

    monkeypatch.setattr(download, "_download", unreachable)

    with pytest.raises(DataError, match="no connection") as error:
        fairgat.load("recidivism", cache=tmp_path)

    (said,) = str(error.value).splitlines()
    assert "`mirror=`" in said
    assert "fairgat data add" not in said


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["recidivism", "cora"])
def test_published_data(data_mirror, tmp_path, monkeypatch, name):
    """From any folder; of the files that were fetched once, none is asked for again."""
    monkeypatch.chdir(tmp_path)
    data = fairgat.load(name, mirror=data_mirror, cache=tmp_path / "cache")
    again = fairgat.load(name, mirror=tmp_path / "none", cache=tmp_path / "cache")
    assert torch.equal(data.edge_index, again.edge_index)
    assert data.x.shape[0] == {"recidivism": 18876, "cora": 2708}[name]
