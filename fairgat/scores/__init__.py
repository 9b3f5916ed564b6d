"""Scores of training runs.

Predictions → a tidy table → a cell for each method → means over the splits.

`runs` judges the runs and reads and writes the tidy table, `selection` chooses cells by
validation scores, `summary` averages over the splits, `paired` and `compare` compare
runs split by split, `regrouped` judges by other groups. Start with `runs`.
"""
