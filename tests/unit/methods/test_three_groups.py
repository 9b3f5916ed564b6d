"""Which methods train on three groups, and what the others say before they train."""

import numpy as np
import pytest
from dense import NODE, make, three_groups

from fairgat import methods
from fairgat.errors import NotDefined
from fairgat.training.job import fit

METHODS = [name for name in methods.names() if hasattr(methods.module(name), "NodeClassification")]
FOR_TWO = {"a_fame": "A-FAME", "bemap": "BeMap", "fairgb": "FairGB", "edits": "EDITS"}


@pytest.mark.parametrize("module", METHODS)
def test_it_trains_or_says_why_not(module):
    if module in FOR_TWO:
        with pytest.raises(NotDefined, match=f"{FOR_TWO[module]}.* for two sensitive groups"):
            make(module, three_groups())
        return
    method = make(module, three_groups())
    result = fit(method)
    scores = method.task.evaluate(result.kept[""].output)["test"]
    assert {f"accuracy_{group}" for group in range(3)} <= set(scores)
    assert len(result.history) == NODE.epochs and np.isfinite([row["loss"] for row in result.history[1:]]).all()
