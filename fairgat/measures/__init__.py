"""Measures: predictions, a graph and a split come in, scores go out.

Look first at `registry.py`, which lists every measure (`measure.py`) with its labels
and uses, then at `judge.py`, which turns an epoch's predictions into decisions and
measures them. `metrics.py` computes accuracy and fairness of decisions, `parity.py`
splits a gap in two parts. The rules import this room: it imports neither PyTorch nor
pandas.
"""

from fairgat.measures.judge import Kind, Scores, as_logits, judge, judge_people
from fairgat.measures.measure import NUMBER, PERCENT, Measure, Role, Unit
from fairgat.measures.metrics import Decisions
from fairgat.measures.registry import (
    ACCURACY,
    AUC,
    MEASURES,
    MORE_GROUPS,
    POSITIVE_RATE,
    adopt,
    columns,
    compute,
    find,
    names,
    of_task,
    utility,
)
