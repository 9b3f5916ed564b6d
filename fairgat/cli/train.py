"""`fairgat train`: one cell on one split, also a cell that no grid has."""

import argparse
from pathlib import Path
from typing import Any

import torch

from fairgat import cells, config, methods
from fairgat.cli.data import make_graph
from fairgat.cli.evaluate import show
from fairgat.config import Config
from fairgat.data import datasets, splits
from fairgat.data.graph import Graph
from fairgat.errors import ConfigError, FairGATError, nearest
from fairgat.files import recording
from fairgat.methods.edits.fit import Debias, debias
from fairgat.plan import Run
from fairgat.training import job as training
from fairgat.training.loop import nothing
from fairgat.training.progress import log_lines
from fairgat.training.record import FILES, NAME


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `train`, but for the hyperparameters, which `_cell` reads."""
    parser.description = (
        "Train one cell on one split. Every hyperparameter of the method is an option: --alpha-chi-max 0.75 --eta 1. "
        "The graph, the split and the run are made again in a separate folder, laid out as the workflow's; only "
        "files that were downloaded there before are used again. Everything else is set in configuration files."
    )
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--method", required=True)
    parser.add_argument(
        "--split", type=int, default=0, help="number of the split (default: 0)"
    )
    parser.add_argument(
        "--config",
        nargs="+",
        default=["config.yaml"],
        metavar="FILE",
        help="configuration files",
    )
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
    settings, name, method = (
        config.load_files(*arguments.config),
        arguments.dataset,
        arguments.method,
    )
    datasets.check(settings)
    for option, given, known in (
        ("--dataset", name, settings.datasets),
        ("--method", method, settings.methods),
    ):
        if given not in known:
            raise ConfigError(f"{option} {given!r} is unknown; {nearest(given, known)}")
    task = settings.datasets[name].task
    if task not in settings.methods[method].tasks:
        raise ConfigError(f"{method} does not do {task}, the task of {name}")
    if arguments.split < 0:
        raise ConfigError(f"--split counts from 0, got {arguments.split}")
    cell = _cell(settings, name, method, rest or [])
    if arguments.out.resolve().is_relative_to(Path(settings.results_dir).resolve()):
        raise ConfigError(
            f"--out {arguments.out} is where the workflow writes; give another folder"
        )

    torch.set_num_threads(settings.training.threads)  # the debiasing's, too
    job, epochs = (
        Run(task, name, method, cells.to_path(cell), arguments.split),
        settings.training.of(task).epochs,
    )
    graph = make_graph(settings, name, arguments.out)
    split, debiased = _inputs(settings, job, graph, arguments.out)
    folder = arguments.out / job.folder
    with recording(folder / file for file in FILES):
        record = training.run(
            job,
            module=settings.module(method),
            settings=settings.training_settings(method, name) | cell,
            training=settings.training.of(task).model_dump(),
            threads=settings.training.threads,
            seed=settings.training_seed(method),
            graph=graph,
            split=split,
            directory=folder,
            progress=nothing if arguments.quiet else log_lines(epochs),
            debiased=debiased,
            device=settings.training.device,
        )
    if record.failure:
        raise FairGATError(f"{record.failure} (recorded in {folder / NAME})")
    print(f"{1000 * record.runtime['seconds_per_epoch']:.1f} ms an epoch")
    show(folder)
    print(folder)


def _cell(
    settings: Config, dataset: str, method: str, rest: list[str]
) -> dict[str, Any]:
    """Read the hyperparameters, in the spelling of the grid, so that the workflow finds the files."""
    module, grid = settings.module(method), settings.grid(method, dataset)
    given = _given(method, [*methods.module(module).Settings.model_fields], rest)
    if missing := {name: values for name, values in grid.items() if name not in given}:
        wanted = "\n".join(
            f"  {_flag(name)}   ({', '.join(map(str, values))})"
            for name, values in missing.items()
        )
        raise ConfigError(
            f"{method} on {dataset} has a grid; say which cell:\n{wanted}"
        )
    checked = methods.settings(
        module, settings.methods[method].settings | given, f"methods.{method}"
    )
    cell = {name: getattr(checked, name) for name in given}
    return next(
        (candidate for candidate in cells.expand(grid) if candidate == cell), cell
    )  # 1 and 1.0 are one


def _given(method: str, names: list[str], rest: list[str]) -> dict[str, Any]:
    """Read the options for the hyperparameters of these names: each a single value, given once."""
    if taken := sorted(
        {"config", "dataset", "method", "out", "quiet", "split"} & set(names)
    ):
        raise ConfigError(
            f"{', '.join(taken)} of {method} is an option of `fairgat train`: give it another name"
        )
    parser = argparse.ArgumentParser(
        prog=f"fairgat train --method {method}", allow_abbrev=False
    )
    for name in names:
        parser.add_argument(_flag(name), dest=name, action="append", default=[])
    given = {}
    for name, texts in vars(parser.parse_args(rest)).items():
        if len(texts) > 1:
            raise ConfigError(f"{_flag(name)} is given twice")
        if texts:
            given[name] = config.read_value(texts[0], _flag(name))
        if isinstance(given.get(name), list | dict):
            raise ConfigError(
                f"{_flag(name)} takes a single value; see `methods` in config.yaml"
            )
    return given


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _inputs(
    settings: Config, job: Run, graph: Path, out: Path
) -> tuple[Path, Path | None]:
    """Make the split and, for a method that needs one, the debiased graph; returns their files."""
    whole, name, number = Graph.load(graph), job.dataset, f"split-{job.split}.npz"
    split, like = (
        out / "data" / "splits" / job.task / name / number,
        settings.datasets[name].splits_of or name,
    )
    parts = splits.make(
        whole, job.task, settings.splits, settings.seed, like, job.split
    )
    with recording([split]):
        splits.save(split, parts)
    if not settings.methods[job.method].debiased:
        return split, None
    path = out / "data" / "debiased" / name / job.method / number
    chosen = Debias(**settings.training_settings(job.method, name).get("debias", {}))
    seed = splits.seed_of(settings.seed, name, job.split)
    edited = debias(whole, parts["train"], chosen, seed)
    with recording([path]):
        edited.save(path)
    return split, path
