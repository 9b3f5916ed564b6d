"""`fairgat check-method`: the house's methods pass; what goes wrong quietly is said."""

import re
import textwrap
from pathlib import Path

import pytest

from fairgat.by_path import name_of
from fairgat.cli import main as cli
from fairgat.errors import ConfigError
from fairgat.plan import method_modules
from fairgat.training.check_method import check

BEYOND = Path(__file__).parents[3] / "beyond" / "methods"
SETTINGS = {
    "edits": {"threshold": 0.5},
    "fairgnn": {"estimator_epochs": 5},
}


def _methods():
    yield from method_modules()
    for path in sorted(BEYOND.glob("*.py")):
        if "\nclass NodeClassification" in path.read_text(encoding="utf-8"):
            yield str(path)


@pytest.mark.parametrize("module", _methods(), ids=name_of)
def test_the_methods_of_the_house(module):
    found = list(check(module, SETTINGS.get(name_of(module), {})))
    assert [said for said in found if said[1]] == []
    assert len(found) in (7, 14)


SAGE = '''
import numpy as np
import torch
from torch import nn
from torch_geometric.nn import SAGEConv

from fairgat.config import Model
from fairgat.methods.base import NodeMethod


class Settings(Model):
    """None."""


class NodeClassification(NodeMethod):
    def build(self):
        features, hidden = self.task.graph.num_features, self.task.training.hidden
        return nn.ModuleList([SAGEConv(features, hidden), nn.Linear(hidden, 1)])

    def embed(self):
        conv, linear = self.model
        h = conv(self.task.features, self.task.edge_index).relu()
        return linear(h).squeeze(1)
'''


@pytest.fixture
def checked(tmp_path):
    """Write a method, with a passage replaced and others added, and check it."""

    def check_text(old="", new="", more=""):
        assert old in SAGE
        number = len(list(tmp_path.iterdir()))  # a file is imported once
        path = tmp_path / f"mine{number}.py"
        text = SAGE.replace(old, new) if old else SAGE
        path.write_text(text + textwrap.indent(textwrap.dedent(more), "    "))
        found = check(str(path), {})
        return {what.partition(": ")[2]: wrong for what, wrong in found if wrong}

    return check_text


def test_a_method_of_ones_own(checked):
    assert checked() == {}


def test_an_output_of_another_shape(checked):
    (said,) = checked(".squeeze(1)", "").values()
    assert "output must have shape (N,) with N = 120, got (120, 1)" in said
    assert re.match(r"\S+/mine0\.py: the network's output", said)


def test_a_layer_that_nothing_trains(checked):
    more = """
    def build(self):
        convs = NodeClassification.of_sage(self)
        convs.append(nn.Linear(3, 3))
        return convs

    def embed(self):
        conv, linear, _ = self.model
        h = conv(self.task.features, self.task.edge_index).relu()
        return linear(h).squeeze(1)
    """
    found = checked("def build", "def of_sage", more)
    (said,) = found.values()
    assert "self.model.2.weight, self.model.2.bias are as at the start" in said


def test_a_gradient_that_is_cut(checked):
    (said,) = checked(".relu()", ".relu().detach()").values()
    assert "self.model.0.lin_l.weight" in said
    assert "self.model.1.weight" not in said


def test_random_numbers_that_no_seed_decides(checked):
    more = """
    def loss(self, output):
        return super().loss(output * np.random.uniform(0.5, 1.5))
    """
    found = checked(more=more)
    assert list(found) == ["the same seed gives the same"]
    assert "not by numpy.random" in found["the same seed gives the same"]


def test_labels_of_the_test(checked):
    more = """
    def loss(self, output):
        every = torch.from_numpy(self.task.graph.labels).float()
        return nn.functional.binary_cross_entropy_with_logits(output, every)
    """
    found = checked(more=more)
    assert found == {
        "the test part is not read": "it reads the labels of test nodes: learn from "
        "those of self.task.train only",
        "nothing is learned from validation": "it learns from the labels of validation "
        "nodes: learn from those of self.task.train only",
    }


def test_labels_of_the_validation(checked):
    """Their nodes choose the epoch and the cell, and are no further training nodes."""
    more = """
    def loss(self, output):
        nodes = torch.from_numpy(self.task.validation)
        labels = torch.from_numpy(self.task.graph.labels).float()[nodes]
        bce = nn.functional.binary_cross_entropy_with_logits
        return super().loss(output) + bce(output[nodes], labels)
    """
    found = checked(more=more)
    assert found == {
        "nothing is learned from validation": "it learns from the labels of validation "
        "nodes: learn from those of self.task.train only"
    }


def test_an_array_in_the_order_of_the_data(checked):
    more = """
    @classmethod
    def prepare(cls, graph, settings, debiased):
        cls.degree = np.bincount(graph.edge_index[0], minlength=graph.num_nodes)
        return graph

    def embed(self):
        conv, linear = self.model
        degree = torch.from_numpy(self.degree).float()  # lacks [self.task.order]
        h = conv(self.task.features, self.task.edge_index).relu()
        return linear(h).squeeze(1) * degree
    """
    (said,) = checked("def embed", "def of_sage", more).values()
    assert "array[self.task.order]" in said
    right = more.replace("self.degree)", "self.degree[self.task.order])")
    assert checked("def embed", "def of_sage", right) == {}


def test_a_method_that_is_quietly_for_two_groups(checked):
    more = """
    def loss(self, output):
        per_group = torch.zeros(2).index_add(0, self.task.sensitive, output)
        return super().loss(output) + (per_group[0] - per_group[1]).abs()
    """
    (said,) = checked(more=more).values()
    assert said.startswith("with three groups it fails (")
    assert "of " in said and "mine0.py" in said
    assert checked(more='for_two_groups = "Mine"\n' + textwrap.dedent(more)) == {}


def test_an_error_in_the_file_is_told_with_its_line(checked):
    (said,) = checked("conv, linear =", "conv, linear, other =").values()
    assert said.startswith("ValueError: not enough values to unpack")
    assert "line 21 of" in said and "mine0.py: conv, linear, other = self.model" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("class Settings(Model):", "class Other(Model):", "has no class Settings"),
        ("class Settings(Model):", "class Settings:", "write `class Settings(Model):`"),
        ("class NodeClassification", "class Mine", "has neither a class"),
        (
            "class NodeClassification(NodeMethod)",
            "class NodeClassification(nn.Module)",
            "write `class NodeClassification(NodeMethod):`",
        ),
        ("import torch\n", "import torch_\n", "No module named 'torch_'"),
        ('"""None."""', "limit: float", "limit: this key is missing"),
    ],
)
def test_a_file_that_is_no_method(checked, old, new, said):
    with pytest.raises(ConfigError) as error:
        checked(old, new)
    assert said in str(error.value)


def test_the_command(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(SAGE.replace('"""None."""', "rate: float"))
    assert cli.main(["check-method", str(path), "--set", "rate=0.5"]) == 0
    assert capsys.readouterr().out.count("right  node_classification: ") == 7
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SAGE.replace(".squeeze(1)", ""))
    assert cli.main(["check-method", str(wrong)]) == 1
    assert "wrong  node_classification: it trains" in capsys.readouterr().out
    assert cli.main(["check-method", str(path), "--set", "rate"]) == 1
    assert "--set takes NAME=VALUE" in capsys.readouterr().err
    assert cli.main(["check-method", str(tmp_path / "none.py")]) == 1
    assert "there is no file" in capsys.readouterr().err
