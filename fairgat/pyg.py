"""Data sets as PyTorch Geometric has them, and the measures of scores on them.

For a training loop of one's own: `load` gives what the workflow trains on, and `judge`
computes what its tables show (docs/loop.md).
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pooch
import torch
from torch import Tensor
from torch_geometric.data import Data

from fairgat import config as configuration
from fairgat import measures
from fairgat.config import TASKS, Config, LinkTraining, NodeTraining
from fairgat.data import datasets, download, splits
from fairgat.data.graph import UNLABELLED, Graph
from fairgat.data.source import File
from fairgat.data.splits import HELD_OUT, NODE_KEYS, pairs_of
from fairgat.errors import ConfigError, nearest
from fairgat.groups import unmasked
from fairgat.measures import Kind, Scores

PREFIXES = {"train": "train", "validation": "val", "test": "test"}
"""What PyTorch Geometric calls the parts of a split."""


def load(
    name: str,
    split: int = 0,
    config: str | Path | Iterable[str | Path] = (),
    mirror: str | Path | None = None,
    cache: str | Path | None = None,
) -> Data:
    """Load a data set on one of its splits.

    The files are those of the workflow: downloaded, or taken from a mirror, and
    verified by their checksums. Graph and split are made of them as the workflow makes
    them.

    Args:
        name: of the data set, such as `recidivism` or `cora`.
        split: number of the split, from 0.
        config: configuration files laid over the paper's, such as one that declares a
            data set of your own.
        mirror: a folder with the original files, tried before any download; the
            configuration's `data_mirror` where absent.
        cache: where published files are kept; the user's cache folder where absent.

    Returns:
        For node classification `x` (N, F), `edge_index` (2, E), `y` (N,), 0, 1 or -1
        where it is not known, `sensitive` (N,), and `train_mask`, `val_mask` and
        `test_mask` (N,). For link prediction `edge_index` has the training edges, and
        there are pairs (2, m) and whether they are linked (m,) as
        `val_edge_label_index`, `val_edge_label`, `test_edge_label_index` and
        `test_edge_label`. Both have `group_names`, `feature_names` (empty where not
        known), `scaling` (how `x` was scaled), `dataset`, `task` and `split`.

    Raises:
        ConfigError: there is no such data set or split, or a configuration is wrong.
        DataError: a file cannot be had, or is not what it should be.
    """
    settings = _configuration(config)
    _check_asked(settings, name, split)
    entry = settings.datasets[name]
    options = datasets.options_of(name, entry)
    mirror = mirror or settings.data_mirror

    files = datasets.files_of(name, entry)
    by_name = ", ".join(file.name for file in files)
    elsewhere = f"fetched elsewhere, {by_name} are read from the folder `mirror=`"
    with _folder(cache, files) as folder:
        raw = folder / "raw" / name
        place = Path(mirror) if mirror else None
        download.acquire(name, files, raw, place, elsewhere)
        graph = datasets.prepare(name, entry, raw, settings.seed)

    parts = splits.make(
        graph,
        entry.task,
        settings.splits,
        settings.seed,
        entry.splits_of or name,  # another data set's, where they have the same people
        split,
    )
    about = {
        "dataset": name,
        "task": entry.task,
        "split": split,
        "scaling": getattr(options, "scaling", None),
    }
    if TASKS[entry.task].divides == "edges":
        return _of_links(graph, parts, settings.training.link_prediction, about)
    return _of_nodes(graph, parts, about)


def _configuration(overlays: str | Path | Iterable[str | Path]) -> Config:
    """Read the paper's configuration, with others laid over it."""
    if isinstance(overlays, str | Path):
        overlays = [overlays]
    settings = configuration.load_files(configuration.DEFAULTS, *overlays)
    datasets.check(settings)
    return settings


def _check_asked(settings: Config, name: str, split: int) -> None:
    """Refuse a data set that the configuration does not have, or a negative split."""
    if name not in settings.datasets:
        advice = nearest(name, settings.datasets)
        elsewhere = configuration.declared_elsewhere(name, "datasets")
        if elsewhere:
            advice = f"{elsewhere}: give its path as `config`"
        raise ConfigError(f"{name!r} is not a data set; {advice}")
    if not isinstance(split, Integral) or split < 0:
        raise ConfigError(f"split is a whole number from 0 on, got {split!r}")


@contextmanager
def _folder(cache: str | Path | None, files: list[File]) -> Iterator[Path]:
    """Give the cache's folder; what a user's own files are copied to is not kept."""
    if not files or any(file.local for file in files):
        with tempfile.TemporaryDirectory(prefix="fairgat-") as folder:
            yield Path(folder)
        return
    yield Path(cache or pooch.os_cache("fairgat"))


def _of_nodes(graph: Graph, split: Mapping[str, np.ndarray], about: dict) -> Data:
    """The data of node classification, with a mask for each part."""
    data = _data(graph, graph.edge_index, about)
    for part in NODE_KEYS:
        mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
        mask[torch.from_numpy(split[part])] = True
        data[f"{PREFIXES[part]}_mask"] = mask
    return data


