"""`fairgat explain`: numbers that add up for every kind of run, and errors in words."""

import json
import re

import pytest

from fairgat.cli import main as cli


@pytest.fixture
def explained(project, capsys):
    """Trains a method and explains it; gives the lines, and the metrics.json of the run."""

    def train(dataset, method):
        assert cli.main(["train", "--dataset", dataset, "--method", method, "--quiet"]) == 0
        capsys.readouterr()
        (metrics,) = project.glob(f"by-hand/runs/*/{dataset}/{method}/default/split-0/metrics.json")
        status = cli.main(["explain", str(metrics.parent)])
        printed = capsys.readouterr()
        return (printed.err if status else printed.out.splitlines()), metrics

    return train


def numbers(text):
    return [float(number) for number in re.findall(r"[+-]?\d+\.\d+", text)]


@pytest.mark.parametrize("method", ["gat", "other", "edits"])
def test_the_numbers_of_the_five_lines_add_up(explained, method):
    lines, metrics = explained("demo-social", method)
    assert [line[:2] for line in lines[1:]] == ["1.", "2.", "3.", "4.", "5."]
    test = json.loads(metrics.read_text())["protocols"][""]["test"]
    ours, theirs, gap, true = numbers(lines[1][2:])
    assert [ours, theirs] == pytest.approx([100 * test[f"positive_rate_{s}"] for s in (1, 0)], abs=0.06)
    assert [abs(gap), abs(true)] == pytest.approx(
        [100 * test["statistical_parity"], 100 * test["equal_opportunity"]], abs=0.06
    )
    labels, *_, errors = numbers(lines[2][2:])
    assert labels + errors == pytest.approx(gap, abs=0.16)
    for whole, *parts in (numbers(lines[3][2:])[:5], numbers(lines[3][2:])[5:]):
        assert len(parts) == 4 and sum(parts) == pytest.approx(whole, abs=0.03)


def test_a_network_without_attention_has_its_predictions_explained(explained):
    lines, _ = explained("demo-social", "mlp")
    assert len(lines) == 4 and "no account" in lines[-1]


def test_thresholds_are_told_from_the_logits(explained):
    lines, _ = explained("demo-social", "thresholds")
    assert len(lines) == 7 and "before its method changes them" in lines[3]


def test_three_groups(explained, write_tables):
    write_tables([f"p{i},{i},{i * 7 % 3 % 2},{'abc'[i // 2 % 3]}" for i in range(90)])
    lines, _ = explained("mine", "gat")
    assert len(lines) == 5 and "all others" in lines[1]


def test_what_cannot_be_explained_is_said(explained, refused):
    error, _ = explained("demo-citation", "gat")
    assert "this is a run of link_prediction" in error
    _, metrics = explained("demo-social", "other")
    content = json.loads(metrics.read_text())
    metrics.write_text(json.dumps({key: value for key, value in content.items() if key != "module"}))  # 0.2's
    assert "of an earlier version, without module" in refused("explain", metrics.parent)
    metrics.write_text(json.dumps(content | {"failure": "it diverged"}))
    assert "it diverged" in refused("explain", metrics.parent)
    metrics.write_text(json.dumps(content))
    (metrics.parent / "model.npz").unlink()
    assert "model.npz does not exist" in refused("explain", metrics.parent)
