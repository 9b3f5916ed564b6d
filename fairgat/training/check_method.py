"""Check a method of one's own: what would go wrong without a word is said.

Each check trains for a few epochs on a small generated graph, and compares what must be
the same. A class is checked for each task that the file has one for.
"""

import random
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fairgat import methods
from fairgat.by_path import plain
from fairgat.config import TASKS, Model, Splits, Task
from fairgat.data import splits
from fairgat.data.graph import Graph, sort_edges, symmetrise
from fairgat.data.sources import synthetic
from fairgat.errors import ConfigError, FairGATError, NotDefined
from fairgat.methods.base import Method
from fairgat.methods.edits.fit import Debias, debias
from fairgat.training import job
from fairgat.training.loop import Fit, fit

NODES = 120
EPOCHS = 4
WIDTH = 8
Split = dict[str, np.ndarray]


@dataclass(frozen=True)
class Trained:
    """A method after `EPOCHS` epochs, in the numbering of its task."""

    method: Method
    fit: Fit
    initial: Mapping[str, Tensor]
    """Its parameters before the first epoch."""
    uses_randomness: bool
    """Whether training drew random numbers of PyTorch."""
    output: Tensor
    """Of a pass in evaluation after the last epoch."""

    @property
    def in_order(self) -> Tensor:
        """The output, its nodes in the graph's order."""
        return self.output[torch.from_numpy(self.method.task.rank)]


@dataclass(frozen=True)
class Subject:
    """A method's class for a task, and a graph and a split to try it on."""

    module: str
    task: Task
    settings: Model

    @cached_property
    def implementation(self) -> type[Method]:
        return methods.implementation(self.module, self.task)

    @cached_property
    def graph(self) -> Graph:
        options = synthetic.Options(nodes=NODES)
        return synthetic.load("demo-social", Path(), options, 0)

    @cached_property
    def split(self) -> Split:
        return splits.make(self.graph, self.task, Splits(), 0, "check", 0)

    @cached_property
    def trained(self) -> Trained:
        """The method trained on the graph, with which others are compared."""
        return self.train(self.graph, self.split)

    def train(self, graph: Graph, split: Split, foreign_seed: int = 0) -> Trained:
        """Train on a graph, and note whether PyTorch's random numbers were drawn from.

        Args:
            foreign_seed: of Python's and NumPy's generators, which the run's own seed
                does not decide.
        """
        with _random_numbers(foreign_seed):
            method = self.build(graph, split)
            initial = {name: each.clone() for name, each in parameters(method)}
            before = torch.get_rng_state()
            result = fit(method)
            uses_randomness = not torch.equal(before, torch.get_rng_state())
            output = method.forward().detach()
        return Trained(method, result, initial, uses_randomness, output)

    def build(self, graph: Graph, split: Split) -> Method:
        """Make the method, freshly initialised."""
        training = TASKS[self.task](epochs=EPOCHS, hidden=WIDTH, weight_decay=0)
        seed = 0
        arguments = (self.module, self.settings, graph, split, training, seed)
        if not self.implementation.needs_debiased:
            return job.build(*arguments)
        with tempfile.TemporaryDirectory(prefix="fairgat-") as folder:
            path = Path(folder, "debiased.npz")
            debias(graph, split["train"], Debias(epochs=2), 0).save(path)
            return job.build(*arguments, path)


@contextmanager
def _random_numbers(foreign_seed: int) -> Iterator[None]:
    """Seed the generators that a training may draw from; restore them afterwards."""
    # NumPy's old one, too: the run's own seed does not decide it.
    of_python = random.getstate()
    of_numpy = np.random.get_state()  # noqa: NPY002
    of_torch = torch.get_rng_state()
    random.seed(foreign_seed)
    np.random.seed(foreign_seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)  # noqa: NPY002
        torch.set_rng_state(of_torch)


def parameters(method: Method) -> Iterator[tuple[str, nn.Parameter]]:
    """Give the parameters of every network of a method that is meant to be trained."""
    for name, part in vars(method).items():
        if isinstance(part, nn.Module):
            for within, each in part.named_parameters():
                if each.requires_grad:
                    yield f"{name}.{within}", each


