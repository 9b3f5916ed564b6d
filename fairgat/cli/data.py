"""`fairgat data where` lists the raw files, `add FOLDER` takes them in by hand, and `stats` counts a graph."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairgat import config as configuration
from fairgat.config import Config
from fairgat.data import datasets, download
from fairgat.data.graph import Graph
from fairgat.data.source import File, identities
from fairgat.data.statistics import counts, telling
from fairgat.errors import DataError, nearest
from fairgat.files import recording

_FACTS = {
    "edge_columns": "edges",
    "first_edge": "first edge",
    "left_out_nodes": "nodes left out",
    "left_out_edges": "edges left out",
    "repeated_edges": "rows that repeat an earlier edge",
}


def declare(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    where = actions.add_parser(
        "where",
        help="list every raw file: its address, its checksum, whether it is here",
    )
    add = actions.add_parser(
        "add", help="check files that you fetched yourself and put them in their place"
    )
    add.add_argument("folder", type=Path, help="where the files lie, under any names")
    add.add_argument(
        "--mirror",
        type=Path,
        help="put them into this data mirror (config: data_mirror) in place of the results",
    )
    stats = actions.add_parser(
        "stats",
        help="count a graph: homophily by group and label, R_chi, alpha_chi and more",
    )
    stats.add_argument(
        "--out",
        type=Path,
        default=Path("by-hand"),
        metavar="FOLDER",
        help="default: by-hand",
    )
    stats.add_argument(
        "--data-mirror", metavar="FOLDER", help="in place of the configuration's"
    )
    parser.set_defaults(run=run)
    for action in (where, add, stats):
        action.add_argument(
            "--config",
            nargs="+",
            action="extend",
            metavar="FILE",
            help="configuration files",
        )
        action.add_argument(
            "--dataset",
            action="append",
            metavar="NAME",
            help="only this data set; may be repeated",
        )


def run(arguments: argparse.Namespace) -> None:
    config = configuration.load_files(*(arguments.config or ["config.yaml"]))
    if arguments.action == "where":
        lines: Iterable[str] = where(config, arguments.dataset)
    elif arguments.action == "add":
        lines = add(config, arguments.folder, arguments.mirror, arguments.dataset)
    else:
        lines = stats(config, arguments.out, arguments.data_mirror, arguments.dataset)
    for line in lines:
        print(line)


def where(config: Config, names: list[str] | None = None) -> Iterator[str]:
    """List every raw file, its state here, its checksum and its address."""
    for name, files in _wanted(config, names).items():
        folder = _raw(config, name)
        yield f"{name}: {folder}" if files else f"{name}: generated, needs no files"
        for file in files:
            yield f"  {file.name}  [{file.state(folder)}]"
            yield from (
                f"    {line}" for line in (file.pin, file.local or file.url) if line
            )


def add(
    config: Config,
    source: Path,
    mirror: Path | None = None,
    names: list[str] | None = None,
) -> list[str]:
    """Find the data sets' files in a folder, verify them and copy them to where the workflow looks.

    Args:
        source: searched with its subfolders. Files are known by their content, whatever their names.
        mirror: where they are copied to, laid out as a mirror; results/data/raw/ where absent.
        names: only these data sets.

    Returns one line per file that was found.

    Raises:
        DataError: the folder is missing or holds none of the files, or a file that is not found has its name there on
            other bytes or may be one that cannot be read; the others are taken in all the same.
    """
    if not source.is_dir():
        raise DataError(f"{source} is not a folder")
    sought = _sought(config, mirror, names)
    paths = sorted(path for path in source.rglob("*") if path.is_file())
    pins_of, unread = _identified(paths)
    lines = []
    for path, pins in pins_of.items():
        for target in [target for target, file in sought.items() if file.pin in pins]:
            file = sought.pop(target)
            download.place(file, path, target.parent)
            lines.append(f"{file.name}: {path} -> {target}")
    lacking = {file.basename: file for file in sought.values()}
    others = [
        f"{path} is not {lacking[path.name].name}, which has {lacking[path.name].pin}"
        for path in paths
        if path.name in lacking
    ]
    if others or (unread and sought):
        raise DataError("\n".join(lines + unread + others))
    if not lines:
        raise DataError(
            f"{source} holds none of the files; `fairgat data where` lists them"
        )
    return lines


def _sought(
    config: Config, mirror: Path | None, names: list[str] | None
) -> dict[Path, File]:
    """Give the pinned files of the data sets, by the place that each is copied to."""
    return {
        mirror / file.name if mirror else _raw(config, name) / file.basename: file
        for name, files in _wanted(config, names).items()
        for file in files
        if file.pin
    }


def _identified(paths: Iterable[Path]) -> tuple[dict[Path, set[str]], list[str]]:
    """Give what each file's bytes may be known by, and a line for each that cannot be read."""
    pins, unread = {}, []
    for path in paths:
        try:
            pins[path] = identities(path)
        except OSError as error:
            unread.append(f"{path} cannot be read: {error.strerror}")
    return pins, unread


