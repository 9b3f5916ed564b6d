"""EDITS's debiasing against the same optimisation over a dense matrix, by autograd."""

import numpy as np
import pytest
import torch
from dense import (
    NODE,
    assert_train_alike,
    make,
    run_job,
    small_graph,
    split_of,
    step,
)
from torch import nn

from fairgat import methods
from fairgat.errors import CellCalledOff, DataError
from fairgat.methods.edits import kernels
from fairgat.methods.edits.fit import Debias, Debiasing, debias
from fairgat.methods.edits.result import Debiased
from fairgat.plan import Run
from fairgat.training import job as training

# Steps are large enough for clamping and thresholding to bite within a few rounds.
SETTINGS = Debias(
    epochs=3,
    critic_dropout=0.0,
    structure_weight=300.0,
    structure_l1=0.02,
    learning_rate=0.05,
    late_after=2,
)


@pytest.fixture
def graph():
    return small_graph(nodes=31, edges=70)


@pytest.fixture
def train(graph):
    return split_of(graph)["train"]


def with_loops(graph):
    """The adjacency matrix A + I."""
    a = np.eye(graph.num_nodes)
    source, target = graph.edge_index
    a[source, target] = 1
    return a


def shrunk(values, amount):
    return values.sign() * (values.abs() - amount).clamp_min(0)


class Dense:
    """`EDITS.optimize` of the authors' model.py, with a float32 parameter for Ã."""

    def __init__(self, graph, train, critic, settings):
        self.settings = settings
        self.train = torch.from_numpy(train)
        self.is_one = torch.from_numpy(graph.sensitive)[self.train] > 0
        features = torch.from_numpy(graph.features)
        self.x = features / features.norm(dim=0)
        self.a = torch.from_numpy(with_loops(graph)).float()

        self.estimate = nn.Parameter(self.a.clone())
        self.s = nn.Parameter(torch.ones(graph.num_features))
        self.critic = nn.Linear(critic.in_features, 1)
        self.critic.load_state_dict(critic.state_dict())

        options = {"eps": 1e-4, "weight_decay": settings.weight_decay}
        self.of_features = torch.optim.RMSprop([self.s], **options)
        self.of_critic = torch.optim.RMSprop(self.critic.parameters(), **options)
        self.of_structure = torch.optim.SGD([self.estimate], momentum=settings.momentum)

    def adversarial_loss(self):
        x = self.x @ torch.diag(self.s)
        one_hop = self.estimate @ x
        hops = torch.cat([x, one_hop, self.estimate @ one_hop], dim=1)
        read = self.critic(hops)[self.train].squeeze(1)
        return -(read[self.is_one].mean() - read[~self.is_one].mean())

    def round(self, number):
        late = number > self.settings.late_after
        rate = self.settings.learning_rate
        if late:
            rate = self.settings.late_learning_rate
        for optimizer in (self.of_features, self.of_critic, self.of_structure):
            optimizer.param_groups[0]["lr"] = rate
        self.step_features()
        self.step_structure()
        for _ in range(self.settings.critic_steps):
            self.step_critic()

    def step_features(self):
        settings = self.settings
        change = (self.x @ torch.diag(self.s) - self.x).norm(2)
        loss = settings.feature_weight * change + self.adversarial_loss()
        step(self.of_features, loss)
        with torch.no_grad():
            self.s.copy_(shrunk(self.s, settings.feature_l1 * settings.learning_rate))

    def step_structure(self):
        settings = self.settings
        frobenius = ((self.estimate - self.a) ** 2).sum()
        loss = frobenius + settings.structure_weight * self.adversarial_loss()
        step(self.of_structure, loss)
        threshold = settings.structure_l1 * settings.learning_rate
        with torch.no_grad():
            estimate = shrunk(self.estimate, threshold).clamp(0, 1)
            self.estimate.copy_((estimate + estimate.t()) / 2)
            self.s.clamp_(0, 1)

    def step_critic(self):
        step(self.of_critic, -self.adversarial_loss())
        limit = self.settings.critic_clip
        with torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.clamp_(-limit, limit)


def test_three_rounds_are_those_of_the_dense_optimisation(graph, train):
    torch.manual_seed(3)
    state = Debiasing(graph, train, SETTINGS)
    dense = Dense(graph, train, state.critic, SETTINGS)

    for number in (1, 2, 3):
        state.round(number)
        dense.round(number)

        ours = torch.from_numpy(state.adjacency)
        near = {"rtol": 0, "atol": 1e-5}
        torch.testing.assert_close(ours, dense.estimate.data, rtol=0, atol=2e-5)
        torch.testing.assert_close(state.scale, dense.s, **near)
        torch.testing.assert_close(state.critic.weight, dense.critic.weight, **near)

    # The case is worth something: weights moved, some to the bounds, and the critic
    # was clipped.
    assert ((dense.estimate == 0) != (dense.a == 0)).any()
    assert (dense.estimate == 1).any()
    assert (dense.critic.weight.abs() == SETTINGS.critic_clip).any()
    assert (dense.s < 1).any()


def rounds_done(graph, train, **changes):
    """The debiasing after three rounds."""
    torch.manual_seed(0)
    state = Debiasing(graph, train, SETTINGS.model_copy(update=changes))
    for number in (1, 2, 3):
        state.round(number)
    return state


