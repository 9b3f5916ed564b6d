"""paper.yaml against the paper's LaTeX source, number by number."""

import os
import re
from pathlib import Path

import pytest

from fairgat import paper
from fairgat.config import load_files

SOURCE = Path(
    os.environ.get("FAIRGAT_PAPER")
    or Path(__file__).resolve().parents[4] / "shared" / "paper" / "fairgat.tex"
)
METHODS = {
    "GAT": "gat",
    "FairGNN": "fairgnn",
    "EDITS": "edits",
    "NIFTY": "nifty",
    "FairGAT": "fairgat",
    "FairDrop": "fairdrop",
    r"Steps 1\&2": "fairgat-steps-12",
    r"Steps 1\&3": "fairgat-steps-13",
    r"Steps 2\&3": "fairgat-steps-23",
}
DATASETS = "Pokec-z|Pokec-n|Recidivism|Cora|Citeseer|Pubmed"
NODE = ["accuracy", "statistical_parity", "equal_opportunity"]
LINK = [
    "accuracy",
    "dp_mixed",
    "eo_mixed",
    "dp_group",
    "eo_group",
    "dp_subgroup",
    "eo_subgroup",
]
MEAN_STD = re.compile(
    r"\$\s*(\\mathbf\{|\\textbf\{)?([\d.]+)\}?\s*\\pm\s*([\d.]+)\s*\$"
)


@pytest.fixture(scope="module")
def tex():
    if not SOURCE.exists():
        pytest.skip(
            f"the paper's source is not at hand: no file {SOURCE} (set FAIRGAT_PAPER)"
        )
    return SOURCE.read_text(encoding="utf-8")


def body(tex, label):
    """The rows of the table with this label: text between the rules, split at `\\\\`."""
    for table in re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", tex, re.S):
        if f"\\label{{{label}}}" in table:
            return table.split(r"\begin{tabular}")[1].split(r"\\")
    raise AssertionError(f"no table {label} in the paper")


def parse_results(tex, label, metrics):
    found, dataset = {}, None
    for row in body(tex, label):
        for name in re.findall(DATASETS, row):
            dataset = name.lower()
        numbers = MEAN_STD.findall(row)
        if not numbers:
            continue
        assert len(numbers) == len(metrics), row
        (method,) = [key for name, key in METHODS.items() if f"{{{name}}}" in row]
        for metric, (bold, mean, std) in zip(metrics, numbers, strict=True):
            found[dataset, method, metric] = (float(mean), float(std), bool(bold))
    return found


@pytest.mark.parametrize(
    ("table", "label", "metrics", "count"),
    [
        ("comparison", "table:comp", NODE, 45),
        ("ablation", "table:ablation", NODE, 45),
        ("link_prediction", "table:fairlp", LINK, 42),
    ],
)
def test_results(tex, table, label, metrics, count):
    theirs = parse_results(tex, label, metrics)
    assert len(theirs) == count
    ours = paper.results()[paper.results()["table"] == table].set_index(
        ["dataset", "method", "metric"]
    )
    assert {
        key: (row["mean"], row["std"], row["bold"]) for key, row in ours.iterrows()
    } == theirs


def test_runtime(tex):
    theirs = {dataset: {} for dataset in ("pokec-z", "pokec-n", "recidivism")}
    for row in body(tex, "table:runtime"):
        seconds = re.findall(r"\$([\d.]+)\$", row)
        for method in (
            method
            for name, method in METHODS.items()
            if f"{{{name}}}" in row and seconds
        ):
            for dataset, value in zip(theirs, seconds, strict=True):
                theirs[dataset][method] = float(value)
    assert paper.load()["runtime"] == theirs


@pytest.mark.parametrize(
    ("label", "quantities"),
    [
        ("table:stats", ["s0", "s1", "inter_edges", "intra_edges", "features"]),
        ("table:stats_non_binary", ["nodes", "groups", "inter_edges", "intra_edges"]),
    ],
)
def test_statistics(tex, label, quantities):
    theirs = {}
    for row in body(tex, label):
        match = re.search(DATASETS, row)
        numbers = [int(number) for number in re.findall(r"\$(\d+)\$", row)]
        if match and numbers:
            theirs[match[0].lower()] = dict(zip(quantities, numbers, strict=True))
    assert len(theirs) == 3
    assert {
        dataset: paper.load()["statistics"][dataset] for dataset in theirs
    } == theirs


def test_fairgat_hyperparameters(tex):
    rows = body(tex, "table:method_params")
    datasets = [name.lower() for name in re.findall(DATASETS, rows[0])]
    alpha, eta = (
        [float(value) for value in re.findall(r"\$([\d.]+)\s*\$", row)]
        for row in rows[1:3]
    )
    expected = {
        dataset: {"alpha_chi_max": a, "eta": e}
        for dataset, a, e in zip(datasets, alpha, eta, strict=True)
    }
    assert paper.load()["hyperparameters"]["fairgat"]["chosen"] == expected


def test_means_are_fractions_and_take_the_comparison_table():
    means = paper.means("node_classification").set_index(
        ["dataset", "method", "metric"]
    )
    assert [*means.loc["pokec-n", "fairgat", "accuracy"]] == [0.6781, 0.0109]
    assert [*means.loc["pokec-n", "fairgat-steps-23", "statistical_parity"]] == [
        0.0157,
        0.0112,
    ]
    assert len(means) == 45 + 27
    assert len(paper.means("link_prediction")) == 42


def test_config_holds_the_papers_grids_and_cells():
    config = load_files(Path(__file__).resolve().parents[3] / "config.yaml")
    compared = set(paper.load()["hyperparameters"]) & set(config.methods)
    assert "fairgat" in compared
    for method in compared:
        entry, published = (
            config.methods[method],
            paper.load()["hyperparameters"][method],
        )
        assert entry.grid == published["grid"], method
        assert entry.published == published["chosen"], method
