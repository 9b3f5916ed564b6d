"""The folder of an earlier run that is judged anew (`judge_from`)."""

from pathlib import Path

from fairgat.config import Config
from fairgat.errors import ConfigError, DataError
from fairgat.files import read_json

DECIDES = ("seed", "splits", "training")
"""Settings that decide what was trained, whatever is run of it."""


def check_judged(config: Config) -> None:
    """Check that `judge_from` is a run by the same seed, splits and training.

    Raises:
        ConfigError: it is no run's folder or the one that is written to, or a setting
            that decided its training differs.
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
    provenance = folder / "provenance.json"
    if provenance.exists():
        _check_settings(provenance, config)


def _check_settings(provenance: Path, config: Config) -> None:
    """Refuse settings that are not those of the earlier run, as it recorded them."""
    try:
        recorded = read_json(provenance).get("config", {})
    except DataError as error:
        raise ConfigError(f"judge_from: {error}") from None
    asked = config.model_dump(mode="json", include=set(DECIDES))
    for key in DECIDES:
        _check_same(key, recorded.get(key), asked[key], provenance)


def _check_same(key: str, before: object, now: object, provenance: Path) -> None:
    """Refuse a setting with another value.

    One that an earlier version did not have is passed over.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before.keys() & now.keys():
            _check_same(f"{key}.{name}", before[name], now[name], provenance)
    elif before is not None and before != now:
        raise ConfigError(
            f"judge_from: the run was made with {key}: {before} ({provenance}), and "
            f"the configuration has {now}; give the run's own configuration files"
        )
