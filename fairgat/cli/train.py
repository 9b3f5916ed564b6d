"""`fairgat train`: one cell on one split, also a cell that no grid has."""

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from fairgat import cells, config, methods
from fairgat.cli.data import check_out, configured, declare_config, make_graph
from fairgat.cli.evaluate import show_run
from fairgat.config import Config
from fairgat.data import datasets, splits
from fairgat.data.graph import Graph
from fairgat.errors import ConfigError, FairGATError, nearest
from fairgat.files import recording
from fairgat.measures import adopt
from fairgat.methods.edits.fit import Debias, debias
from fairgat.plan import Run
from fairgat.training import job as training
from fairgat.training.loop import ignore
from fairgat.training.progress import log_lines
from fairgat.training.record import FILES, RUN_JSON

_OPTIONS = ("config", "dataset", "method", "out", "quiet", "split")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `train`; `_cell` reads the hyperparameters."""
    parser.description = (
        "Train one cell on one split. Every hyperparameter of the method is an option: "
        "--alpha-chi-max 0.75 --eta 1. The graph, the split and the run are made again "
        "in a separate folder, laid out as the workflow's; only files that were "
        "downloaded there before are used again. Everything else is set in "
        "configuration files."
    )
    parser.add_argument("--dataset", required=True, help="its key under `datasets`")
    parser.add_argument("--method", required=True, help="its key under `methods`")
    parser.add_argument(
        "--split", type=int, default=0, help="number of the split (default: 0)"
    )
    declare_config(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("by-hand"),
        metavar="FOLDER",
        help="default: by-hand",
    )
    parser.add_argument("--quiet", action="store_true", help="print no epochs")
    parser.set_defaults(run=run, takes_rest=True)


def run(arguments: argparse.Namespace, rest: list[str] | None = None) -> None:
    """Make graph and split, train, and show the scores.

    `rest` are the options that only the method has: its hyperparameters.
    """
    settings = configured(arguments)
    datasets.check(settings)
    adopt(settings.measures)  # which are shown, too
    name, method = arguments.dataset, arguments.method
    _check_known("--dataset", name, settings.datasets)
    _check_known("--method", method, settings.methods)
    task = settings.datasets[name].task
    if task not in settings.methods[method].tasks:
        raise ConfigError(f"{method} does not do {task}, the task of {name}")
    if arguments.split < 0:
        raise ConfigError(f"--split counts from 0, got {arguments.split}")
    cell = _cell(settings, name, method, rest or [])
    check_out(settings, arguments.out)

    torch.set_num_threads(settings.training.threads)  # the debiasing's, too
    protocol = settings.training.of(task)
    progress = ignore if arguments.quiet else log_lines(protocol.epochs)
    job = Run(task, name, method, cells.to_path(cell), arguments.split)
    graph = make_graph(settings, name, arguments.out)
    split, debiased = _inputs(settings, job, graph, arguments.out)
    folder = arguments.out / job.folder
    with recording(folder / file for file in FILES):
        record = training.run(
            job,
            module=settings.module(method),
            settings=settings.training_settings(method, name) | cell,
            training=protocol.model_dump(),
            threads=settings.training.threads,
            seed=settings.training_seed(method),
            graph=graph,
            split=split,
            directory=folder,
            progress=progress,
            debiased=debiased,
            device=settings.training.device,
        )
    if record.failure:
        raise FairGATError(f"{record.failure} (recorded in {folder / RUN_JSON})")
    print(f"{1000 * record.runtime['seconds_per_epoch']:.1f} ms an epoch")
    show_run(folder)
    print(folder)


def _check_known(option: str, value: str, known: Collection[str]) -> None:
    """Refuse an option's value that is not among those known."""
    if value not in known:
        raise ConfigError(f"{option} {value!r} is unknown; {nearest(value, known)}")


def _cell(
    settings: Config, dataset: str, method: str, rest: list[str]
) -> dict[str, Any]:
    """Read the hyperparameters, spelled as in the grid and so in folders' names."""
    module, grid = settings.module(method), settings.grid(method, dataset)
    names = list(methods.module(module).Settings.model_fields)
    values = _hyperparameters(method, names, rest)
    missing = [name for name in grid if name not in values]
    if missing:
        text = f"{method} on {dataset} has a grid; say which cell:"
        for name in missing:
            text += f"\n  {_flag(name)}   ({', '.join(map(str, grid[name]))})"
        raise ConfigError(text)

    fixed = settings.methods[method].settings
    checked = methods.settings(module, fixed | values, f"methods.{method}")
    cell = {name: getattr(checked, name) for name in values}
    for candidate in cells.expand(grid):
        if candidate == cell:  # 1 and 1.0 are one
            return candidate
    return cell


def _hyperparameters(method: str, names: list[str], rest: list[str]) -> dict[str, Any]:
    """Read the options for hyperparameters: each a single value, given once."""
    taken = [name for name in sorted(names) if name in _OPTIONS]
    if taken:
        raise ConfigError(
            f"{', '.join(taken)} of {method} is an option of `fairgat train`: give it "
            "another name"
        )
    parser = argparse.ArgumentParser(
        prog=f"fairgat train --method {method}", allow_abbrev=False
    )
    for name in names:
        parser.add_argument(_flag(name), dest=name, action="append", default=[])
    values = {}
    for name, texts in vars(parser.parse_args(rest)).items():
        if not texts:
            continue
        flag = _flag(name)
        if len(texts) > 1:
            raise ConfigError(f"{flag} is given twice")
        values[name] = config.read_value(texts[0], flag)
        if isinstance(values[name], list | dict):
            raise ConfigError(
                f"{flag} takes a single value; see `methods` in config.yaml"
            )
    return values


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _inputs(
    settings: Config, job: Run, graph: Path, out: Path
) -> tuple[Path, Path | None]:
    """Make the split and, for a method that needs one, the debiased graph.

    Returns:
        Their files.
    """
    name, file_name = job.dataset, f"split-{job.split}.npz"
    whole = Graph.load(graph)
    parts = splits.make(
        whole,
        job.task,
        settings.splits,
        settings.seed,
        settings.datasets[name].splits_of or name,
        job.split,
    )
    split = out / "data" / "splits" / job.task / name / file_name
    with recording([split]):
        splits.save(split, parts)
    if not settings.methods[job.method].debiased:
        return split, None

    options = settings.training_settings(job.method, name).get("debias", {})
    seed = splits.seed_of(settings.seed, name, job.split)
    result = debias(whole, parts["train"], Debias(**options), seed)
    debiased = out / "data" / "debiased" / name / job.method / file_name
    with recording([debiased]):
        result.save(debiased)
    return split, debiased
