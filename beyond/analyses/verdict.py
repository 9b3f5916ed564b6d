"""Draw README's picture, docs/verdict.svg: FairGAT less GAT on each data set.

From the published studies:
`python -m beyond.analyses.verdict [results/reference] [docs/verdict.svg]`
"""

import sys
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from fairgat import frames
from fairgat.report import style

POWER, LINKS = "studies/power/differences.csv", "studies/links-control/differences.csv"
PEOPLE = {
    "recidivism": "Recidivism",
    "pokec-z-structural": "Pokec-z (structural)",
    "pokec-n-structural": "Pokec-n (structural)",
}
ARTICLES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}
OF_PEOPLE = {
    "accuracy": "accuracy",
    "statistical_parity": "ΔSP",
    "equal_opportunity": "ΔEO",
}
OF_ARTICLES = {
    "accuracy": "accuracy",
    "dp_mixed": "mixed ΔDP",
    "eo_mixed": "mixed ΔEO",
}
ROWS = {
    "labels of people": (PEOPLE, OF_PEOPLE),
    "links of articles": (ARTICLES, OF_ARTICLES),
}
"""What a row of panels shows: the titles of its data sets and of its measures."""
PAPER = {"color": "#D55E00", "marker": "o", "markerfacecolor": "white"}
VARIANTS = {  # method → title, colour, marker
    "fairgat": ("FairGAT here", "#0072B2", "o"),
    "fairgat-placebo": ("the same, groups shuffled", "#888888", "d"),
}


def differences(published: Path) -> pd.DataFrame:
    """Read the differences to GAT that are drawn, in points."""
    nodes = frames.read(published / POWER)
    links = frames.read(published / LINKS)
    of_people = nodes[nodes["dataset"].isin(PEOPLE)]
    of_articles = links[links["dataset"].isin(ARTICLES)]
    frame = pd.concat([of_people, of_articles])

    is_drawn = frame["method"].isin(VARIANTS) & (frame["of"] == "gat")
    trained_there = frame["run_on"] == frame["dataset"]
    frame = frame[is_drawn & trained_there].copy()
    columns = ["difference", "low", "high", "paper_difference"]
    frame[columns] = 100 * frame[columns].astype(float)
    return frame


def panel(ax: Axes, frame: pd.DataFrame, datasets: dict[str, str], metric: str) -> None:
    """Draw a measure: each variant's difference with its interval, by data set."""
    rows = list(datasets)
    is_panel = (frame["metric"] == metric) & frame["dataset"].isin(rows)
    for number, (method, (_, colour, marker)) in enumerate(VARIANTS.items()):
        lines = frame[is_panel & (frame["method"] == method)]
        for line in lines.itertuples():
            height = rows.index(line.dataset) + 0.28 * number
            ax.plot([line.low, line.high], [height, height], color=colour)
            ax.plot(line.difference, height, marker, color=colour)
            if method == "fairgat" and pd.notna(line.paper_difference):
                ax.plot(line.paper_difference, height, linestyle="", **PAPER)


def main(
    published: Path = Path("results/reference"),
    picture: Path = Path("docs/verdict.svg"),
) -> None:
    """Draw the picture from a published run."""
    frame = differences(published)
    figure, axes = style.grid(len(ROWS), len(OF_PEOPLE), 1.25, sharey="row")
    for (title, (datasets, metrics)), panels in zip(ROWS.items(), axes, strict=True):
        for ax, (metric, measure) in zip(panels, metrics.items(), strict=True):
            style.zero(ax, upright=True)
            panel(ax, frame, datasets, metric)
            style.rows(ax, list(datasets.values()))
            better = "right: better" if metric == "accuracy" else "left: fairer"
            ax.set_xlabel(f"{measure} less GAT's ({better})", fontsize=7)
        bold = {"loc": "left", "fontsize": 8, "fontweight": "bold"}
        panels[0].set_title(title.capitalize(), **bold)

    signs = []
    for method, (title, colour, marker) in VARIANTS.items():
        if (frame["method"] == method).any():
            signs.append(style.sign(title, color=colour, marker=marker))
    signs.append(style.sign("FairGAT in the paper", **PAPER))
    style.legend(figure, signs=signs)
    style.save(figure, {"svg": picture})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
