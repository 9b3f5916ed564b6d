"""Scores of training runs: predictions → a tidy table → a cell for each method → means over the splits.

`runs` judges the runs and reads and writes the tidy table, `selection` chooses cells by validation scores, `summary`
averages over the splits, `paired` compares runs split by split, `regrouped` judges by other groups. Start with `runs`.
"""
