"""Tasks: a graph, a split and the protocol come in; training data for a method and scores of its output go out.

Look first at `node.py` and `link.py`, then at `metrics.py`, which measures accuracy and fairness. `base.py` is what
both tasks share.
"""
