"""`fairgat data`: `where` raw files are, `add` them by hand, `stats` of a graph."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairgat import config as configuration
from fairgat.config import Config
from fairgat.data import datasets, download
from fairgat.data.graph import Graph
from fairgat.data.own import LEFT_OUT_NODES
from fairgat.data.source import File, identities
from fairgat.data.statistics import counts, telling
from fairgat.errors import ConfigError, DataError, nearest
from fairgat.files import recording
from fairgat.texts import visible

_FACTS = {
    "edge_columns": "edges",
    "first_edge": "first edge",
    "left_out_nodes": "nodes left out",
}
_LEFT_OUT_ROWS = {
    "unknown_ids": "that name nobody",
    "self_loops": "that join a node to itself",
    LEFT_OUT_NODES: "of nodes left out",
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
        help="put them into this data mirror (config: data_mirror) in place of the "
        "results",
    )
    stats = actions.add_parser(
        "stats",
        help="say what each column was taken for and what was left out, and count the "
        "graph",
    )
    stats.add_argument(
        "--out",
        type=Path,
        default=Path("by-hand"),
        metavar="FOLDER",
        help="default: by-hand",
    )
    stats.add_argument(
        "--data-mirror", metavar="FOLDER", help="in place of the configured data_mirror"
    )
    parser.set_defaults(run=run)
    for action in (where, add, stats):
        declare_config(action)
        action.add_argument(
            "--dataset",
            action="append",
            metavar="NAME",
            help="only this data set; may be repeated",
        )


def declare_config(parser: argparse.ArgumentParser) -> None:
    """Declare `--config`, which may be given several times; all its files count."""
    parser.add_argument(
        "--config",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="configuration files (default: config.yaml)",
    )


def configured(arguments: argparse.Namespace) -> Config:
    """Load the files of `--config`."""
    files = arguments.config or ["config.yaml"]
    return configuration.load_files(*files)


def run(arguments: argparse.Namespace) -> None:
    """Print the lines of the action that is asked for."""
    config = configured(arguments)
    if arguments.action == "where":
        lines: Iterable[str] = where(config, arguments.dataset)
    elif arguments.action == "add":
        lines = add(config, arguments.folder, arguments.mirror, arguments.dataset)
    else:
        lines = stats(config, arguments.out, arguments.data_mirror, arguments.dataset)
    for line in lines:
        print(visible(line))


def where(config: Config, names: list[str] | None = None) -> Iterator[str]:
    """List every raw file, its state here, its checksum and its address."""
    for name, files in _files_by_dataset(config, names).items():
        folder = _raw(config, name)
        if not files:
            yield f"{name}: generated, needs no files"
            continue
        yield f"{name}: {folder}"
        for file in files:
            yield f"  {file.name}  [{file.state(folder)}]"
            address = file.local or file.url
            if file.pin:
                yield f"    {file.pin}"
            if address:
                yield f"    {address}"


def add(
    config: Config,
    source: Path,
    mirror: Path | None = None,
    names: list[str] | None = None,
) -> list[str]:
    """Find the data sets' files in a folder, verify them and copy them to their place.

    Args:
        source: searched with its subfolders. Files are known by their content, whatever
            their names.
        mirror: where they are copied to, laid out as a mirror; results/data/raw/ where
            absent.
        names: only these data sets.

    Returns:
        A line for each file that was found.

    Raises:
        DataError: the folder is missing or holds none of the files, or a file that is
            not found has its name there on other bytes or may be one that cannot be
            read; the others are taken in all the same.
    """
    if not source.is_dir():
        raise DataError(f"{source} is not a folder")
    missing = _pinned_files(config, mirror, names)
    paths = [path for path in sorted(source.rglob("*")) if path.is_file()]
    pins_of, unreadable = _identified(paths)

    lines = []
    for path, pins in pins_of.items():
        targets = [target for target, file in missing.items() if file.pin in pins]
        for target in targets:
            file = missing.pop(target)
            download.place(file, path, target.parent)
            lines.append(f"{file.name}: {path} -> {target}")

    # What has a missing file's name has other bytes than it.
    missing_by_name = {file.basename: file for file in missing.values()}
    others = []
    for path in paths:
        file = missing_by_name.get(path.name)
        if file:
            others.append(f"{path} is not {file.name}, which has {file.pin}")
    if others or (unreadable and missing):
        raise DataError("\n".join(lines + unreadable + others))
    if not lines:
        raise DataError(
            f"{source} holds none of the files; `fairgat data where` lists them"
        )
    return lines


def _pinned_files(
    config: Config, mirror: Path | None, names: list[str] | None
) -> dict[Path, File]:
    """Give the pinned files of the data sets, by the place that each is copied to."""
    pinned = {}
    for name, files in _files_by_dataset(config, names).items():
        for file in files:
            place = _raw(config, name) / file.basename
            if mirror:
                place = mirror / file.name
            if file.pin:
                pinned[place] = file
    return pinned


def _identified(paths: Iterable[Path]) -> tuple[dict[Path, set[str]], list[str]]:
    """Give what each file's bytes are known by, and a line for each unreadable one."""
    pins, unreadable = {}, []
    for path in paths:
        try:
            pins[path] = identities(path)
        except OSError as error:
            unreadable.append(f"{path} cannot be read: {error.strerror}")
    return pins, unreadable


