"""EDITS (Dong et al., 2022): a debiased graph, and a plain GAT trained on it.

Look first at `method.py`, the row of the tables. `fit.py` debiases, with the loops of
`kernels.py`; `result.py` is what it leaves, from which the graph at any threshold
follows.
"""
