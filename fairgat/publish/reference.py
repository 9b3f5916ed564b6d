"""Copy what is published of a finished run into its folder `reference`."""

import shutil
import tempfile
from pathlib import Path

import pandas as pd

from fairgat import frames
from fairgat.checksums import SUFFIX
from fairgat.errors import DataError
from fairgat.files import copy, read_json, record_published, write_text
from fairgat.plan import cell_folder
from fairgat.publish import pages

LARGEST = 5 << 20  # bytes per file
SMALL = 512 << 10  # bytes of predictions: five epochs of 25,000 nodes


def publish(results: Path) -> Path:
    """Copy a run's files and studies into `reference` in its folder, which afterwards holds them and nothing else.

    Args:
        results: the run's results directory, whose provenance.json lists its files. Studies, each made by a
            separate run, are looked for in its folder `studies` and in that of each results directory within it, whose
            provenance, account and, if it has results of the paper, audit go to the study of the directory's name. What
            was published of a study stays where there is none of that name. Of each chosen cell, the first split's
            run.json and predictions are copied, where these are small: what a new measure is tried on. Of pages and
            pictures, .html and .png are left out: .md and .svg show the same.

    Returns:
        The published folder, which stays what it was until the new one is whole.

    Raises:
        DataError: the run is not finished, a file was changed after it was written or is too
            large to be kept under version control, or two studies have one name.
    """
    folder, provenance = results / "reference", read_json(results / "provenance.json")
    if "files" not in provenance:
        raise DataError(
            f"{results / 'provenance.json'} is of an earlier version and lists no files. Run it again."
        )
    copies = _copies(results, provenance["files"])
    _check(results, copies)
    with tempfile.TemporaryDirectory(
        dir=results, prefix=f".{folder.name}."
    ) as temporary:
        fresh = Path(temporary) / folder.name
        for path, place in copies.items():
            copy(path, fresh / place)
        for study in sorted((folder / "studies").glob("*")):
            if not (fresh / "studies" / study.name).exists():
                print(
                    f"no study {study.name} was made: the one published before stays as it is"
                )
                kept = fresh / "studies" / study.name
                shutil.copytree(study, kept, copy_function=copy)
        rules = pd.DataFrame.from_dict(provenance["rules"], orient="index")
        rules.to_csv(fresh / "rules.csv", index_label="rule", lineterminator="\n")
        write_text(fresh / "README.md", pages.rendered("reference", fresh, ".") + "\n")
        record_published(fresh)
        before = Path(temporary) / "before"  # which is removed with its folder
        if folder.exists():
            folder.rename(before)
        try:
            fresh.rename(folder)
        except BaseException:
            if before.exists():
                before.rename(folder)
            raise
    return folder


def _copies(results: Path, files: list[str]) -> dict[Path, Path]:
    """List what is published, and where in the published folder it goes."""
    copies = {results / name: Path(name) for name in [*files, "provenance.json"]}
    copies |= {path: path.relative_to(results) for path in _predictions(results)}
    copies |= {
        path: path.relative_to(results) for path in sorted(results.glob("studies/*/*"))
    }
    for place in sorted(results.glob("*/studies")):
        copies |= _of_study(place.parent) if place.parent.name != "reference" else {}
    return {
        path: place
        for path, place in copies.items()
        if path.suffix not in (".html", ".png", SUFFIX)
    }


def _predictions(results: Path) -> list[Path]:
    """List run.json and the predictions of every chosen cell's first split, where these are small."""
    runs = []
    for winners in sorted(results.glob("summary/*/winners.csv")):
        keys = ["dataset", "method", "cell"]
        chosen = frames.read(winners, columns=keys)[keys].dropna().drop_duplicates()
        cells = chosen.itertuples(index=False)
        runs += [
            results / cell_folder(winners.parent.name, *cell) / "split-0"
            for cell in cells
        ]
    kept = [
        run
        for run in runs
        if (file := run / "predictions.npz").exists() and file.stat().st_size <= SMALL
    ]
    return [run / name for run in kept for name in ("run.json", "predictions.npz")]


def _of_study(root: Path) -> dict[Path, Path]:
    """What is published of a study that has a results directory of its own."""
    about = [
        *root.glob("provenance.json"),
        *root.glob("figures/account.*"),
        *root.glob("tables/account.*"),
    ]
    about += root.glob("audit/*") if audited(root) else []
    copies = {path: path.relative_to(root) for path in sorted(root.glob("studies/*/*"))}
    return copies | {path: Path("studies", root.name, path.name) for path in about}


def _check(results: Path, copies: dict[Path, Path]) -> None:
    first = dict[Path, Path]()
    for path, place in copies.items():
        if (other := first.setdefault(place, path)) != path:
            raise DataError(
                f"{other} and {path} would both be published as {place}: remove or rename one of the studies"
            )
        if not path.exists():
            raise DataError(
                f"the run in {results} is not whole: {path} does not exist. Run it again."
            )
        if path.stat().st_size > LARGEST:
            raise DataError(
                f"{path} has {path.stat().st_size} bytes: too large to be published"
            )


def audited(results: Path) -> bool:
    """Tell whether a run had any of the paper's results to compare with."""
    path = results / "audit/paper_vs_reproduced.csv"
    return path.exists() and bool(
        frames.read(path, columns=("mean",))["mean"].notna().any()
    )
