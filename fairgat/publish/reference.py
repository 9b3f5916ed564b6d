"""Copy what is published of a finished run into its folder `reference`."""

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat import frames
from fairgat.checksums import PUBLISHED, SUFFIX
from fairgat.errors import DataError
from fairgat.files import (
    copy,
    damaged,
    irregular,
    read_json,
    record_published,
    recording,
    sha256_of,
    stays_inside,
    write_text,
)
from fairgat.publish import readme
from fairgat.publish.predictions import chosen_runs, keep_predictions

LARGEST = 10 << 20  # bytes per file


def publish(results: Path, trained: Path | None = None) -> Path:
    """Copy a run's files and studies into its folder `reference`, in place of the old.

    A study that was published before and not made now is kept. Of each cell in the
    tables, run.json and predictions go along. Of pages and pictures, .html and .png are
    left out: .md and .svg show the same.

    Args:
        results: the run's folder, whose provenance.json lists its files. Studies are in
            its folder `studies`, or in that of another results folder within it.
        trained: the folder of the run whose trainings this one judged (`judge_from`),
            for their predictions.

    Returns:
        The published folder, which stays what it was until the new one is whole.

    Raises:
        DataError: this is no results folder, the run is not finished, `trained` has
            none of its trainings, a file was changed after it was written or made again
            since provenance.json was, is too large to be kept under version control or
            lies elsewhere, two studies have one name, or `reference` is something that
            was not published.
    """
    folder = results / "reference"
    provenance = _provenance(results)
    _restore(folder)
    _check_replaceable(folder)
    copies = _copies(results, provenance["files"])
    copies |= _runs(results, trained, provenance["config"])
    _check(results, copies)
    _check_same(results, copies, provenance["files"])
    for root in _roots_of_studies(results):
        path = root / "provenance.json"
        if path in copies:
            _check_same(root, copies, read_json(path).get("files", []))

    prefix = f".{folder.name}."
    with tempfile.TemporaryDirectory(dir=results, prefix=prefix) as temporary:
        fresh = Path(temporary) / folder.name
        for path, place in copies.items():
            copy(path, fresh / place)
        keep_predictions(trained or results, fresh)
        _keep_studies(folder, fresh)
        rules = pd.DataFrame.from_dict(provenance["rules"], orient="index")
        rules.to_csv(fresh / "rules.csv", index_label="rule", lineterminator="\n")
        write_text(fresh / "README.md", readme.rendered(fresh))
        record_published(fresh)
        _replace(folder, fresh, before=Path(temporary) / "before")
    return folder


def _keep_studies(folder: Path, fresh: Path) -> None:
    """Copy what was published of a study that is not made now."""
    for study in sorted((folder / "studies").glob("*")):
        kept = fresh / "studies" / study.name
        if not kept.exists():
            name = study.name
            print(f"no study {name} was made: the one published before stays as it is")
            shutil.copytree(study, kept, copy_function=copy)


def _replace(folder: Path, fresh: Path, before: Path) -> None:
    """Put a fresh folder in a folder's place, which is at `before` meanwhile."""
    try:
        if folder.exists():
            folder.rename(before)
        fresh.rename(folder)
    except BaseException:
        if before.exists() and not folder.exists():
            before.rename(folder)
        raise


def render_again(published: Path) -> None:
    """Render README.md of a published folder anew, from what lies in it.

    Raises:
        DataError: the folder is not a published run, or a file in it was changed.
    """
    if not (published / "provenance.json").exists():
        raise DataError(
            f"{published} is not a published run, which has provenance.json: give "
            "the folder that it is in by --results-dir"
        )
    page = published / "README.md"
    text = readme.rendered(published)
    if not (published / PUBLISHED).exists():  # of an earlier version
        record_published(published)
    with recording([page]):
        write_text(page, text)


def _provenance(results: Path) -> dict[str, Any]:
    """Read provenance.json, whose `files` are what to copy."""
    path = results / "provenance.json"
    if not path.exists():
        raise DataError(
            f"{results} is not the folder of a finished run, which has "
            "provenance.json: give one by --results-dir"
        )
    provenance = read_json(path)
    if not isinstance(provenance, dict) or "files" not in provenance:
        raise DataError(
            f"{path} is of an earlier version and lists no files. Run it again."
        )
    for name in provenance["files"]:
        if not isinstance(name, str) or not stays_inside(name):
            raise damaged(path, f"lists {name!r}, which is no file within {results}")
    return provenance


