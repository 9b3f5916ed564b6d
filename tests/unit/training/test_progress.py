"""What a training says while it runs."""

import time

import pytest

from fairgat.training.progress import log_lines


@pytest.fixture
def said(capsys, monkeypatch):
    """Report so many epochs, each 10 ms after the one before; give the lines."""

    def report(epochs):
        say = log_lines(epochs)
        for epoch in range(1, epochs + 1):
            now = 5 + 0.01 * epoch
            monkeypatch.setattr(time, "perf_counter", lambda now=now: now)
            say(epoch, {"epoch": epoch, "loss": 0.5, "validation_accuracy": 0.25})
        return capsys.readouterr().out.splitlines()

    return report


def test_there_are_about_twenty_lines_and_the_last_epoch_is_one(said):
    shown = [int(line.split("/")[0].removeprefix("epoch")) for line in said(101)]

    assert shown == [*range(5, 101, 5), 101]


def test_of_few_epochs_each_has_a_line(said):
    assert len(said(7)) == 7


def test_a_line_has_scores_and_the_pace_since_the_first_epoch(said):
    first, *_, last = said(10)

    assert first == "epoch  1/10  loss 0.5000  accuracy 0.2500"
    assert last == "epoch 10/10  loss 0.5000  accuracy 0.2500  10.0 ms/epoch"
