"""What the analyses share: the published files of a study, paired differences, and where figures and tables go."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import frames
from fairgat.config import Look, read_yaml
from fairgat.files import recording, write_text
from fairgat.report import style
from fairgat.report.model import Table
from fairgat.report.render import render
from fairgat.scores.paired import against
from fairgat.training.record import Record

FORMATS = ("pdf", "svg")
RUN = ["dataset", "method", "cell"]
_ROOT = Path(__file__).resolve().parents[2]
_METHODS = _ROOT / "beyond/methods"


def read(folder: Path, name: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """The rows of a study's file.

    Raises:
        DataError: it is missing or damaged, or lacks one of the columns.
    """
    return frames.read(folder / f"{name}.csv", columns=columns)


def module_of(run: Record) -> str:
    """Find the module of a run; those of 0.4 name one in the package that is in beyond/ now."""
    moved = _METHODS / f"{run.module}.py"
    return str(moved) if moved.is_file() else run.module


def titles(folder: Path) -> dict[str, str]:
    """The title of each method in the study."""
    rows = read(folder, "differences", columns=("method", "title"))
    return dict(zip(rows["method"], rows["title"], strict=True))


def looks(titles: Mapping[str, str]) -> dict[str, style.Look]:
    """How each method (name → title) is drawn, as the configurations have it."""
    chosen: dict[str, Look] = {}
    overlays = [*_ROOT.glob("configs/*.yaml"), *_ROOT.glob("beyond/studies/*.yaml")]
    for path in [_ROOT / "config.yaml", *sorted(overlays)]:
        methods = read_yaml(path).get("methods") or {}
        for name, entry in methods.items():
            if name not in chosen and "look" in entry:
                chosen[name] = Look(**entry["look"])
    return style.looks(titles, chosen)


def datasets(folder: Path) -> dict[str, str]:
    """The title of each data set in the study."""
    rows = read(folder, "differences", columns=("dataset", "dataset_title"))
    return dict(zip(rows["dataset"], rows["dataset_title"], strict=True))


def scores(folder: Path, part: str = "test") -> pd.DataFrame:
    """The scores by split of every cell, at the epochs that the study's own rule chooses."""
    rows = read(
        folder, "scores", columns=(*RUN, "part", "epochs", "metric", "split", "value")
    )
    return rows[(rows["part"] == part) & (rows["epochs"] == "accuracy")]


def less(scores: pd.DataFrame, base: pd.DataFrame, *more: str) -> pd.DataFrame:
    """The paired differences of every cell to `base`, with the 95 % interval for other splits of these people.

    Args:
        base: scores of one cell on each data set; its method is not looked at.
        more: columns beside the data set, the split and the metric in which both have to agree.
    """
    return against(
        scores, base, ["dataset", "split", "metric", *more], [*RUN, "metric", *more]
    )


def ordered(rows: pd.DataFrame, like: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Sort rows by columns whose values come in the order in which they appear in `like`."""
    ranks = {
        name: {value: k for k, value in enumerate(like[name].unique())}
        for name in columns
    }
    return rows.sort_values(
        list(columns), key=lambda values: values.map(ranks[values.name]), kind="stable"
    )


def curve(ax: Axes, x: pd.Series, gaps: pd.DataFrame, look: style.Look) -> None:
    """Draw differences (difference, low, high in points) as a line, and their intervals as a band."""
    middle, low, high = gaps.to_numpy().T
    ax.plot(
        x,
        middle,
        look.line,
        color=look.colour,
        marker=look.marker,
        markersize=3,
        linewidth=1,
    )
    ax.fill_between(x, low, high, color=look.colour, alpha=0.15, linewidth=0)


def published(folder: Path, name: str, figure: Figure) -> list[Path]:
    """Write a figure; the paths."""
    paths = {form: folder / f"{name}.{form}" for form in FORMATS}
    with recording(paths.values()):
        style.save(figure, paths)
    return [*paths.values()]


def tabled(
    folder: Path, name: str, rows: pd.DataFrame, table: Table | None = None
) -> list[Path]:
    """Write rows as CSV, and a table that shows them; the paths."""
    paths = [folder / f"{name}.csv"]
    if table:
        paths.append(folder / f"{name}.md")
    with recording(paths):
        frames.write(paths[0], rows)
        if table:
            write_text(paths[1], render(table, "md"))
    return paths
