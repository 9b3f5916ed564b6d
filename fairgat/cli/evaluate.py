"""`fairgat evaluate`: a finished run's metrics, computed again from its predictions, beside those it wrote."""

import argparse
from collections.abc import Mapping
from pathlib import Path

import torch

from fairgat import files
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError, FairGATError
from fairgat.scores import runs as records
from fairgat.tasks.base import PARTS
from fairgat.tasks.metrics import area_under_roc, link_metrics, node_metrics


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="the run's folder, the one with metrics.json")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the metrics; an error if they are not the ones that the run wrote."""
    directory = arguments.directory
    written = finished(directory)
    try:
        ours = evaluate(directory, written)
    except (KeyError, IndexError) as error:
        raise DataError(f"{directory} does not fit the graph or the split in the results it lies in: {error}") from None
    show(ours)
    parts = {part: written.get(part) or {} for part in PARTS}
    differing = [f"{part} {name}" for part in PARTS for name in ours[part] if ours[part][name] != parts[part].get(name)]
    if differing:
        raise DataError(f"{directory / 'metrics.json'} says otherwise: {', '.join(differing)}")
    print("metrics.json says the same")


def finished(directory: Path) -> dict:
    """The content of a run's metrics.json.

    Raises:
        DataError: this is not the folder of a run.
        FairGATError: the run failed.
    """
    if not directory.is_dir():
        raise DataError(f"{directory} is not a folder; give the run's folder, the one with metrics.json")
    records.collect([directory / "metrics.json"])  # says what is wrong with another file
    written = files.read_json(directory / "metrics.json")
    if "failure" in written:
        raise FairGATError(f"{directory} failed: {written['failure']}")
    return written


def show(scores: Mapping[str, Mapping[str, float]]) -> None:
    """Print validation and test scores side by side."""
    print(f"{'':22}{'validation':>12}{'test':>12}")
    for name, value in scores["test"].items():
        print(f"{name:22}{scores['validation'][name]:12.4f}{value:12.4f}")


def evaluate(directory: Path, written: dict) -> dict[str, dict[str, float]]:
    """Compute validation and test metrics from predictions.npz, the graph and the split of the run."""
    task, dataset = written["task"], written["dataset"]
    data = data_folder(directory, dataset)
    graph = Graph.load(data / "graphs" / f"{dataset}.npz")
    predictions = load_npz(directory / "predictions.npz")
    if task == "node_classification":
        split = splits.load(data / "splits" / task / dataset / f"split-{written['split']}.npz")
        return {
            part: node_metrics(
                predictions["logits"][split[part]] > 0, graph.labels[split[part]], graph.sensitive[split[part]]
            )
            for part in PARTS
        }
    metrics = {}
    for part in PARTS:
        labels, edges, logits = (predictions[f"{part}_{name}"] for name in ("labels", "edges", "logits"))
        cutoff = written[part]["cutoff"]
        probabilities = torch.from_numpy(logits).sigmoid().numpy()  # as in training, to the bit
        metrics[part] = link_metrics(probabilities >= cutoff, labels, edges, graph.sensitive) | {
            "auc": area_under_roc(probabilities, labels),
            "cutoff": cutoff,
        }
    return metrics


def data_folder(directory: Path, dataset: str) -> Path:
    """Find the nearest `data` above a run's folder, in the workflow's results or in those of `fairgat train --out`."""
    for folder in directory.resolve().parents:
        if (folder / "data" / "graphs" / f"{dataset}.npz").exists():
            return folder / "data"
    raise DataError(
        f"the graph of {dataset}, data/graphs/{dataset}.npz, is in no folder above {directory.resolve()}. "
        "Read the run where it was made, or copy the data folder of its results along"
    )
