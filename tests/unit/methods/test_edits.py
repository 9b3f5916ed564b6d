"""EDITS's debiasing against the same optimisation left to autograd over a dense matrix, and its thresholds."""

import numpy as np
import pytest
import torch
from dense import NODE, assert_train_alike, make, run_job, small_graph, step
from torch import nn

from fairgat import methods
from fairgat.config import Splits
from fairgat.data import splits
from fairgat.errors import CellCalledOff
from fairgat.methods.edits import kernels
from fairgat.methods.edits.fit import Debias, Debiasing, debias
from fairgat.methods.edits.result import Debiased
from fairgat.plan import Run
from fairgat.training import job as training

# steps large enough for clamping and thresholding to bite within a few rounds
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
    return splits.make(graph, "node_classification", Splits(), 0, "test", 0)["train"]


def with_loops(graph):
    """The adjacency matrix A + I."""
    a = np.eye(graph.num_nodes)
    a[graph.edge_index[0], graph.edge_index[1]] = 1
    return a


def shrunk(values, amount):
    return values.sign() * (values.abs() - amount).clamp_min(0)


class Dense:
    """`EDITS.optimize` of the authors' model.py, with one float32 parameter for all of Ã."""

    def __init__(self, graph, train, critic, settings):
        self.settings, self.train = settings, torch.from_numpy(train)
        features = torch.from_numpy(graph.features)
        self.x = features / features.norm(dim=0)
        a = torch.from_numpy(with_loops(graph)).float()
        self.a, self.estimate = a, nn.Parameter(a.clone())
        self.s = nn.Parameter(torch.ones(graph.num_features))
        self.critic = nn.Linear(critic.in_features, 1)
        self.critic.load_state_dict(critic.state_dict())
        self.group = torch.from_numpy(graph.sensitive)[self.train] > 0
        options = {
            "lr": settings.learning_rate,
            "eps": 1e-4,
            "weight_decay": settings.weight_decay,
        }
        self.optimizers = [
            torch.optim.RMSprop(p, **options)
            for p in ([self.s], self.critic.parameters())
        ]
        self.structure = torch.optim.SGD(
            [self.estimate], lr=settings.learning_rate, momentum=settings.momentum
        )

    def adversarial_loss(self):
        x = self.x @ torch.diag(self.s)
        hops = torch.cat(
            [x, self.estimate @ x, self.estimate @ (self.estimate @ x)], dim=1
        )
        read = self.critic(hops)[self.train].squeeze(1)
        return -(read[self.group].mean() - read[~self.group].mean())

    def round(self, number):
        settings = self.settings
        rate = (
            settings.learning_rate
            if number <= settings.late_after
            else settings.late_learning_rate
        )
        for optimizer in (*self.optimizers, self.structure):
            optimizer.param_groups[0]["lr"] = rate
        change = (self.x @ torch.diag(self.s) - self.x).norm(2)
        step(
            self.optimizers[0],
            settings.feature_weight * change + self.adversarial_loss(),
        )
        with torch.no_grad():
            self.s.copy_(shrunk(self.s, settings.feature_l1 * settings.learning_rate))
        frobenius = ((self.estimate - self.a) ** 2).sum()
        step(
            self.structure,
            frobenius + settings.structure_weight * self.adversarial_loss(),
        )
        with torch.no_grad():
            estimate = shrunk(
                self.estimate, settings.structure_l1 * settings.learning_rate
            ).clamp(0, 1)
            self.estimate.copy_((estimate + estimate.t()) / 2)
            self.s.clamp_(0, 1)
        for _ in range(settings.critic_steps):
            step(self.optimizers[1], -self.adversarial_loss())
            with torch.no_grad():
                for p in self.critic.parameters():
                    p.clamp_(-settings.critic_clip, settings.critic_clip)


def test_three_rounds(graph, train):
    torch.manual_seed(3)
    state = Debiasing(graph, train, SETTINGS)
    dense = Dense(graph, train, state.critic, SETTINGS)
    for number in (1, 2, 3):
        state.round(number)
        dense.round(number)
        estimate = dense.estimate.detach()
        torch.testing.assert_close(
            torch.from_numpy(state.adjacency), estimate, rtol=0, atol=2e-5
        )
        torch.testing.assert_close(state.scale, dense.s, rtol=0, atol=1e-5)
        torch.testing.assert_close(
            state.critic.weight, dense.critic.weight, rtol=0, atol=1e-5
        )
    # the case is worth something: weights moved, some to the bounds, and the critic was clipped
    assert ((estimate == 0) & (dense.a == 1)).any() or (
        (estimate > 0) & (dense.a == 0)
    ).any()
    assert (estimate == 1).any()
    assert (estimate == 0).any()
    assert (dense.critic.weight.abs() == SETTINGS.critic_clip).any()
    assert (dense.s < 1).any()


