"""What a run of the workflow says while it goes on."""

import logging
from enum import Enum

import pytest

from fairgat.progress import LINES, Lines, changed, renewed

Event = Enum("Event", ["JOB_INFO", "JOB_ERROR", "JOB_FINISHED", "PROGRESS"])


@pytest.fixture
def heard():
    """A logger as Snakemake's, and the texts that it was given."""
    logger = logging.Logger("snakemake")
    texts = []

    class Texts(logging.Handler):
        def emit(self, record):
            if not hasattr(record, "event"):
                texts.append(record.getMessage())

    logger.addHandler(Texts())
    return logger, texts


def tell(logger, event, **about):
    logger.info(None, extra={"event": Event[event], **about})


def test_a_line_every_so_many_jobs(heard):
    logger, texts = heard
    logger.addHandler(Lines(logger, terminal=False))
    for done in range(1, 1001):
        tell(logger, "PROGRESS", done=done, total=1000)
    assert texts[0] == "1 of 1000 jobs done after 0 min"
    assert len(texts) == LINES


def test_failures_are_counted_at_once_and_tries_that_end_well_are_none(heard):
    logger, texts = heard
    logger.addHandler(Lines(logger, terminal=False))
    tell(logger, "PROGRESS", done=1, total=100)
    tell(logger, "JOB_ERROR", jobid=7)
    tell(logger, "JOB_ERROR", jobid=8)
    assert texts[-1] == "1 of 100 jobs done after 0 min, 2 failed"
    tell(logger, "JOB_FINISHED", job_id=7)
    tell(logger, "PROGRESS", done=99, total=100)
    assert texts[-1] == "99 of 100 jobs done after 0 min, 1 failed"


def test_bars_and_a_line_for_each_job_need_no_others(heard):
    logger, texts = heard
    logger.addHandler(Lines(logger, terminal=True))
    tell(logger, "PROGRESS", done=1, total=1)
    logger.handlers.pop()
    standard = logging.NullHandler()
    standard.name = "DefaultStreamHandler"
    logger.addHandler(standard)
    logger.addHandler(Lines(logger, terminal=False))
    tell(logger, "PROGRESS", done=1, total=1)
    assert texts == []


def params(before, now):
    """Snakemake's reason where params of a job are others, as it writes it."""
    return (
        "Params have changed since last execution: Union of exclusive params before "
        f"and now across all output: before: {','.join(map(repr, before))} "
        f"now: {','.join(map(repr, now))} "
    )


OPTIONS = {"task": "node_classification", "options": {"label": "hired", "id": "p"}}
OTHERS = {"task": "node_classification", "options": {"label": "paid", "id": "p"}}


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ([OPTIONS], [OTHERS], "options.label has changed"),
        (["a" * 64], ["b" * 64], "the code has changed"),
        ([{"a": 1, "b": 2}], [{"a": 2}], "a and b have changed"),
        (
            [{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}],
            [{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2}],
            "a, b, c and 2 more have changed",
        ),
        ([0], [7], "a setting (now 7) has changed"),
        (
            [[f"my/nodes.csv {'a' * 64}"]],
            [[f"my/nodes.csv {'b' * 64}"]],
            "my/nodes.csv has changed",
        ),
        (["a, now: c"], ["a"], "its settings have changed"),
    ],
)
def test_what_has_changed_is_named(before, now, said):
    assert changed(params(before, now)) == said


def test_other_reasons():
    nothing = "before: <nothing exclusive> now: <nothing exclusive>"
    text = params([], []).partition("before: ")[0] + nothing
    assert changed(text) == "its settings have changed"
    assert changed("Missing output files: x; " + params([1], [2])) == ""
    assert changed("Forced execution") == renewed("Forced execution") == ""
    graph = "Input files updated by another job: results/data/graphs/own.npz, x.npz"
    assert renewed(graph) == "the graph is made again"
    elsewhere = graph.replace("results", "my results, 2")
    assert renewed(f"{elsewhere}; Code has changed") == "the graph is made again"
    assert renewed("Missing output files: y; " + graph) == ""


def test_a_reason_is_told_once(heard):
    logger, texts = heard
    logger.addHandler(Lines(logger, terminal=True))
    reason = params([OPTIONS], [OTHERS])
    graph = "Input files updated by another job: results/data/graphs/own.npz"
    for split in range(3):
        about = {"reason": graph, "rule_msg": f"Train gat on own, split {split}"}
        tell(logger, "JOB_INFO", rule_name="train", **about)
    tell(logger, "JOB_INFO", rule_name="table", reason=graph, rule_msg="Render it")
    tell(logger, "JOB_INFO", rule_name="download", reason=reason, rule_msg=None)
    assert texts == [
        "Again, as the graph is made again: Train gat on own, split 0",
        "Again, as options.label has changed: rule download",
    ]