def _of_links(
    graph: Graph, split: Mapping[str, np.ndarray], training: LinkTraining, about: dict
) -> Data:
    """The data of link prediction, with labelled pairs for each part."""
    about = about | {"cutoffs": list(training.cutoffs)}
    data = _data(graph, split["train_edges"], about)
    for part in HELD_OUT:
        pairs, labels = pairs_of(split, part)
        prefix = PREFIXES[part]
        data[f"{prefix}_edge_label_index"] = torch.from_numpy(pairs)
        data[f"{prefix}_edge_label"] = torch.from_numpy(labels)
    return data


def _data(graph: Graph, edge_index: np.ndarray, about: dict[str, Any]) -> Data:
    """What both tasks' data have, on these edges (2, E)."""
    return Data(
        x=torch.from_numpy(graph.features),
        edge_index=torch.from_numpy(edge_index),
        y=torch.from_numpy(graph.labels),
        sensitive=torch.from_numpy(graph.sensitive),
        feature_names=list(graph.facts.get("feature_names", ())),
        group_names=graph.group_names,
        groups=[dict(values) for values in graph.groups],
        **about,
    )


def judge(data: Data, scores: Any, kind: Kind | None = None) -> Scores:
    """Compute what the tables show of scores on validation and test.

    Args:
        data: from `load`.
        scores: (N,) of all nodes, higher where label 1 is more likely; for link
            prediction {"validation": (m,), "test": (m,)}, of the pairs of each part, as
            validation chooses the cut-off. Tensors or arrays.
        kind: what they are. Absent, they are logits, and scores that all lie in [0, 1],
            which may be either, are refused.

    Returns:
        By part the value of every measure, as a fraction; NaN where it is missing.

    Raises:
        ValueError: the data are not from `load`, a part has nodes whose label is not
            known, or the scores have another shape, are masked, not finite or no real
            numbers, or may be probabilities.
    """
    if "task" not in data:
        raise ValueError(
            "data must come from fairgat.load, which says how to judge them"
        )
    if TASKS[data.task].divides == "edges":
        return _judge_links(data, scores, kind)

    values = _checked(scores, (data.num_nodes,), "scores")
    (logits,) = measures.as_logits([values], kind)
    split, graph = {}, _graph(data)
    for part in NODE_KEYS:
        name = f"{PREFIXES[part]}_mask"
        mask = data[name].numpy(force=True)
        if mask.dtype != bool or mask.shape != values.shape:
            raise ValueError(f"data.{name} must be ({data.num_nodes},) bool, as loaded")
        split[part] = np.flatnonzero(mask)
        unlabelled = int((graph.labels[mask] == UNLABELLED).sum())
        if unlabelled:  # which would count as label 0
            raise ValueError(
                f"data.{name} has {unlabelled} nodes whose label is not known (y is "
                f"{UNLABELLED}): leave them out"
            )
    return measures.judge(NodeTraining(), graph, split, {"logits": logits}, protocol="")


def _judge_links(data: Data, scores: Any, kind: Kind | None) -> Scores:
    """`judge` scores of pairs, with the cut-off that validation chooses."""
    if not isinstance(scores, Mapping) or set(scores) != set(HELD_OUT):
        parts = " and ".join(map(repr, HELD_OUT))
        raise ValueError(f"scores of links are a dictionary with {parts}")
    split, values = {}, []
    for part in HELD_OUT:
        pairs = data[f"{PREFIXES[part]}_edge_label_index"].numpy(force=True)
        linked = data[f"{PREFIXES[part]}_edge_label"].numpy(force=True) == 1
        split[f"{part}_edges"] = pairs[:, linked]
        split[f"{part}_non_edges"] = pairs[:, ~linked]

        # As `measures.judge` takes them: edges first, then non-edges.
        of_part = _checked(scores[part], linked.shape, f"scores of {part}")
        values.append(np.concatenate([of_part[linked], of_part[~linked]]))

    predictions = {}
    # Together: whether they may be probabilities is asked of all.
    logits = measures.as_logits(values, kind)
    for place, part in enumerate(HELD_OUT):
        predictions[f"{part}_logits"] = logits[place]
        if kind == "probabilities":
            predictions[f"{part}_probabilities"] = values[place]
    training = LinkTraining(cutoffs=data.cutoffs)
    return measures.judge(
        training, _graph(data), split, predictions, protocol="validation"
    )


def _graph(data: Data) -> Graph:
    """Make what judging reads of a graph: labels and groups."""
    return Graph(
        features=np.zeros((data.num_nodes, 0), dtype=np.float32),
        labels=data.y.numpy(force=True),
        sensitive=data.sensitive.numpy(force=True),
        edge_index=np.zeros((2, 0), dtype=np.int64),
        groups=tuple(data.groups),
    )


def _checked(scores: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Give scores as an array of floats, in the precision that they have."""
    if isinstance(scores, Tensor):
        if scores.dtype == torch.bfloat16:  # which NumPy has not
            scores = scores.float()
        scores = scores.numpy(force=True)
    values = unmasked(scores, what)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{what} must be real numbers, got {values.dtype}")
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float32)
    if values.shape != shape:
        advice = "; give one number for each, as by .squeeze(-1)"
        raise ValueError(f"{what} must have shape {shape}, got {values.shape}{advice}")
    if not np.isfinite(values).all():
        raise ValueError(f"{what} must be finite; some are NaN or infinite")
    return values
