import pytest
from obtain import graph_of
from own_tables import EDGES, NODES, OPTIONS


@pytest.fixture
def make(tmp_path):
    """The graph of two tables, with these options."""

    def run(people=NODES, links=EDGES, **options):
        return graph_of(tmp_path, people, links, **OPTIONS | options)

    return run
