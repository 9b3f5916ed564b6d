"""paper.yaml against the paper's LaTeX source, number by number."""

import os
import re
from pathlib import Path

import pytest

from fairgat import paper
from fairgat.config import load_files

_BESIDE = Path(__file__).resolve().parents[4] / "shared" / "paper" / "fairgat.tex"
SOURCE = Path(os.environ.get("FAIRGAT_PAPER") or _BESIDE)
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
    """The rows of the table with this label, split at `\\\\`."""
    for table in re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", tex, re.S):
        if f"\\label{{{label}}}" in table:
            _, _, rows = table.partition(r"\begin{tabular}")
            return rows.split(r"\\")
    raise AssertionError(f"no table {label} in the paper")


def numbers(row):
    """The numbers of a row that stand alone between dollars."""
    return [float(number) for number in re.findall(r"\$([\d.]+)\s*\$", row)]


def parse_results(tex, label, metrics):
    found, dataset = {}, None
    for row in body(tex, label):
        for name in re.findall(DATASETS, row):
            dataset = name.lower()
        results = MEAN_STD.findall(row)
        if not results:
            continue
        assert len(results) == len(metrics), row
        (method,) = [METHODS[name] for name in METHODS if f"{{{name}}}" in row]
        for metric, (bold, mean, std) in zip(metrics, results, strict=True):
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
    results = paper.results()
    ours = results[results["table"] == table]
    ours = ours.set_index(["dataset", "method", "metric"])[["mean", "std", "bold"]]
    rows = ours.itertuples(index=False, name=None)
    assert dict(zip(ours.index, rows, strict=True)) == theirs


def test_runtime(tex):
    theirs = {dataset: {} for dataset in ("pokec-z", "pokec-n", "recidivism")}
    for row in body(tex, "table:runtime"):
        seconds = numbers(row)
        methods = [METHODS[name] for name in METHODS if f"{{{name}}}" in row]
        if not seconds or not methods:
            continue
        (method,) = methods
        for dataset, value in zip(theirs, seconds, strict=True):
            theirs[dataset][method] = value
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
        match, counts = re.search(DATASETS, row), numbers(row)
        if match and counts:
            theirs[match[0].lower()] = dict(zip(quantities, counts, strict=True))
    assert len(theirs) == 3
    ours = paper.load()["statistics"]
    assert {dataset: ours[dataset] for dataset in theirs} == theirs


def test_fairgat_hyperparameters(tex):
    header, of_alpha, of_eta, *_ = body(tex, "table:method_params")
    names = re.findall(DATASETS, header)
    expected = {}
    for name, alpha, eta in zip(names, numbers(of_alpha), numbers(of_eta), strict=True):
        expected[name.lower()] = {"alpha_chi_max": alpha, "eta": eta}
    assert paper.load()["hyperparameters"]["fairgat"]["chosen"] == expected


def test_means_are_fractions_and_take_the_comparison_table():
    means = paper.means("node_classification")
    means = means.set_index(["dataset", "method", "metric"])
    accuracy = means.loc["pokec-n", "fairgat", "accuracy"]
    assert accuracy.tolist() == [0.6781, 0.0109]
    parity = means.loc["pokec-n", "fairgat-steps-23", "statistical_parity"]
    assert parity.tolist() == [0.0157, 0.0112]
    assert len(means) == 45 + 27
    assert len(paper.means("link_prediction")) == 42


def test_config_holds_the_papers_grids_and_cells():
    config = load_files(Path(__file__).resolve().parents[3] / "config.yaml")
    hyperparameters = paper.load()["hyperparameters"]
    compared = set(hyperparameters).intersection(config.methods)
    assert "fairgat" in compared
    for method in compared:
        entry, published = config.methods[method], hyperparameters[method]
        assert entry.grid == published["grid"], method
        assert entry.published == published["chosen"], method