def finished(graph, train, **changes):
    """The final dense Ã and the result made of it."""
    torch.manual_seed(0)
    state = Debiasing(graph, train, SETTINGS.model_copy(update=changes))
    for number in range(1, 4):
        state.round(number)
    estimate = state.adjacency.copy()
    return estimate, state.result()


@pytest.mark.parametrize("threshold", [0.001, 0.05, 0.3, 0.9])
def test_thresholds_as_the_authors_binarise(graph, train, threshold):
    estimate, result = finished(graph, train, structure_l1=0.1)
    a = with_loops(graph)
    change = estimate - a
    after = (
        a + (change > threshold * change.max()) - (change < threshold * change.min())
    )
    np.fill_diagonal(after, 0)
    debiased = result.apply(graph, threshold, 2)
    debiased.check()
    ours = np.zeros_like(a)
    ours[debiased.edge_index[0], debiased.edge_index[1]] = 1
    assert np.array_equal(ours, after)
    added, removed = result.changes(threshold)
    assert added.sum() == ((after == 1) & (a == 0)).sum() / 2
    assert (
        removed.sum()
        == ((after == 0) & (a == 1) & ~np.eye(len(a), dtype=bool)).sum() / 2
    )
    kept = np.sort(np.argsort(result.scale)[2:])
    assert np.array_equal(debiased.features, graph.features[:, kept])


def test_too_dense_a_threshold_is_called_off_whether_or_not_its_pairs_are_listed(
    graph, train
):
    _, whole = finished(graph, train, structure_l1=0.0, max_density_factor=100)
    _, short = finished(graph, train, structure_l1=0.0, max_density_factor=1.5)
    assert whole.floor == 0
    assert 0 < short.pairs.shape[1] < whole.pairs.shape[1]
    assert short.pairs.shape[1] <= short.limit == int(1.5 * len(short.weakening))
    for threshold in np.linspace(0, 0.99, 34):
        added, removed = whole.changes(threshold)
        if len(removed) - removed.sum() + added.sum() > short.limit:
            with pytest.raises(CellCalledOff, match="more than 94 edges"):
                short.changes(threshold)
        else:
            fewer, same = short.changes(threshold)
            assert fewer.sum() == added.sum()
            assert np.array_equal(same, removed)


def test_the_same_seed_leaves_the_same_file(graph, train, tmp_path):
    for name in "ab":
        debias(graph, train, SETTINGS, seed=1).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    rounds = []
    same = debias(
        graph, train, SETTINGS, 1, lambda number, losses: rounds.append(number)
    )
    assert rounds == [1, 2, 3]
    kept = Debiased.load(tmp_path / "a")
    assert all(
        np.array_equal(value, getattr(same, name)) for name, value in vars(kept).items()
    )


def test_without_changes_it_is_gat(graph, train, tmp_path):
    _, result = finished(graph, train)
    result.save(tmp_path / "debiased.npz")
    settings = methods.settings("edits", {"threshold": 1.0, "dropped_features": 0})
    split = splits.make(graph, "node_classification", Splits(), 0, "test", 0)
    fair = training.build(
        "edits", settings, graph, split, NODE, 0, tmp_path / "debiased.npz"
    )
    assert_train_alike(fair, make("gat", graph))


def test_a_run_that_is_called_off_names_its_cell(graph, train, tmp_path):
    debiased = tmp_path / "debiased.npz"
    finished(graph, train, structure_l1=0.0, max_density_factor=1.5)[1].save(debiased)
    cell = Run("node_classification", "test", "edits", "threshold~0.001", 0)
    settings = {"threshold": 0.001}
    record = run_job(
        tmp_path,
        "run",
        "edits",
        graph=graph,
        job=cell,
        settings=settings,
        debiased=debiased,
    )
    assert record.failure.startswith("threshold~0.001: ") and not record.epochs


@pytest.mark.parametrize("size", [1, 64, 65, 200, 300])
def test_a_matrix_of_several_tiles_is_symmetrised(size):
    matrix = np.random.default_rng(0).random((size, size), np.float32)
    expected = (matrix + matrix.T) / 2
    kernels.symmetrise(matrix)
    np.testing.assert_array_equal(matrix, expected)
