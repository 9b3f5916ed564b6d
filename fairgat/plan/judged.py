"""The folder of an earlier run that is judged anew (`judge_from`)."""

from pathlib import Path
from typing import Any

from fairgat.config import Config
from fairgat.errors import ConfigError, DataError
from fairgat.files import read_json

DECIDES = ("seed", "splits", "training")
"""Settings that decide what was trained, whatever is run of it."""
OF_DATA_SETS = ("task", "options", "splits_of")
"""Those of a data set that do. The names of modules do not count, as they move."""


def check_judged(config: Config) -> None:
    """Check that `judge_from` is a run by the same settings.

    These are the seed, the splits and the training, and of what is run the data sets'
    options and the methods' seeds. Methods' settings are compared later, with their
    defaults (`fairgat.scores.asked`).

    Raises:
        ConfigError: it is no run's folder or the one that is written to, this one has
            trainings of its own, or a setting that decided its training differs.
    """
    folder = Path(config.judge_from or "")
    has_results = (folder / "summary").is_dir() or (folder / "runs").is_dir()
    if not has_results:
        raise ConfigError(
            f"judge_from: {folder} is not the folder of a run: it has neither runs nor "
            "summary"
        )
    if folder.resolve() == Path(config.results_dir).resolve():
        raise ConfigError(
            f"judge_from: {folder} is results_dir, too; write to another folder"
        )
    own = next(Path(config.results_dir, "runs").rglob("run.json"), None)
    if own:
        raise ConfigError(
            f"results_dir: {config.results_dir} has trainings of its own ({own}), and "
            f"the scores and tables of {folder} would take the place of theirs; write "
            "to another folder"
        )
    earlier = recorded(config)
    asked = config.model_dump(mode="json")
    for key in DECIDES:
        _check_same(key, earlier.get(key), asked[key], folder)
    for name in config.datasets_run:
        before = earlier.get("datasets", {}).get(name, {})
        for key in OF_DATA_SETS:
            now = asked["datasets"][name][key]
            if before.get(key, now) != now:
                raise _other(f"datasets.{name}.{key}", before[key], now, folder)
    for name in _methods_run(config):
        before = earlier.get("methods", {}).get(name, {})
        own = before.get("seed")
        seed = earlier.get("seed") if own is None else own
        _check_same(f"methods.{name}.seed", seed, config.training_seed(name), folder)


def recorded(config: Config) -> dict[str, Any]:
    """Give the configuration that `judge_from` was made with, as it recorded it.

    Empty where it did not.

    Raises:
        ConfigError: its provenance.json is damaged.
    """
    path = Path(config.judge_from or "", "provenance.json")
    if not path.exists():
        return {}
    try:
        return read_json(path).get("config", {})
    except DataError as error:
        raise ConfigError(f"judge_from: {error}") from None


def _methods_run(config: Config) -> list[str]:
    """List the methods that are run on any data set."""
    methods: dict[str, None] = {}  # each once, in order
    for dataset in config.datasets_run:
        methods |= dict.fromkeys(config.methods_on(dataset))
    return list(methods)


def _check_same(key: str, before: object, now: object, folder: Path) -> None:
    """Refuse a setting with another value.

    One that an earlier version did not have is passed over.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before.keys() & now.keys():
            _check_same(f"{key}.{name}", before[name], now[name], folder)
    elif before is not None and before != now:
        raise _other(key, before, now, folder)


def _other(key: str, before: object, now: object, folder: Path) -> ConfigError:
    """Make the error for a setting with another value."""
    return ConfigError(
        f"judge_from: the run was made with {key}: {before} "
        f"({folder / 'provenance.json'}), and the configuration has {now}; give the "
        "run's own configuration files"
    )