def stats(
    config: Config, out: Path, mirror: str | None = None, names: list[str] | None = None
) -> Iterator[str]:
    """Describe each data set in lines: what to check first, then the counts of its whole graph, which is made in `out`.

    Raises:
        ConfigError: a data set's source or options are not valid.
        DataError: a data set is not in the configuration, or its graph cannot be made.
    """
    for name in (
        each for each in _wanted(config, names) if names or not config.not_run(each)
    ):
        graph = Graph.load(make_graph(config, name, out, mirror))
        counted = counts(graph, config.searched("alpha_chi_max"))
        yield f"{name}:"
        yield from (f"  {line}" for line in to_check(graph, counted))
        for key, value in counted.items():
            if key != "by_group":
                yield f"  {key:<20}{_shown(value)}"


def make_graph(
    config: Config, name: str, folder: str | Path, data_mirror: str | None = None
) -> Path:
    """Fetch the raw files of a data set and make its graph, in `folder`/data as the workflow lays it out.

    `data_mirror` overrides the configuration's.
    """
    settings, folder = config.datasets[name], Path(folder) / "data"
    raw, path = folder / "raw" / name, folder / "graphs" / f"{name}.npz"
    mirror = data_mirror or config.data_mirror
    download.acquire(
        name, datasets.files_of(name, settings), raw, Path(mirror) if mirror else None
    )
    graph = datasets.prepare(name, settings, raw, config.seed)
    with recording([path]):
        graph.save(path)
    return path


def to_check(graph: Graph, counted: Mapping[str, Any]) -> Iterator[str]:
    """Say in lines what people must check: what columns were taken for, what was left out, and the groups."""
    for name, taken in graph.facts.get("columns", {}).items():
        yield f"column {name}: {taken}"
    for key, title in _FACTS.items():
        if graph.facts.get(key):
            yield f"{title}: {graph.facts[key]}"
    has_labels = not (graph.labels == graph.sensitive).all()
    for name, group in counted["by_group"].items():
        share = (
            f"{group['label_1'] / group['labelled']:.4f}" if group["labelled"] else "–"
        )
        label = (
            f"label 1 for {group['label_1']} of {group['labelled']} ({share}), "
            if has_labels
            else ""
        )
        yield (
            f"group {name}: {group['nodes']} nodes, {label}R_chi {group['r_chi']:.4f}, "
            f"homophily {_shown(group['homophily'])}"
        )
    for feature, said, auc in telling(graph):
        yield f"feature {feature} almost says {said} (AUC {auc:.3f}): is it one? See `exclude`"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(each)}" for key, each in value.items()) or "–"
    return (
        "–"
        if value is None
        else f"{value:.4f}"
        if isinstance(value, float)
        else str(value)
    )


def _wanted(config: Config, names: list[str] | None) -> dict[str, list[File]]:
    for name in names or ():
        if name not in config.datasets:
            raise DataError(
                f"{name!r} is not a data set; {nearest(name, config.datasets)}"
            )
    return {
        name: datasets.files_of(name, entry)
        for name, entry in config.datasets.items()
        if not names or name in names
    }


def _raw(config: Config, name: str) -> Path:
    return Path(config.results_dir) / "data" / "raw" / name