def binarised(a, estimate, threshold):
    """`binarize` of the authors' train.py, without self-loops."""
    change = estimate - a
    grew = change > threshold * change.max()
    fell = change < threshold * change.min()
    after = a + grew - fell
    np.fill_diagonal(after, 0)
    return after


@pytest.fixture
def done(graph, train):
    """Three rounds after which thresholds add and remove edges."""
    return rounds_done(graph, train, structure_l1=0.1)


THRESHOLDS = pytest.mark.parametrize("threshold", [0.001, 0.05, 0.3, 0.9])


@THRESHOLDS
def test_edges_come_and_go_as_the_authors_binarise(graph, done, threshold):
    expected = binarised(with_loops(graph), done.adjacency, threshold)

    debiased = done.result().apply(graph, threshold, dropped_features=0)

    debiased.check()
    edges = with_loops(debiased) - np.eye(graph.num_nodes)
    assert np.array_equal(edges, expected)


@THRESHOLDS
def test_changes_are_counted_once_for_each_pair(graph, done, threshold):
    before = with_loops(graph) - np.eye(graph.num_nodes)
    after = binarised(with_loops(graph), done.adjacency, threshold)

    added, removed = done.result().changes(threshold)

    assert added.sum() == (after > before).sum() / 2
    assert removed.sum() == (after < before).sum() / 2


@pytest.mark.parametrize(("dropped", "left"), [(0, 5), (2, 3), (5, 1), (9, 1)])
def test_the_features_whose_scale_is_smallest_are_left_out(graph, done, dropped, left):
    result = done.result()

    debiased = result.apply(graph, 0.9, dropped)

    kept = np.sort(np.argsort(result.scale)[-left:])
    assert np.array_equal(debiased.features, graph.features[:, kept])


@pytest.fixture
def whole(graph, train):
    """A result that lists every pair that gained weight."""
    state = rounds_done(graph, train, structure_l1=0.0, max_density_factor=100)
    return state.result()


@pytest.fixture
def short(graph, train):
    """The same optimisation's result, with a limit that lists only some."""
    state = rounds_done(graph, train, structure_l1=0.0, max_density_factor=1.5)
    return state.result()


def test_pairs_are_listed_up_to_the_limit(whole, short):
    assert whole.floor == 0
    assert 0 < short.pairs.shape[1] < whole.pairs.shape[1]
    assert short.limit == int(1.5 * len(short.weakening))
    assert short.pairs.shape[1] <= short.limit


@pytest.mark.parametrize("threshold", np.linspace(0, 0.99, 34))
def test_too_dense_a_threshold_is_called_off_even_if_its_pairs_are_not_listed(
    whole, short, threshold
):
    added, removed = whole.changes(threshold)
    edges = len(removed) - removed.sum() + added.sum()

    if edges > short.limit:
        with pytest.raises(CellCalledOff, match="more than 94 edges"):
            short.changes(threshold)
    else:
        fewer, same = short.changes(threshold)
        assert fewer.sum() == added.sum()
        assert np.array_equal(same, removed)


def test_the_same_seed_leaves_the_same_file(graph, train, tmp_path):
    for name in ("one", "other"):
        debias(graph, train, SETTINGS, seed=1).save(tmp_path / name)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_what_was_saved_is_loaded(graph, train, tmp_path):
    result = debias(graph, train, SETTINGS, seed=1)

    result.save(tmp_path / "debiased.npz")

    loaded = Debiased.load(tmp_path / "debiased.npz")
    for name, value in vars(result).items():
        assert np.array_equal(value, getattr(loaded, name))


def test_progress_is_told_after_every_round(graph, train):
    told = []

    def progress(number, losses):
        told.append((number, sorted(losses)))

    debias(graph, train, SETTINGS, 1, progress)

    assert told == [(1, ["distance"]), (2, ["distance"]), (3, ["distance"])]


def test_without_changes_it_is_gat(graph, train, tmp_path):
    file = tmp_path / "debiased.npz"
    rounds_done(graph, train).result().save(file)
    settings = methods.settings("edits", {"threshold": 1.0, "dropped_features": 0})

    fair = training.build("edits", settings, graph, split_of(graph), NODE, 0, file)

    assert_train_alike(fair, make("gat", graph))


def test_a_run_that_is_called_off_names_its_cell(graph, short, tmp_path):
    file = tmp_path / "debiased.npz"
    short.save(file)
    cell = Run("node_classification", "test", "edits", "threshold~0.001", 0)
    settings = {"threshold": 0.001}

    record = run_job(
        tmp_path,
        "run",
        "edits",
        graph=graph,
        job=cell,
        settings=settings,
        debiased=file,
    )

    assert record.failure.startswith("threshold~0.001: ")
    assert not record.epochs


@pytest.mark.parametrize(
    "other", [{"edges": 71}, {"features": 4}], ids=["edges", "features"]
)
def test_the_debiased_edges_of_another_graph_are_refused(done, other):
    another = small_graph(**{"nodes": 31, "edges": 70} | other)

    with pytest.raises(DataError, match="belong to another graph"):
        done.result().apply(another, 0.5, 0)


@pytest.mark.parametrize("size", [1, 64, 65, 200, 300])
def test_a_matrix_of_several_tiles_is_symmetrised(size):
    matrix = np.random.default_rng(0).random((size, size), np.float32)
    expected = (matrix + matrix.T) / 2

    kernels.symmetrise(matrix)

    np.testing.assert_array_equal(matrix, expected)
