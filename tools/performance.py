"""docs/performance.md and its plot, from the results of both benchmarks (`make bench`)."""

import sys
from itertools import cycle
from pathlib import Path
from typing import Any

from fairgat import files
from fairgat.bench import attention, scale

_BEGIN, _END = "<!-- measured: begin -->", "<!-- measured: end -->"


def write(page: Path, one_graph: dict[str, Any], growth: dict[str, Any]) -> None:
    """Put the measured part between the page's two marks, and draw `performance.svg` beside it."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    machine = one_graph["machine"]
    versions = {row["version"]: None for row in one_graph["rows"] if "failure" not in row}
    measured = [
        _BEGIN,
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
        f"{machine['system']}; Python {machine['python']}, PyTorch {machine['torch']}, {', '.join(versions)}.",
        "",
        "## One graph, beside PyTorch Geometric and DGL",
        "",
        *attention.table(one_graph),
        "",
        "## Growth",
        "",
        *scale.table(growth),
        "",
        "![Milliseconds per epoch, and seconds against edges](performance.svg)",
        _END,
    ]
    files.write_text(page, before + "\n".join(measured) + after)
    _draw(page.with_suffix(".svg"), one_graph, growth)


def _draw(path: Path, one_graph: dict[str, Any], growth: dict[str, Any]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    from fairgat.report.style import WIDTH, looks, plt, save

    shown = list(looks({name: name for name in ("fairgat", "gat")}).values())
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    rows = [row for row in one_graph["rows"] if "milliseconds" in row]
    names = list(dict.fromkeys(row["network"] for row in rows))
    for threads, look in zip(sorted({row["threads"] for row in rows}), cycle(shown), strict=False):
        timed = {row["network"]: row["milliseconds"] for row in rows if row["threads"] == threads}
        left.plot(
            list(timed.values()), [names.index(name) for name in timed],
            color=look.colour, marker=look.marker, linestyle="", label=f"{threads} thread{'s' if threads > 1 else ''}",
        )  # fmt: skip
    left.set(xscale="log", xlabel="milliseconds per epoch", ylim=(len(names) - 0.5, -0.5))
    left.set_yticks(range(len(names)), names)
    for name, look in zip(growth["lines"], cycle(shown), strict=False):
        measured = [row for row in growth["rows"] if row["network"] == name and "seconds" in row]
        right.plot(
            [row["edges"] for row in measured], [row["seconds"] for row in measured],
            color=look.colour, marker=look.marker, label=name,
        )  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="directed edges", ylabel="seconds per epoch")
    for axis in (left.xaxis, right.yaxis):  # 20 instead of 2 x 10^1
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    for panel in (left, right):
        panel.legend(frameon=False)
    save(figure, {"svg": path})


if __name__ == "__main__":
    write(Path(sys.argv[1]), files.read_json(sys.argv[2]), files.read_json(sys.argv[3]))
