"""Draw README's picture, docs/verdict.svg: FairGAT less GAT on each data set.

People are those of the published run, articles those of the planned study, which has
step 3 by itself and a placebo as well:
`python -m beyond.analyses.verdict [results/reference] [docs/verdict.svg]`
"""

import sys
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from fairgat import frames, paper
from fairgat.errors import DataError, FairGATError
from fairgat.report import style

RUN = "audit/paired.csv"
STUDY = "studies/centring/differences.csv"
COLUMNS = ["dataset", "method", "metric", "n_splits", "difference", "corrected"]
PEOPLE = {"recidivism": "Recidivism"}
ARTICLES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}
OF_PEOPLE = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "statistical_parity": "ΔSP",
    "equal_opportunity": "ΔEO",
}
OF_ARTICLES = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "dp_mixed": "mixed ΔDP",
    "eo_mixed": "mixed ΔEO",
}
ROWS = {
    "Labels of people": (PEOPLE, OF_PEOPLE),
    "Links of articles": (ARTICLES, OF_ARTICLES),
}
"""What a row of panels shows: the titles of its data sets and of its measures."""
HIGHER_IS_BETTER = {"accuracy", "auc"}
PAPER = {"color": "#D55E00", "marker": "o", "markerfacecolor": "white"}
VARIANTS = {  # method → title, colour, marker
    "fairgat": ("FairGAT here", "#0072B2", "o"),
    "fairgat-matched": ("the same, neighbours' topics drawn", "#888888", "d"),
    "fairgat-steps-23": ("step 3 by itself", "#7A3E00", "s"),
}
APART = (-0.25, 0, 0.25)
"""Where the variants stand about the middle of their row."""


def differences(published: Path) -> pd.DataFrame:
    """Read the differences to GAT that are drawn, in points.

    Returns:
        `dataset`, `method`, `metric`, `n_splits`, the `difference`, and `corrected`,
        half its 95 % interval for other people.

    Raises:
        DataError: a file is missing or damaged, or lacks FairGAT on a data set.
    """
    run = frames.read(published / RUN, columns=[*COLUMNS, "selected"])
    is_selected = run["selected"].astype(str) == "True"
    of_people = _drawn(run[is_selected], PEOPLE, published / RUN)

    study = frames.read(published / STUDY, columns=[*COLUMNS, "of", "run_on"])
    less_gat = study["of"] == "gat"
    trained_on_it = study["run_on"] == study["dataset"]
    of_articles = _drawn(study[less_gat & trained_on_it], ARTICLES, published / STUDY)

    frame = pd.concat([of_people, of_articles])[COLUMNS]
    in_points = ["difference", "corrected"]
    frame[in_points] = 100 * frame[in_points].astype(float)
    frame["n_splits"] = frame["n_splits"].astype(int)
    return frame


def _drawn(frame: pd.DataFrame, datasets: dict[str, str], path: Path) -> pd.DataFrame:
    """Keep the variants on these data sets, of which each must have FairGAT."""
    of_datasets = frame[frame["dataset"].isin(datasets)]
    having = of_datasets.loc[of_datasets["method"] == "fairgat", "dataset"]
    missing = set(datasets).difference(having)
    if missing:
        names = ", ".join(sorted(missing))
        raise DataError(f"{path} lacks FairGAT on {names}.")
    return of_datasets[of_datasets["method"].isin(VARIANTS)]


def papers() -> dict[tuple[str, str], float]:
    """Give the paper's differences to GAT in points, by data set and measure."""
    found = {}
    for table in ("comparison", "link_prediction"):
        printed = paper.printed(table)
        for (dataset, method, metric), (mean, _) in printed.items():
            gat = printed.get((dataset, "gat", metric))
            if method == "fairgat" and gat is not None:
                found[dataset, metric] = mean - gat[0]
    return found


def panel(
    ax: Axes,
    frame: pd.DataFrame,
    in_paper: dict[tuple[str, str], float],
    datasets: dict[str, str],
    metric: str,
) -> None:
    """Draw a measure: each variant's difference with its interval, by data set.

    And the paper's, where it has one.
    """
    rows = list(datasets)
    is_panel = (frame["metric"] == metric) & frame["dataset"].isin(rows)
    for apart, (method, (_, colour, marker)) in zip(
        APART, VARIANTS.items(), strict=True
    ):
        lines = frame[is_panel & (frame["method"] == method)]
        for line in lines.itertuples():
            height = rows.index(line.dataset) + apart
            ends = [line.difference - line.corrected, line.difference + line.corrected]
            ax.plot(ends, [height, height], color=colour)
            ax.plot(line.difference, height, marker, color=colour)

    for row, dataset in enumerate(rows):
        if (dataset, metric) in in_paper:
            ax.plot(in_paper[dataset, metric], row + APART[0], linestyle="", **PAPER)


def main(
    published: Path = Path("results/reference"),
    picture: Path = Path("docs/verdict.svg"),
) -> None:
    """Draw the picture from a published run."""
    frame = differences(published)
    in_paper = papers()
    heights = [len(datasets) for datasets, _ in ROWS.values()]
    figure, axes = style.grid(
        len(ROWS), len(OF_PEOPLE), 1.2, sharey="row", height_ratios=heights
    )
    for (title, (datasets, metrics)), panels in zip(ROWS.items(), axes, strict=True):
        for ax, (metric, measure) in zip(panels, metrics.items(), strict=True):
            style.zero(ax, upright=True)
            panel(ax, frame, in_paper, datasets, metric)
            style.rows(ax, list(datasets.values()))
            better = "left: narrower"
            if metric in HIGHER_IS_BETTER:
                better = "right: better"
            ax.set_xlabel(f"{measure} ({better})", fontsize=7)
        n_splits = frame.loc[frame["dataset"].isin(datasets), "n_splits"].max()
        bold = {"loc": "left", "fontsize": 8, "fontweight": "bold"}
        panels[0].set_title(f"{title}: points less GAT's, {n_splits} splits", **bold)

    signs = []
    for title, colour, marker in VARIANTS.values():
        signs.append(style.sign(title, color=colour, marker=marker))
    signs.append(style.sign("FairGAT in the paper", **PAPER))
    style.legend(figure, signs=signs)
    style.save(figure, {"svg": picture})


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:]))
    except FairGATError as error:
        sys.exit(str(error))
