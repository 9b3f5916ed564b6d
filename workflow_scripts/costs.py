"""Add up what the training cost."""

from _log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat.files import read_json, write_text
    from fairgat.reporting import costs, paper
    from fairgat.reporting.render import render

    debiasing = {}
    for path in map(Path, snakemake.input.debiasing):
        *_, dataset, method, _ = path.parts
        debiasing.setdefault((dataset, method), []).append(read_json(path)["seconds"])
    frame = costs.collect(map(read_json, snakemake.input.metrics), debiasing, paper.load()["runtime"])
    write_text(snakemake.output.csv, frame.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    table = costs.page(frame, snakemake.params.titles)
    write_text(snakemake.output.md, render(table, "md"))
    write_text(snakemake.output.html, render(table, "html"))
