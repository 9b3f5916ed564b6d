"""What failed, in words."""

from fairgat.report.failures import numbered, of_selection


def selection(failed, cells=1, winner="a~1", **more):
    """A selection of cells that ran on five splits, of which these failed."""
    keys = ("cell", "split", "reason")
    return {
        "winner": winner,
        "failed": [dict(zip(keys, entry, strict=True)) for entry in failed],
        "cells": [{"n_splits": 5}] * cells,
    } | more


def test_nothing_is_said_where_nothing_failed():
    assert of_selection(selection([])) == ""


def test_cells_that_failed_on_every_split_for_one_reason_are_named_together():
    failed = []
    for cell in ("a~1", "a~2"):
        for split in range(5):
            failed.append((cell, split, "it diverged."))

    text = of_selection(selection(failed, cells=3, winner="a~3"))

    assert text == "2 of 3 cells failed on every split (a 1, 2: it diverged)"


def test_each_reason_has_its_splits_and_loses_the_name_of_its_cell():
    failed = [("a~1", 3, "a~1: no memory."), ("a~2", 0, "no"), ("a~2", 1, "no")]

    text = of_selection(selection(failed, cells=3))

    phrases = "a 1, split 3: no memory; a 2, splits 0 and 1: no"
    assert text == f"2 of 3 cells failed ({phrases})"


def test_of_many_reasons_the_first_three_are_said_and_the_others_counted():
    failed = [(f"a~{n}", 0, f"reason {n}") for n in range(5)]

    text = of_selection(selection(failed, cells=6))

    assert text.endswith("; a 2, split 0: reason 2; and 2 more)")
    three = of_selection(selection(failed[:3], cells=6))
    assert three.endswith("; a 2, split 0: reason 2)")


def test_why_no_cell_was_chosen_comes_first():
    failed = [("a~1", split, "no") for split in range(5)]
    winners = {"fair": {"reason": "no cell finished"}}

    text = of_selection(selection(failed, winner=None, winners=winners, rule="fair"))

    assert text == "no cell finished; 1 of 1 cells failed on every split (a 1: no)"


def test_splits_are_listed():
    assert numbered([3]) == "split 3"
    assert numbered([0, 1, 3]) == "splits 0, 1 and 3"
