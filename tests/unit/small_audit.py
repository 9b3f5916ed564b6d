"""Hand-made results for the tests of the audit."""

import pandas as pd

from fairgat.audit import results
from fairgat.config.protocol import Margins
from fairgat.scores import selection

MARGINS = Margins(accuracy=0.01, fairness=0.02)


def summary(rows, rules=selection.RULES, protocol=""):
    """(dataset, method, metric, mean, std) in percent, the same under every rule, as winners.csv has it."""
    columns = [
        "rule",
        "protocol",
        "dataset",
        "method",
        "cell",
        "metric",
        "mean",
        "std",
        "n_splits",
    ]
    found = [
        (rule, protocol, d, m, "c", k, mean / 100, std / 100, 5)
        for rule in rules
        for d, m, k, mean, std in rows
    ]
    return pd.DataFrame(found, columns=columns)


def published(*tables):
    return [
        (*key, both.mean, both.std)
        for table in tables
        for key, both in results.papers(table).items()
    ]