def stats(
    config: Config, out: Path, mirror: str | None = None, names: list[str] | None = None
) -> Iterator[str]:
    """Describe each data set in lines: what to check, then the counts of its graph.

    It is the whole graph, which is made in `out`.

    Raises:
        ConfigError: a data set's source or options are not valid, or `out` is where the
            workflow writes.
        DataError: a data set is not in the configuration, or its graph cannot be made.
    """
    check_out(config, out)
    for name in _files_by_dataset(config, names):
        if not names and config.not_run(name):
            continue
        graph = Graph.load(make_graph(config, name, out, mirror))
        counted = counts(graph)
        yield f"{name}:"
        for line in to_check(graph, counted):
            yield f"  {line}"
        for key, value in counted.items():
            if key != "by_group":
                yield f"  {key:<20}{_text(value)}"


def check_out(config: Config, out: Path) -> None:
    """Refuse a folder of the workflow's: what is made by hand has settings of its own.

    Raises:
        ConfigError: `out` is the results folder, or within it.
    """
    if out.resolve().is_relative_to(Path(config.results_dir).resolve()):
        raise ConfigError(
            f"--out {out} is where the workflow writes; give another folder"
        )


def make_graph(
    config: Config, name: str, folder: str | Path, data_mirror: str | None = None
) -> Path:
    """Fetch the raw files of a data set and make its graph.

    They are put into `folder`/data, as the workflow lays it out. `data_mirror`
    overrides the configuration's.
    """
    settings = config.datasets[name]
    folder = Path(folder) / "data"
    raw = folder / "raw" / name
    path = folder / "graphs" / f"{name}.npz"
    mirror = data_mirror or config.data_mirror
    files = datasets.files_of(name, settings)
    download.acquire(name, files, raw, Path(mirror) if mirror else None)

    graph = datasets.prepare(name, settings, raw, config.seed)
    columns = datasets.columns_path(path)
    with recording([path, columns]):
        graph.save(path)
        graph.columns.write(columns)
    return path


def to_check(graph: Graph, counted: Mapping[str, Any]) -> Iterator[str]:
    """Say in lines what people must check.

    What columns were taken for, what was left out, and the groups.
    """
    for name, role in graph.facts.get("columns", {}).items():
        yield f"column {name}: {role}"
    for key, title in _FACTS.items():
        if graph.facts.get(key):
            yield f"{title}: {graph.facts[key]}"
    yield from _rows_of_edges(graph)
    has_labels = not (graph.labels == graph.sensitive).all()
    for name, group in counted["by_group"].items():
        line = f"group {name}: {group['nodes']} nodes, "
        if has_labels:
            positive, labelled = group["label_1"], group["labelled"]
            share = f"{positive / labelled:.4f}" if labelled else "–"
            line += f"label 1 for {positive} of {labelled} ({share}), "
        line += f"R_chi {group['r_chi']:.4f}, homophily {_text(group['homophily'])}"
        yield line
    for feature, revealed, auc in telling(graph):
        yield (
            f"feature {feature} almost says {revealed} (AUC {auc:.3f}): is it one? See "
            "`exclude`"
        )


def _rows_of_edges(graph: Graph) -> Iterator[str]:
    """Say what became of the rows of a list of edges; nothing where each is an edge.

    Edges have no direction here: a row that has an earlier one's ends the other way
    round repeats it.
    """
    repeated = graph.facts.get("repeated_edges", 0)
    repeated += graph.facts.get("edges_listed_both_ways", 0)
    left_out = graph.facts.get("left_out_rows", {})
    if not (repeated or left_out):
        return
    edges = graph.num_edges // 2  # in both directions
    count = edges + repeated + sum(left_out.values())
    parts = [f"{edges} edges"]
    if repeated:
        parts.append(f"{repeated} that repeat one, in either direction")
    for reason, title in _LEFT_OUT_ROWS.items():
        if reason in left_out:
            parts.append(f"{left_out[reason]} {title}")
    yield f"rows of edges: {count} = {' + '.join(parts)}"


def _text(value: object) -> str:
    """Write a count, a share or several of them; a dash for none."""
    if isinstance(value, dict):
        parts = [f"{key}: {_text(each)}" for key, each in value.items()]
        return ", ".join(parts) or "–"
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def _files_by_dataset(config: Config, names: list[str] | None) -> dict[str, list[File]]:
    """Give the raw files of the data sets of these names, or of all."""
    for name in names or ():
        if name not in config.datasets:
            advice = nearest(name, config.datasets)
            raise DataError(f"{name!r} is not a data set; {advice}")
    chosen = [name for name in config.datasets if not names or name in names]
    return {name: datasets.files_of(name, config.datasets[name]) for name in chosen}


def _raw(config: Config, name: str) -> Path:
    """The folder of a data set's raw files."""
    return Path(config.results_dir) / "data" / "raw" / name
