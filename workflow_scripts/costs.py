"""Add up what the training cost."""

from fairgat.job_log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat.files import read_json, write_text
    from fairgat.report import costs
    from fairgat.report.render import render
    from fairgat.scores.runs import read_shards

    params = snakemake.params
    runs = read_shards(snakemake.input.runs, params.shards)
    frame = costs.collect(runs, map(read_json, snakemake.input.debiasing))
    texts = {
        form: render(costs.page(frame, params.titles), form)
        for form in ("md", "html", "json")
    }
    texts["csv"] = frame.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    for path in snakemake.output:
        write_text(path, texts[Path(path).suffix[1:]])
