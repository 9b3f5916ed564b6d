import pandas as pd
import pytest

from fairgat.cli import main as cli
from fairgat.reporting import audit, headline, paper
from fairgat.scores import selection


@pytest.fixture
def by_rule():
    """The paper's own GAT rows as if they were ours, under every rule."""
    rows = [
        (rule, dataset, "gat", metric, value.mean / 100, value.std / 100, 5)
        for rule in selection.RULES
        for dataset, methods in paper.load()["comparison"].items()
        for metric, value in methods["gat"].items()
    ]
    return pd.DataFrame(rows, columns=["rule", "dataset", "method", "metric", "mean", "std", "n_splits"])


@pytest.fixture
def frame(by_rule):
    return audit.compare(paper.load(), by_rule, selection.RULES)


@pytest.fixture
def counts(frame, by_rule):
    return headline.counts(frame, by_rule, {}, selection.RULES)


def test_every_number_and_claim_is_counted_once(counts):
    sums = counts.groupby(["about", "rule"])["count"].sum()
    assert (sums["numbers"] == len(audit.published_entries(paper.load()))).all()
    assert (sums["claims"] == 8).all()


def test_the_headline_names_what_was_found(counts):
    text = headline.sentences(counts, "fair")
    assert "9 reproduced" in text
    assert "not run" in text
    assert "Of the paper's 8 claims" in text


def test_the_headline_says_what_reproduced_means(frame):
    found = frame[(frame["rule"] == "fair") & (frame["verdict"] == "reproduced")]
    half = (found["ci_high"] - found["difference"]).median()
    assert f"{half:.2g} percentage points" in headline.meaning(frame, "fair")
    assert "and 0 of the 9 would count" in headline.meaning(frame, "fair")
    assert headline.meaning(frame[:0], "fair").endswith("none.")


def test_the_headline_counts_what_the_correction_alone_keeps_reproduced(frame):
    frame.loc[(frame["rule"] == "fair") & (frame["metric"] == "accuracy") & frame["p"].notna(), "p"] = 0.01
    assert "and 3 of the 9 would count" in headline.meaning(frame, "fair")


def test_audit_prints_headline_counts_and_paths(counts, tmp_path, capsys):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit/headline.txt").write_text(headline.sentences(counts, "fair") + "\n")
    counts.to_csv(tmp_path / "audit/counts.csv", index=False)
    assert cli.main(["audit", "--results-dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "9 reproduced" in said
    assert "supported where run" in said
    assert str(tmp_path / "audit/claims.md") in said


def test_audit_without_results_says_what_to_do(tmp_path, capsys):
    assert cli.main(["audit", "--results-dir", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "holds no audit" in said
    assert "snakemake" in said


def test_audit_of_a_damaged_file_names_it(tmp_path, capsys):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit/headline.txt").write_text("fine\n")
    (tmp_path / "audit/counts.csv").write_text("a,b\n1,2\n")
    assert cli.main(["audit", "--results-dir", str(tmp_path)]) == 1
    assert "counts.csv is damaged" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_named(tmp_path, capsys):
    (tmp_path / "README.md").write_text("")
    assert cli.main(["audit", "--results-dir", str(tmp_path / "README.md")]) == 1
    assert "README.md cannot be read: Not a directory" in capsys.readouterr().err
