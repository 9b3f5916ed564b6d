"""What the analyses share.

How the published files of a study are read, paired differences, and where figures and
tables go.
"""

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
    """Read the rows of a study's file.

    Raises:
        DataError: it is missing or damaged, or lacks one of the columns.
    """
    return frames.read(folder / f"{name}.csv", columns=columns)


def module_of(run: Record) -> str:
    """Find the module of a run, in 0.4 by its name in the package, now in beyond/."""
    moved = _METHODS / f"{run.module}.py"
    return str(moved) if moved.is_file() else run.module


def titles(folder: Path) -> dict[str, str]:
    """Give the title of each method in the study."""
    rows = read(folder, "differences", columns=("method", "title"))
    return dict(zip(rows["method"], rows["title"], strict=True))


def looks(titles: Mapping[str, str]) -> dict[str, style.Look]:
    """Give each method (name → title) the look that the configurations have for it.

    Where several have one, it is that of config.yaml or else of the first overlay.
    """
    chosen: dict[str, Look] = {}
    overlays = [*_ROOT.glob("configs/*.yaml"), *_ROOT.glob("beyond/studies/*.yaml")]
    for path in [_ROOT / "config.yaml", *sorted(overlays)]:
        content = read_yaml(path)
        for name, entry in (content.get("methods") or {}).items():
            if name not in chosen and "look" in entry:
                chosen[name] = Look(**entry["look"])
    return style.looks(titles, chosen)


def datasets(folder: Path) -> dict[str, str]:
    """Give the title of each data set in the study."""
    rows = read(folder, "differences", columns=("dataset", "dataset_title"))
    return dict(zip(rows["dataset"], rows["dataset_title"], strict=True))


def scores(folder: Path, part: str = "test") -> pd.DataFrame:
    """Read the scores by split of every cell.

    They are of the epochs that the study's own rule chooses.
    """
    columns = (*RUN, "part", "epochs", "metric", "split", "value")
    rows = read(folder, "scores", columns)
    is_part = rows["part"] == part
    own_rule = rows["epochs"] == "accuracy"
    return rows[is_part & own_rule]


def less(scores: pd.DataFrame, base: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Compute the paired differences of every cell to `base`.

    Each has the 95 % interval for other splits of these people.

    Args:
        base: scores of one cell on each data set; its method is not looked at.
        more: columns beside the data set, the split and the metric in which both have
            to agree.
    """
    agreeing = ["dataset", "split", "metric", *more]
    return against(scores, base, agreeing, keys=[*RUN, "metric", *more])


def ordered(rows: pd.DataFrame, like: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Sort rows by columns whose values come in the order that `like` has them in."""

    def rank(values: pd.Series) -> pd.Series:
        order = pd.Index(like[values.name].unique())
        return pd.Series(order.get_indexer(values), values.index)

    return rows.sort_values(list(columns), key=rank, kind="stable")


def curve(ax: Axes, x: pd.Series, gaps: pd.DataFrame, look: style.Look) -> None:
    """Draw differences as a line, and their intervals as a band.

    Args:
        gaps: the columns are a difference and its interval's two ends, in points.
    """
    difference, low, high = gaps.to_numpy().T
    drawn = {"color": look.colour, "marker": look.marker}
    ax.plot(x, difference, look.line, markersize=3, linewidth=1, **drawn)
    ax.fill_between(x, low, high, color=look.colour, alpha=0.15, linewidth=0)


def published(folder: Path, name: str, figure: Figure) -> list[Path]:
    """Write a figure in each of FORMATS; give the paths."""
    paths = {form: folder / f"{name}.{form}" for form in FORMATS}
    with recording(paths.values()):
        style.save(figure, paths)
    return [*paths.values()]


def tabled(
    folder: Path, name: str, rows: pd.DataFrame, table: Table | None = None
) -> list[Path]:
    """Write rows as CSV, and a table that shows them as Markdown; give the paths."""
    csv = folder / f"{name}.csv"
    page = folder / f"{name}.md"
    paths = [csv, page] if table else [csv]
    with recording(paths):
        frames.write(csv, rows)
        if table:
            write_text(page, render(table, "md"))
    return paths
