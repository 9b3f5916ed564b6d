"""Scores of training runs: one metrics.json each → a tidy table → a cell for each method → means over the splits.

`runs` reads metrics.json (nothing else does) and every CSV made from it, `selection` chooses cells by validation
scores, `summary` averages over the splits, `paired` compares runs split by split. Start with `runs`.
"""
