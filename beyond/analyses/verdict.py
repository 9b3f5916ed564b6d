"""Draw README's picture, docs/verdict.svg, from the published studies: FairGAT less GAT on each data set.

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
ROWS = {
    "labels of people": (
        PEOPLE,
        {
            "accuracy": "accuracy",
            "statistical_parity": "ΔSP",
            "equal_opportunity": "ΔEO",
        },
    ),
    "links of articles": (
        ARTICLES,
        {"accuracy": "accuracy", "dp_mixed": "mixed ΔDP", "eo_mixed": "mixed ΔEO"},
    ),
}
PAPER = "#D55E00"  # orange
VARIANTS = {
    "fairgat": ("FairGAT here", "#0072B2", "o"),
    "fairgat-placebo": ("the same, groups shuffled", "#888888", "d"),
}


def differences(published: Path) -> pd.DataFrame:
    """Read the differences to GAT of node classification and of link prediction, in points."""
    links, nodes = frames.read(published / LINKS), frames.read(published / POWER)
    frame = pd.concat(
        [nodes[nodes["dataset"].isin(PEOPLE)], links[links["dataset"].isin(ARTICLES)]]
    )
    frame = frame[
        (frame["of"] == "gat")
        & frame["method"].isin(VARIANTS)
        & (frame["run_on"] == frame["dataset"])
    ]
    columns = ["difference", "low", "high", "paper_difference"]
    frame[columns] = 100 * frame[columns].astype(float)
    return frame


def panel(ax: Axes, frame: pd.DataFrame, datasets: dict[str, str], metric: str) -> None:
    """Draw one measure: a row for each data set, in it each variant's difference with its interval."""
    rows = list(datasets)
    for place, (method, (_, colour, marker)) in enumerate(VARIANTS.items()):
        lines = frame[
            (frame["method"] == method)
            & (frame["metric"] == metric)
            & frame["dataset"].isin(rows)
        ]
        for line in lines.itertuples():
            height = rows.index(line.dataset) + 0.28 * place
            ax.plot([line.low, line.high], [height, height], color=colour)
            ax.plot(line.difference, height, marker, color=colour)
            if method == "fairgat" and pd.notna(line.paper_difference):
                ax.plot(
                    line.paper_difference,
                    height,
                    "o",
                    color=PAPER,
                    markerfacecolor="white",
                )


def main(
    published: Path = Path("results/reference"),
    picture: Path = Path("docs/verdict.svg"),
) -> None:
    """Draw the picture from a published run."""
    frame = differences(published)
    figure, axes = style.grid(len(ROWS), 3, 1.25, sharey="row")
    for row, (what, (datasets, metrics)) in zip(axes, ROWS.items(), strict=True):
        for ax, (metric, title) in zip(row, metrics.items(), strict=True):
            style.zero(ax, upright=True)
            panel(ax, frame, datasets, metric)
            style.rows(ax, list(datasets.values()))
            better = "right: better" if metric == "accuracy" else "left: fairer"
            ax.set_xlabel(f"{title} less GAT's ({better})", fontsize=7)
        row[0].set_title(what.capitalize(), loc="left", fontsize=8, fontweight="bold")
    shown = {
        name: look for name, look in VARIANTS.items() if (frame["method"] == name).any()
    }
    signs = [
        style.sign(title, color=colour, marker=marker)
        for title, colour, marker in shown.values()
    ]
    signs.append(
        style.sign(
            "FairGAT in the paper", color=PAPER, marker="o", markerfacecolor="white"
        )
    )
    style.legend(figure, signs=signs)
    style.save(figure, {"svg": picture})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
