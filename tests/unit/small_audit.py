"""Hand-made results for the tests of the audit."""

import pandas as pd

from fairgat.audit import results
from fairgat.config.protocol import Margins
from fairgat.scores import selection
from fairgat.scores.summary import WINNERS

MARGINS = Margins(accuracy=0.01, fairness=0.02)
COLUMNS = [name for name in WINNERS if not name.startswith("paper_")]


def summary(rows, rules=selection.RULES, protocol="", n_splits=5):
    """Give (dataset, method, metric, mean, std) in percent as winners.csv has it.

    They are the same under every rule, and all of the cell c.
    """
    winners = []
    for rule in rules:
        for dataset, method, metric, mean, std in rows:
            run = (rule, protocol, dataset, method, "c", metric)
            winners.append((*run, mean / 100, std / 100, n_splits))
    return pd.DataFrame(winners, columns=COLUMNS)


def published(table):
    """List what one of the paper's tables prints, as `summary` takes it."""
    rows = []
    for key, result in results.papers(table).items():
        rows.append((*key, result.mean, result.std))
    return rows
