"""The data sets: which module reads which, what each needs, and the graph that comes out.
Every module here with `Options`, `files` and `load` is a source; docs/extending.md shows how to add one.
Importing this package imports neither pandas nor torch: it happens whenever Snakemake reads the workflow.
"""

import contextlib
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from fairgat import files
from fairgat.config import Config, Dataset, Model, explain
from fairgat.data.graph import Graph
from fairgat.data.sources._source import File
from fairgat.errors import ConfigError, DataError, nearest


def sources() -> dict[str, ModuleType]:
    """Every source, by its module's name.

    Raises:
        ConfigError: a module in fairgat/datasets cannot be imported, or lacks a part that a source must have.
    """
    found = {}
    for item in pkgutil.iter_modules(__path__):
        if item.name.startswith("_"):
            continue
        try:
            module = importlib.import_module(f"{__name__}.{item.name}")
        except Exception as error:  # whatever a module of the user's own may raise
            raise ConfigError(f"fairgat/datasets/{item.name}.py cannot be imported: {error}") from error
        lacking = [part for part in ("Options", "files", "load") if not hasattr(module, part)]
        if lacking:
            raise ConfigError(f"fairgat/datasets/{item.name}.py lacks {', '.join(lacking)}; see docs/extending.md")
        found[item.name] = module
    return found


def source_of(name: str, settings: Dataset) -> ModuleType:
    """The module that reads data set `name`: the one that `source` names, or else the one that declares the name.

    Raises:
        ConfigError: there is none.
    """
    known = sources()
    if settings.source is not None:
        if settings.source not in known:
            raise ConfigError(
                f"datasets.{name}.source: {settings.source!r} is not a module in fairgat/datasets; "
                f"{nearest(settings.source, known)}"
            )
        return known[settings.source]
    declared = {dataset: module for module in known.values() for dataset in getattr(module, "NAMES", ())}
    if name not in declared:
        raise ConfigError(
            f"datasets.{name}: no module in fairgat/datasets declares this data set; {nearest(name, declared)} "
            "For data of your own give its `source` (tables, pyg or a module that you add)."
        )
    return declared[name]


def options_of(name: str, settings: Dataset) -> Model:
    """The data set's validated options.

    Raises:
        ConfigError: naming every wrong option by its path.
    """
    model = source_of(name, settings).Options
    try:
        return model.model_validate(settings.options)
    except ValidationError as error:
        raise ConfigError("\n".join(explain(error, f"datasets.{name}.options", model))) from None


def check(config: Config) -> None:
    """Check the source and the options of every data set.

    Raises:
        ConfigError: naming every wrong key by its path, what was expected and the nearest valid name.
    """
    problems = []
    for name, settings in config.datasets.items():
        try:
            options_of(name, settings)
        except ConfigError as error:
            problems += str(error).splitlines()
    if problems:
        raise ConfigError("the data sets of the configuration are not valid:\n" + "\n".join(f"  {p}" for p in problems))


def files_of(name: str, settings: Dataset) -> list[File]:
    """The raw files that the data set is made of; none for a generated one."""
    return source_of(name, settings).files(name, options_of(name, settings))


def acquire(name: str, settings: Dataset, raw_dir: str | Path, data_mirror: str | Path | None = None) -> None:
    """Bring the data set's raw files to `raw_dir`, verified, and write its manifest.json.

    Raises:
        DataError: naming every file that cannot be had, every place tried and why it failed.
    """
    from fairgat.data import download

    download.acquire(name, files_of(name, settings), Path(raw_dir), Path(data_mirror) if data_mirror else None)


def prepare(name: str, settings: Dataset, raw_dir: str | Path, seed: int = 0) -> Graph:
    """The data set's graph, from raw files whose checksums are verified again before anything reads them.

    Raises:
        DataError: a file is missing, altered or malformed, or the graph does not suit the task.
    """
    from fairgat.data import download

    options = options_of(name, settings)
    source = source_of(name, settings)
    download.verify(source.files(name, options), Path(raw_dir))
    graph = source.load(name, Path(raw_dir), options, seed)
    try:
        graph.check()
        _check_task(graph, settings.task)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return graph


def graph_file(
    config: Config, name: str, results: str | Path, data_mirror: str | None = None, seed: int | None = None
) -> Path:
    """The file of a data set's graph under `results`, made where it is missing.

    Args:
        data_mirror, seed: in place of the configuration's.

    Raises:
        DataError: as `acquire` and `prepare`; or the graph that is there was made with other settings, or from other
            files.
    """
    settings, seed = config.datasets[name], config.seed if seed is None else seed
    path = Path(results) / "data" / "graphs" / f"{name}.npz"
    if not path.exists():
        raw = Path(results) / "data" / "raw" / name
        acquire(name, settings, raw, data_mirror or config.data_mirror)
        make(name, settings, raw, seed, path)
    else:
        check_made_from(name, settings, seed, None, path)
    return path


def make(name: str, settings: Dataset, raw_dir: str | Path, seed: int, path: str | Path) -> None:
    """Write the data set's graph to `path`, and beside it what it was made from, for `graph_file`.

    Raises:
        DataError: as `prepare`.
    """
    made_from = _made_from(name, settings, seed, Path(raw_dir))
    prepare(name, settings, raw_dir, seed).save(path)
    files.remember(path, made_from)


def check_made_from(name: str, settings: Dataset, seed: int, raw_dir: Path | None, path: str | Path) -> None:
    """Compare what a graph was made from, by the workflow or by hand, with what it would be made from now.

    Raises:
        DataError: something changed.
    """
    files.check_made_from(path, _made_from(name, settings, seed, raw_dir))


def _made_from(name: str, settings: Dataset, seed: int, raw_dir: Path | None = None) -> dict[str, Any]:
    """What a graph depends on, save published files, which never change.

    Args:
        raw_dir: where the user's own files were copied to; looked at where they came from if absent.
    """
    made_from = {
        f"datasets.{name}.source": source_of(name, settings).__name__.rpartition(".")[2],
        f"datasets.{name}.options": options_of(name, settings).model_dump(mode="json", exclude_defaults=True),
        "seed": seed,
    }
    for file in files_of(name, settings):
        if file.local is not None:
            with contextlib.suppress(OSError):  # a file that is gone cannot have changed
                made_from[str(file.local)] = files.sha256_of(raw_dir / file.basename if raw_dir else file.local)
    return made_from


def facts(name: str, settings: Dataset, raw_dir: str | Path) -> dict[str, int]:
    """Counts that only the raw files can tell, from sources that have a `facts(name, folder, options)`."""
    source = source_of(name, settings)
    return source.facts(name, Path(raw_dir), options_of(name, settings)) if hasattr(source, "facts") else {}


def counterpart(name: str, settings: Dataset) -> str:
    """The data set of the paper's whose counts it is compared with: itself, unless its source says otherwise."""
    return getattr(source_of(name, settings), "COUNTERPARTS", {}).get(name, name)


def _check_task(graph: Graph, task: str) -> None:
    groups = len(set(graph.sensitive.tolist()))
    if task == "node_classification":
        if groups != 2 or graph.sensitive.max() != 1:
            raise DataError(f"node classification needs two sensitive groups, numbered 0 and 1; found {groups}")
        classes = sorted(set(graph.labels.tolist()))
        if classes != [0, 1]:
            raise DataError(f"node classification needs the labels 0 and 1; found {classes[:10]}")
        if (graph.labels == graph.sensitive).all():
            raise DataError("the labels are the sensitive groups themselves; which column holds the labels?")
    elif groups < 2:
        raise DataError("link prediction needs at least two sensitive groups")
