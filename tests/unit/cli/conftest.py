"""A folder with a configuration, in which commands run."""

import pytest

from fairgat.cli import main as cli

CONFIG = """
datasets:
  demo-social: {task: node_classification, options: {nodes: 300}}
  demo-citation: {task: link_prediction, options: {nodes: 200}}
  mine:
    task: node_classification
    source: tables
    options:
      nodes: nodes.csv
      edges: edges.csv
      id: person
      label: employed
      sensitive: gender
splits: {count: 1}
training:
  node_classification: {epochs: 20, hidden: 8}
  link_prediction: {epochs: 4, hidden: 8}
methods:
  gat: {tasks: [node_classification, link_prediction]}
  again: {module: gat, title: Again, tasks: [node_classification], seed: 1}
  fairgat: {tasks: [node_classification], grid: {eta: [0.75, 1.0]}}
  edits:
    tasks: [node_classification]
    debiased: true
    settings: {threshold: 0.2, debias: {epochs: 2}}
  mlp: {tasks: [node_classification]}
  thresholds: {tasks: [node_classification]}
  other: {tasks: [node_classification], module: fairgat, settings: {eta: 0.5}}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path


@pytest.fixture
def refused(capsys):
    """Run a command that ends with an error, and give what it says."""

    def run(*command, status=1):
        assert cli.main([*map(str, command)]) == status
        return capsys.readouterr().err

    return run


@pytest.fixture
def write_tables(project):
    """Write the data set `mine`: rows of person, age, employed and gender.

    Each person knows the next.
    """

    def write(rows):
        nodes = ["person,age,employed,gender", *rows]
        edges = ["from,to", *(f"p{i},p{i + 1}" for i in range(len(rows) - 1))]
        (project / "nodes.csv").write_text("\n".join(nodes))
        (project / "edges.csv").write_text("\n".join(edges))

    return write
