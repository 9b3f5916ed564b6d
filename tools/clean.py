"""Remove what this project's commands made (`make clean`), and say what is left.

Needs nothing but Python. No link is followed, and none removed: it is somebody's. A
results folder is one with logs/ and benchmarks/, which every run of the workflow
writes; of it those parts go that a run makes. results/reference stays, as Git keeps it.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

FOLDERS = (".bench-peers", ".crate-validator", ".gpu-test", ".snakemake")
MARKS = (".made-by-make-env", ".complete")  # of a .venv, as tools/env.sh leaves them
RESULTS = {"logs", "benchmarks"}
PARTS = RESULTS | {
    *("data", "runs", "summary", "perfect", "runtime", "theory", "account"),
    *("tables", "figures", "audit", "costs", "studies", "workflow"),
    *("explore.html", "report.html", "provenance.json", "provenance.json.sha256"),
    *("provenance.html", "ro-crate-metadata.json"),
    *(".snakemake_timestamp", ".snakemake-key"),
}
WHOLE = PARTS | {*FOLDERS, ".venv"}  # other folders go where they are empty


def made(root: Path) -> Iterator[Path]:
    """List what goes, in the folder of a checkout."""
    venv = root / ".venv"
    if any((venv / mark).exists() for mark in MARKS):
        yield venv
    for name in FOLDERS:
        yield root / name
    yield from _parts(root / "by-hand")
    results = root / "results"
    yield from _parts(results)
    for folder in _results_within(results):
        yield from _parts(folder)
        for study in folder.glob("studies/*"):  # its report, by `make evidence`
            yield results / f"{study.name}.html"


def _results_within(folder: Path) -> Iterator[Path]:
    """Find the results folders in a folder, the inner ones first."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name in PARTS or path.name == "reference":
            continue
        yield from _results_within(path)
        if not path.is_symlink() and all((path / name).is_dir() for name in RESULTS):
            yield path


def _parts(folder: Path) -> list[Path]:
    """List the parts of a results folder, and last the folder, which goes if empty."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [*(folder / name for name in sorted(PARTS)), folder]


def clean(root: Path) -> list[str]:
    """Remove what was made; give what is left in its places, each with the reason."""
    left = []
    for path in list(made(root)):
        try:
            _remove(path)
        except OSError as error:
            left.append(f"{path.relative_to(root)}: {error.strerror}")
    for path in [root / ".venv", root / "by-hand", root / "results"]:
        if path.is_symlink():
            left.append(f"{path.relative_to(root)}: a link, to {path.readlink()}")
        elif path.name == ".venv" and path.exists():
            left.append(f"{path.relative_to(root)}: `make env` did not make it")
        elif path.is_dir():
            left += _others(path, root)
    return left


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.exists():
        return
    if path.is_file():
        path.unlink()
    elif path.name in WHOLE:
        shutil.rmtree(path)
    elif not any(path.iterdir()):
        path.rmdir()


def _others(folder: Path, root: Path) -> list[str]:
    others = [path for path in sorted(folder.iterdir()) if path.name != "reference"]
    return [f"{path.relative_to(root)}: no run made it" for path in others]


if __name__ == "__main__":
    for line in clean(Path()):
        print(f"Left: {line}")