def _restore(folder: Path) -> None:
    """Put back the folder that a killed publication was about to replace."""
    kept = sorted(folder.parent.glob(f".{folder.name}.*/before"))
    if kept and not folder.exists():
        kept[-1].rename(folder)


def _check_replaceable(folder: Path) -> None:
    """Refuse to take the place of what was not published: a link, or another folder."""
    if folder.is_symlink():
        raise DataError(
            f"{folder} is a link; publishing would take its place. Remove it"
        )
    if not folder.exists() or (folder / "provenance.json").exists():
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise DataError(
            f"{folder} is no published run, as it has no provenance.json, and "
            "publishing would take its place. Move it away"
        )


def _copies(results: Path, files: Iterable[str]) -> dict[Path, Path]:
    """List what is published, and where in the published folder it goes."""
    copies = {results / name: Path(name) for name in [*files, "provenance.json"]}
    for path in sorted(results.glob("studies/*/*")):
        copies[path] = path.relative_to(results)
    for root in _roots_of_studies(results):
        copies |= _of_study(root)
    left_out = (".html", ".png", SUFFIX)
    return {path: copies[path] for path in copies if path.suffix not in left_out}


def _runs(
    results: Path, trained: Path | None, config: Mapping[str, Any]
) -> dict[Path, Path]:
    """List the run.json files of the cells in the tables, as `_copies` does."""
    runs = chosen_runs(results, trained or results, config["selection"]["rule"])
    if trained and not runs:
        raise DataError(f"{trained} has none of the trainings that {results} judges")
    return runs


def _roots_of_studies(results: Path) -> list[Path]:
    """List the results directories within another one that have studies."""
    roots = [studies.parent for studies in sorted(results.glob("*/studies"))]
    return [root for root in roots if root.name != "reference"]


def _of_study(root: Path) -> dict[Path, Path]:
    """List what is published of a study that has a results directory of its own."""
    kinds = ["provenance.json", "figures/account.*", "tables/account.*"]
    if audited(root):
        kinds.append("audit/*")
    studies = sorted(root.glob("studies/*/*"))
    copies = {path: path.relative_to(root) for path in studies}
    for kind in kinds:
        for path in root.glob(kind):
            copies[path] = Path("studies", root.name, path.name)
    return copies


def _check(results: Path, copies: dict[Path, Path]) -> None:
    """Refuse what cannot be published."""
    first = dict[Path, Path]()
    for path, place in copies.items():
        other = first.setdefault(place, path)
        if other != path:
            raise DataError(
                f"{other} and {path} would both be published as {place}: remove or "
                "rename one of the studies"
            )
        if not stays_inside(str(place)):
            raise DataError(
                f"{path} would be published as {place}, outside of {results}. Run it "
                "again."
            )
        if not path.exists():
            raise DataError(
                f"the run in {results} is not whole: {path} does not exist. Run it "
                "again."
            )
        what = irregular(path)
        if what:
            raise DataError(f"{path} is {what}, and a file is needed. Run it again.")
        size = path.stat().st_size
        if size > LARGEST:
            raise DataError(f"{path} has {size} bytes: too large to be published")


def _check_same(
    results: Path, copies: Iterable[Path], files: Mapping[str, str] | Sequence[str]
) -> None:
    """Refuse files that were made again since provenance.json was.

    Provenance of an earlier version lists files without their checksums.
    """
    if not isinstance(files, Mapping):
        return
    for name in files:
        path = results / name
        if path in copies and sha256_of(path) != files[name]:
            raise DataError(
                f"{path} is another file than {results / 'provenance.json'} is about: "
                "it was made again since, perhaps with other settings. Finish the run "
                "by the same command without a target, then publish."
            )


def audited(results: Path) -> bool:
    """Tell whether a run had any of the paper's results to compare with."""
    path = results / "audit/paper_vs_reproduced.csv"
    if not path.exists():
        return False
    means = frames.read(path, columns=("mean",))["mean"]
    return bool(means.notna().any())
