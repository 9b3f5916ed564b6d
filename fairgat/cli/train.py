"""`fairgat train`: the workflow's training job for one cell and split, with a progress bar."""

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
from fairgat.methods.edits.fit import Debias, debias
from fairgat.plan import Run
from fairgat.theory.network import measure_every
from fairgat.training import job as training
from fairgat.training.progress import bar
from fairgat.training.record import NAME


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `train`, but for the hyperparameters, which `_options` reads."""
    parser.description = (
        "Train one cell on one split. Every hyperparameter of the method is an option: --alpha-chi-max 0.75 --eta 1. "
        "The graph, the split and the run are made again in a separate folder, laid out as the workflow's; only "
        "files that were downloaded there before are used again."
    )
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--method", required=True)
    parser.add_argument("--split", type=int, default=0, help="number of the split (default: 0)")
    parser.add_argument("--epochs", type=int, help="in place of the protocol's")
    parser.add_argument("--seed", type=int, help="in place of the configuration's")
    parser.add_argument("--threads", type=int, help="CPU threads, in place of the configuration's")
    parser.add_argument("--config", nargs="+", action="extend", metavar="FILE", help="configuration files")
    parser.add_argument("--out", type=Path, default=Path("by-hand"), metavar="FOLDER", help="default: by-hand")
    parser.add_argument("--data-mirror", help="in place of the configuration's")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run, takes_rest=True)


def run(arguments: argparse.Namespace, rest: list[str] | None = None) -> None:
    settings = config.load_files(*(arguments.config or ["config.yaml"]))
    datasets.check(settings)
    for name, known in (("dataset", settings.datasets), ("method", settings.methods)):
        if (given := getattr(arguments, name)) not in known:
            raise ConfigError(f"--{name} {given!r} is unknown; {nearest(given, known)}")
    task = settings.datasets[arguments.dataset].task
    if task not in settings.methods[arguments.method].tasks:
        raise ConfigError(f"{arguments.method} does not do {task}, the task of {arguments.dataset}")
    for name, least in (("split", 0), ("epochs", 1), ("seed", 0), ("threads", 1)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise ConfigError(f"--{name} counts from {least}, got {value}")

    cell = _cell(settings, arguments.dataset, arguments.method, rest or [])
    protocol = settings.training.of(task).model_dump()
    if arguments.epochs is not None:
        protocol["epochs"] = arguments.epochs
    out = arguments.out
    if out.resolve().is_relative_to(Path(settings.results_dir).resolve()):
        raise ConfigError(f"--out {out} is where the workflow writes; give another folder")
    seed = settings.seed if arguments.seed is None else arguments.seed
    threads = arguments.threads or settings.training.threads
    torch.set_num_threads(threads)  # the debiasing's, too
    graph = make_graph(settings, arguments.dataset, out, arguments.data_mirror, seed)
    job = Run(task, arguments.dataset, arguments.method, cells.to_path(cell), arguments.split)
    split, debiased = _inputs(settings, job, seed, graph, out, arguments.quiet)
    directory = out / job.folder
    theory_every = settings.theory_every(task)
    record = training.run(
        job,
        module=settings.module(job.method),
        settings=settings.training_settings(job.method, job.dataset) | cell,
        training=protocol,
        threads=threads,
        seed=settings.training_seed(job.method) if arguments.seed is None else seed,
        graph=graph,
        split=split,
        directory=directory,
        progress=None if arguments.quiet else bar(protocol["epochs"], f"{job.method} on {job.dataset}"),
        debiased=debiased,
        observe=measure_every(theory_every) if theory_every else None,
    )
    if record.failure:
        raise FairGATError(f"{record.failure} (recorded in {directory / NAME})")
    print(f"{1000 * record.runtime['seconds_per_epoch']:.1f} ms an epoch")
    show(directory)
    print(directory)


def _cell(settings: Config, dataset: str, method: str, rest: list[str]) -> dict[str, Any]:
    entry = settings.methods[method]
    grid = settings.grid(method, dataset)
    known = methods.module(settings.module(method)).Settings.model_fields
    given = _options(rest, list(known))
    for name in given:
        if isinstance(given[name], list | dict):
            raise ConfigError(f"--{_flag(name)} takes a single value; see `methods` in config.yaml")
    missing = {name: values for name, values in grid.items() if name not in given}
    if missing:
        wanted = "\n".join(f"  --{_flag(name)}   ({', '.join(map(str, values))})" for name, values in missing.items())
        raise ConfigError(f"{method} on {dataset} has a grid; say which cell:\n{wanted}")
    checked = methods.settings(settings.module(method), entry.settings | given, f"methods.{method}")
    cell = {name: getattr(checked, name) for name in given}
    # 1 and 1.0 are the same cell: take the spelling of the grid, so that the workflow finds the files
    return next((candidate for candidate in cells.expand(grid) if candidate == cell), cell)


def _options(rest: list[str], known: list[str]) -> dict[str, Any]:
    given, arguments = {}, iter(rest)
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if not flag.startswith("--") or name not in known:
            options = [f"--{_flag(name)}" for name in known]
            raise ConfigError(f"unknown argument {flag!r}; {nearest(flag, options)}")
        value = value if equals else next(arguments, None)
        if value is None:
            raise ConfigError(f"{flag} needs a value")
        if name in given:
            raise ConfigError(f"{flag} is given twice")
        given[name] = config.read_value(value, flag)
    return given


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _inputs(settings: Config, job: Run, seed: int, graph: Path, out: Path, quiet: bool) -> tuple[Path, Path | None]:
    """Make the split and, for a method that needs one, the debiased graph; returns their files."""
    whole, name, number = Graph.load(graph), job.dataset, f"split-{job.split}.npz"
    split, like = out / "data" / "splits" / job.task / name / number, settings.datasets[name].splits_of or name
    parts = splits.make(whole, job.task, settings.splits, seed, like, job.split)
    splits.save(split, parts)
    if not settings.methods[job.method].debiased:
        return split, None
    path = out / "data" / "debiased" / name / job.method / number
    chosen = Debias(**settings.training_settings(job.method, name).get("debias", {}))
    progress = None if quiet else bar(chosen.epochs, f"debiasing {name}")
    debias(whole, parts["train"], chosen, splits.seed_of(seed, name, job.split), progress).save(path)
    return split, path