# --------------------------------------------------------------------------- the checks


def check_training(subject: Subject) -> None:
    """It trains, and its output has the right shape and is finite."""
    trained = subject.trained
    if not torch.isfinite(trained.output).all():
        raise ConfigError("its output is not finite")


def check_gradients(subject: Subject) -> None:
    """Training changes each of its parameters."""
    trained = subject.trained
    unchanged = []
    for name, parameter in parameters(trained.method):
        if torch.equal(parameter, trained.initial[name]):
            unchanged.append(f"self.{name}")
    if unchanged:
        verb = "is" if len(unchanged) == 1 else "are"
        raise ConfigError(
            f"after {EPOCHS} epochs {', '.join(unchanged)} {verb} as at the start: "
            "either the loss does not depend on it, no gradient gets there (.detach(), "
            "torch.no_grad(), a decision by > or argmax), or no optimizer has it. What "
            "is to stay has requires_grad_(False)"
        )


def check_seed(subject: Subject) -> None:
    """Two trainings with one seed give the same, to the last bit."""
    again = subject.train(subject.graph, subject.split, foreign_seed=1)
    if not _end_alike(subject.trained, again):
        raise ConfigError(
            "two trainings with the same seed differ: draw random numbers by PyTorch, "
            "whose seed is set, and not by numpy.random or random"
        )


def check_test(subject: Subject) -> None:
    """What is held out for the test changes nothing."""
    if not _end_alike(subject.trained, _trained_without(subject, "test")):
        raise ConfigError(f"it reads the {_held_out('test', subject.task)}")


def check_validation(subject: Subject) -> None:
    """What is held out for validation changes no weight.

    It chooses the epoch and, after training, may change its output.
    """
    other = _trained_without(subject, "validation")
    if not torch.equal(subject.trained.output, other.output):
        held_out = _held_out("validation", subject.task)
        raise ConfigError(f"it learns from the {held_out}")


def check_order(subject: Subject) -> None:
    """A node's output does not depend on where it stands in the data."""
    if subject.implementation.needs_debiased:
        return  # the debiasing may add other edges where roundings differ
    order = np.random.default_rng(0).permutation(NODES)
    rank = np.argsort(order)
    graph = subject.graph.permute(order)
    split = _renumbered(subject.split, rank)

    # The same weights on the renumbered graph.
    trained = subject.trained
    with _random_numbers(0):
        method = subject.build(graph, split)
        method.load(trained.method.model.state_dict())
        output = method.forward().detach()
    outputs = [output[torch.from_numpy(method.task.rank)]]
    if _draws_nothing(subject):  # a training on it ends alike, too
        outputs.append(subject.train(graph, split).in_order)

    expected = trained.in_order
    scale = float(expected.abs().max())
    for output in outputs:
        found = output[torch.from_numpy(rank)]
        if not torch.allclose(found, expected, rtol=1e-2, atol=1e-3 * scale):
            raise ConfigError(
                "its output for a node depends on where the node stands in the data: "
                "nodes are renumbered, so index an array that you bring as "
                "array[self.task.order]"
            )


def _draws_nothing(subject: Subject) -> bool:
    """Whether training has no random numbers that other nodes get in another order.

    Link prediction draws pairs, and a method that does more than `build` when it is
    made may draw nodes there.
    """
    if subject.task != "node_classification" or subject.trained.uses_randomness:
        return False
    return subject.implementation.__init__ is Method.__init__


def check_groups(subject: Subject) -> None:
    """It trains with three groups, too, or says that it is for two."""
    groups = np.random.default_rng(1).integers(3, size=NODES)
    names = tuple({"s": str(group)} for group in range(3))
    graph = replace(subject.graph, sensitive=groups, groups=names)
    split = splits.make(graph, subject.task, Splits(), 0, "check", 0)
    try:
        subject.train(graph, split)
    except NotDefined:
        return
    except Exception as error:
        raise ConfigError(
            f"with three groups it fails ({_explained(error, subject)}): where it is "
            'for two only, write `for_two_groups = "its name"` in the class'
        ) from None


