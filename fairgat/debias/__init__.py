"""EDITS's debiasing (Dong et al., 2022): features and edges changed, before training, until groups look alike.

`settings` what can be set, `fit` the optimisation over a dense adjacency matrix, `kernels` its passes over that matrix,
`result` the file it leaves and the graph at a threshold, `bias` the distances between groups before and after.
After yushundong/EDITS, `model.py`, `train.py` and `metrics.py`.
"""
