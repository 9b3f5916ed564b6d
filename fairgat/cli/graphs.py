"""Get the graph of a data set outside the workflow, for the commands that need one."""

from pathlib import Path

from fairgat.config import Config
from fairgat.data import datasets, download


def make_graph(
    config: Config, name: str, folder: str | Path, data_mirror: str | None = None, seed: int | None = None
) -> Path:
    """Fetch the raw files of a data set and make its graph, in `folder`/data as the workflow lays it out.

    `data_mirror` and `seed` override the configuration's.
    """
    settings, folder = config.datasets[name], Path(folder) / "data"
    raw, path = folder / "raw" / name, folder / "graphs" / f"{name}.npz"
    mirror = data_mirror or config.data_mirror
    download.acquire(name, datasets.files_of(name, settings), raw, Path(mirror) if mirror else None)
    datasets.prepare(name, settings, raw, config.seed if seed is None else seed).save(path)
    return path
