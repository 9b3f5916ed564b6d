"""The measurement of every method's epoch."""

import pytest
from dense import small_graph, write_graph

from fairgat import config
from fairgat.config import NodeTraining, Runtime
from fairgat.errors import CellCalledOff, NotDefined
from fairgat.methods import gat
from fairgat.training import timing

TOO_DENSE = "threshold~0.1: too dense"


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """GAT under three names: as it is, with a first cell that is called off, and with no other."""
    graph, (split,) = write_graph(tmp_path, small_graph(nodes=60, edges=200))

    class Settings(gat.Settings):
        threshold: float = 0.0

    def prepare(graph, settings, debiased):
        if settings.threshold == 0.1:
            raise CellCalledOff(TOO_DENSE)
        if settings.threshold == 0.2:
            raise NotDefined("three groups")
        return graph

    monkeypatch.setattr(gat, "Settings", Settings)
    monkeypatch.setattr(gat.NodeClassification, "prepare", prepare)
    cells = {"threshold~0.1": {"threshold": 0.1}, "threshold~0.3": {"threshold": 0.3}}
    entries = {
        "gat": {"module": "gat", "cells": {"default": {}}},
        "edits": {"module": "gat", "cells": cells},
        "nifty": {"module": "gat", "cells": {"threshold~0.1": {"threshold": 0.1}}},
        "fairgnn": {"module": "gat", "cells": {"default": {"threshold": 0.2}}},
    }
    protocol = NodeTraining(epochs=1, hidden=8).model_dump()
    return timing.measure("recidivism", graph, split, entries, protocol, Runtime(warmup=1, epochs=2, threads=1), 0)


def test_the_first_cell_that_trains_is_timed(measured):
    assert measured["cells"] == {"gat": "default", "edits": "threshold~0.3"}
    assert measured["failures"] == {"edits": TOO_DENSE, "nifty": TOO_DENSE, "fairgnn": "three groups"}
    assert {name: len(seconds) for name, seconds in measured["epoch_seconds"].items()} == {"gat": 2, "edits": 2}


def test_the_published_cell_is_timed_first_and_others_only_where_it_may_be_called_off():
    settings = config.load_files("config.yaml")
    assert next(iter(settings.cells_to_time("edits", "pokec-n")["cells"])) == "threshold~0.05"
    assert list(settings.cells_to_time("edits", "pokec-n-structural")["cells"]) == [
        f"threshold~{value}" for value in (0.001, 0.01, 0.05, 0.3)
    ]
    assert list(settings.cells_to_time("nifty", "pokec-n")["cells"]) == ["similarity_weight~0.5"]
