"""Measures: predictions, a graph and a split come in, scores go out.

Look first at `registry.py`, which lists every measure with its labels and uses; `metrics.py` computes accuracy and
fairness from decisions, `parity.py` splits a gap in two parts. NumPy only, because the rules import it.
"""

from fairgat.measures.registry import (
    ACCURACY,
    AUC,
    MEASURES,
    MORE_GROUPS,
    NUMBER,
    PERCENT,
    Measure,
    Role,
    Unit,
    check,
    compute,
    find,
    is_declared,
    names,
    of_task,
    utility,
)
