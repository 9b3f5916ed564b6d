"""What failed, in words."""

from fairgat.report.failures import of_selection


def test_failures_in_words():
    because = {f"x~{cell}": f"x~{cell}: because {cell}." for cell in range(5)}
    lost = [
        {"cell": cell, "split": k, "reason": reason}
        for cell, reason in because.items()
        for k in (0, 1, 3)
    ]
    text = of_selection(
        {"winner": "x~5", "failed": lost, "cells": [{"n_splits": 5}] * 6}
    )
    assert text.startswith(
        "5 of 6 cells failed (x 0, splits 0, 1 and 3: because 0; x 1, "
    )
    assert text.endswith("and 2 more)")
