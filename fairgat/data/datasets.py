"""Find the source of each data set, check its options, and make its graph.

Importing this module imports neither pandas nor torch: every Snakemake process that
reads the workflow does it. What is wrong with a configuration is a ConfigError that
names every key by its path, and the nearest valid name; what is wrong with a raw file,
or with a graph for its task, a DataError.
"""

import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from pydantic import ValidationError

from fairgat.by_path import check_class, imported, is_path, moved_source
from fairgat.config import TASKS, Config, Dataset, Model, Task, explain
from fairgat.data import sources
from fairgat.data.columns import Columns
from fairgat.data.graph import Graph
from fairgat.data.source import File
from fairgat.errors import ConfigError, DataError, nearest

_FOLDER = "fairgat/data/sources"
_PARTS = ("Options", "files", "load")


def known_sources() -> dict[str, ModuleType]:
    """Import every module in fairgat/data/sources, by name."""
    modules = {}
    for item in pkgutil.iter_modules(sources.__path__):
        try:
            module = importlib.import_module(f"{sources.__name__}.{item.name}")
        except Exception as error:  # a module that a user added may raise anything
            raise ConfigError(
                f"{_FOLDER}/{item.name}.py cannot be imported: {error}"
            ) from error
        _check_source(module, f"{_FOLDER}/{item.name}.py")
        modules[item.name] = module
    return modules


def _check_source(module: ModuleType, file: str) -> None:
    """Refuse a source without one of its parts, or whose options take any key."""
    lacking = [part for part in _PARTS if not hasattr(module, part)]
    if lacking:
        raise ConfigError(f"{file} lacks {', '.join(lacking)}; see docs/extending.md")
    check_class(module, "Options", Model, "fairgat.config")


def _own_source(path: str, where: str) -> ModuleType:
    """Import a source of one's own from its file."""
    try:
        module = imported(path)
        _check_source(module, path)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return module


def source_of(name: str, settings: Dataset) -> ModuleType:
    """Find the module that reads data set `name`.

    It is the one that `source` names, or else the one that declares the name.
    """
    if settings.source and is_path(settings.source):
        return _own_source(settings.source, f"datasets.{name}.source")
    known = known_sources()
    if settings.source is not None:
        if settings.source not in known:
            none = f"{settings.source!r} is not a module in {_FOLDER}"
            advice = moved_source(settings.source)
            said = advice or f"{none}; {nearest(settings.source, known)}"
            raise ConfigError(f"datasets.{name}.source: {said}")
        return known[settings.source]
    declared = {}
    for module in known.values():
        for dataset in getattr(module, "NAMES", ()):
            declared[dataset] = module
    if name not in declared:
        needed = (
            "your own data need a `source`: tables, pyg, or the path of a module. Of "
            f"the names that {_FOLDER} declares, {nearest(name, declared)}"
        )
        raise ConfigError(f"datasets.{name}: {moved_source(name) or needed}")
    return declared[name]


def options_of(name: str, settings: Dataset) -> Model:
    """Validate the data set's options."""
    source = source_of(name, settings)
    model = source.Options
    if name not in getattr(source, "ONLY", (name,)):
        raise ConfigError(
            f"datasets.{name}.source: it has {', '.join(source.ONLY)}, and no {name}"
        )
    try:
        options = model.model_validate(settings.options, context={"name": name})
    except ValidationError as error:
        path, none = f"datasets.{name}.options", "that source has no options"
        problems = explain(error, path, model, no_keys=none)
        raise ConfigError("\n".join(problems)) from None
    predicts_links = TASKS[settings.task].divides == "edges"
    if predicts_links and "degree" in getattr(options, "graph_features", ()):
        where = f"datasets.{name}.options.graph_features"
        raise ConfigError(
            f"{where}: degree counts the edges that are held out, too: leave it out in "
            "link prediction"
        )
    return options


def check(config: Config) -> None:
    """Check the source and the options of every data set."""
    problems = []
    for name, settings in config.datasets.items():
        try:
            options_of(name, settings)
        except ConfigError as error:
            problems += str(error).splitlines()
    if problems:
        first = "the data sets of the configuration are not valid:"
        raise ConfigError("\n  ".join([first, *problems]))


def files_of(name: str, settings: Dataset) -> list[File]:
    """List the raw files that the data set is made from; none for a generated one."""
    return source_of(name, settings).files(name, options_of(name, settings))


def prepare(name: str, settings: Dataset, raw_dir: str | Path, seed: int = 0) -> Graph:
    """Make the data set's graph of raw files, which are verified once more."""
    options = options_of(name, settings)
    source = source_of(name, settings)
    for file in source.files(name, options):
        file.verify(Path(raw_dir))
    graph = source.load(name, Path(raw_dir), options, seed)
    try:
        graph.check()
        _check_task(graph, settings.task)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None

    columns = graph.columns or Columns(groups=graph.groups)
    declared = {"source": settings.source, "options": settings.options}
    return replace(graph, columns=columns.model_copy(update=declared))


def columns_path(graph: str | Path) -> Path:
    """Name the file beside a graph's that says what its features were made of."""
    return Path(graph).with_suffix(".columns.json")


def counterpart(name: str, settings: Dataset) -> str:
    """Name the paper's data set that this one is compared with.

    It is that of its name, unless its source says otherwise.
    """
    others = getattr(source_of(name, settings), "COUNTERPARTS", {})
    return others.get(name, name)


def _check_task(graph: Graph, task: Task) -> None:
    """Check what the task needs.

    A method that is defined for two groups only checks that itself.
    """
    if graph.num_groups < 2:
        raise DataError(
            f"fairness needs at least two sensitive groups; found {graph.num_groups}"
        )
    if not TASKS[task].binary:
        return
    labels = graph.labels[graph.labelled]
    classes = sorted(set(labels.tolist()))
    if classes != [0, 1]:
        title = TASKS[task].title.lower()
        raise DataError(f"{title} needs the labels 0 and 1; found {classes[:10]}")
    same = labels == graph.sensitive[graph.labelled]
    if same.all() or (graph.num_groups == 2 and not same.any()):
        raise DataError(
            "the labels are the sensitive groups themselves, or their opposite; which "
            "column holds the labels?"
        )
