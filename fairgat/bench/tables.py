"""The benchmarks' results as Markdown, readable on a terminal too."""

from typing import Any


def attention(result: dict[str, Any]) -> list[str]:
    """Lines for the result of `fairgat.bench.attention.measure`."""
    graph = result["graph"]
    lines = [
        f"One training epoch, two layers of {result['hidden']} and a linear layer, {graph['nodes']:,} nodes, "
        f"{graph['edges']:,} directed edges, {graph['features']} features; medians of {result['pairs']} turns.",
        "",
        "| network | threads | ms/epoch | speed-up over PyG eager | time / GAT's | memory (GiB) |",
        "|:--|--:|--:|--:|--:|--:|",
    ]
    for row in result["rows"]:
        if "failure" in row:
            lines.append(f"| {row['network']} | {row['threads']} | not run: {row['failure']} | | | |")
            continue
        speed_up = "–" if row["speed-up"] is None else f"{row['speed-up']:.1f}"
        lines.append(
            f"| {row['network']} | {row['threads']} | {row['milliseconds']:.1f} | {speed_up} | "
            f"{row['times GAT']:.2f} | {row['memory_gib']:.2f} |"
        )
    lines.append("")
    for row in result["rows"]:
        if "bandwidth_share" in row:
            rate = result["copy_bytes_per_second"][str(row["threads"])] / 1e9
            lines.append(
                f"Threads {row['threads']}: a GAT epoch moves {result['bytes_moved'] / 1e9:.2f} GB; at the measured "
                f"copy rate of {rate:.1f} GB/s that takes {row['bandwidth_share']:.0%} of the epoch."
            )
    return lines


def scale(result: dict[str, Any]) -> list[str]:
    """Lines for the result of `fairgat.bench.scale.measure`."""
    lines = [
        f"One training epoch on {result['nodes']:,} nodes, {result['features']} features, {result['hidden']} hidden, "
        f"{result['threads']} threads.",
        "",
        "| network | directed edges | seconds | peak memory of the process (GiB) |",
        "|:--|--:|--:|--:|",
    ]
    for row in result["rows"]:
        shown = row.get("failure") or f"{row['seconds']:.2f} | {row['memory_gib']:.2f}"
        lines.append(f"| {row['network']} | {row['edges']:,} | {shown} |" + (" |" if "failure" in row else ""))
    lines.append("")
    for name, value in result["exponents"].items():
        if value is not None:
            nodes, edge = result["lines"][name]
            lines.append(
                f"{name}: time grows as edges^{value:.2f}; on a line, {nodes:.2f} s for the nodes and "
                f"{1e6 * edge:.3f} s for each million edges."
            )
    return lines