CHECKS: Mapping[str, Callable[[Subject], None]] = {
    "it trains, and its output has the right shape": check_training,
    "training changes every parameter": check_gradients,
    "the same seed gives the same": check_seed,
    "the test part is not read": check_test,
    "nothing is learned from validation": check_validation,
    "the order of the nodes does not matter": check_order,
    "three groups are trained on, or refused": check_groups,
}


def check(path: str, options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Check each class of a method's module.

    Args:
        path: of its file, or the name of a module in the package.
        options: its settings, without which it has its defaults.

    Yields:
        What was checked, and what is wrong: a sentence, or nothing. After the first one
        that is wrong with its training no others follow for that task.

    Raises:
        ConfigError: there is no method to check.
    """
    module = methods.module(path)
    tasks = _tasks(module, path)
    try:
        settings = methods.settings(path, dict(options))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error} (give it by --set NAME=VALUE)") from None
    for task in tasks:
        subject = Subject(path, task, settings)
        for title, check_one in CHECKS.items():
            problem = _problem(check_one, subject)
            yield f"{task}: {title}", problem
            if problem and check_one is check_training:
                break


def _tasks(module: ModuleType, path: str) -> list[Task]:
    """List the tasks that a module has a class for."""
    tasks = []
    for task in TASKS:
        if hasattr(module, methods.class_name(task)):
            methods.implementation(path, task)  # which refuses what is no method
            tasks.append(task)
    if not tasks:
        raise ConfigError(
            f"{path} has neither a class NodeClassification nor LinkPrediction; see "
            "docs/extending.md"
        )
    return tasks


def _problem(check_one: Callable[[Subject], None], subject: Subject) -> str:
    """Say what a check finds wrong; nothing where it passes."""
    try:
        check_one(subject)
    except Exception as error:  # whatever a file of one's own raises
        return _explained(error, subject)
    return ""


def _explained(error: Exception, subject: Subject) -> str:
    """Put an error in words, with its place in the file if it is no message of ours."""
    if isinstance(error, FairGATError):
        return str(error)
    text = f"{type(error).__name__}: {plain(str(error))}"
    ours = methods.file_of(subject.module)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).name == Path(ours).name:
            return f"{text} (line {frame.lineno} of {ours}: {frame.line})"
    return text


def _end_alike(one: Trained, other: Trained) -> bool:
    """Whether two trainings ended alike, and all epochs that they report are alike."""
    pairs = [(one.output, other.output)]
    for protocol, epoch in one.fit.reported.items():
        pairs.append((epoch.output, other.fit.reported[protocol].output))
    return all(torch.equal(*pair) for pair in pairs)


def _trained_without(subject: Subject, part: str) -> Trained:
    """Train where a part that is held out is another one."""
    graph, split = _with_another(part, subject.graph, subject.split)
    return subject.train(graph, split)


def _held_out(part: str, task: Task) -> str:
    """Say what a part holds out, and what there is to learn from."""
    if TASKS[task].divides == "nodes":
        return f"labels of {part} nodes: learn from those of self.task.train only"
    return f"edges of the {part} part: learn from self.task.edge_index only"


def _with_another(part: str, graph: Graph, split: Split) -> tuple[Graph, Split]:
    """Give a part's nodes the other label, or exchange its edges and non-edges."""
    if part in split:
        labels = graph.labels.copy()
        labels[split[part]] = 1 - labels[split[part]]
        return replace(graph, labels=labels), split
    edges, non_edges = split[f"{part}_edges"], split[f"{part}_non_edges"]
    swapped = {**split, f"{part}_edges": non_edges, f"{part}_non_edges": edges}
    parts = [swapped[key] for key in swapped if not key.endswith("_non_edges")]
    all_edges = symmetrise(np.concatenate(parts, axis=1), graph.num_nodes)
    return graph.with_edges(all_edges), swapped


def _renumbered(split: Split, rank: np.ndarray) -> Split:
    """Give a split where node i has become node `rank[i]`."""
    parts = {}
    for name, nodes in split.items():
        parts[name] = rank[nodes]
        if name == "train_edges":
            parts[name] = sort_edges(parts[name])
        elif nodes.ndim == 1:
            parts[name].sort()
    return parts
