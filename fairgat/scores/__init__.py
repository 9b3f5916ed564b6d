"""Scores of training runs.

Predictions → a tidy table → a cell for each method → means over the splits.

`judging` judges runs, `runs` reads the tidy table of their scores, `selection` chooses
cells by validation scores, `summary` averages over the splits, `paired` and `compare`
compare runs split by split, `regrouped` judges by other groups. Start with `runs`.
"""
