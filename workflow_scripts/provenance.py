"""Record where the results come from."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat import environment
    from fairgat.files import write_json, write_text
    from fairgat.reporting import provenance
    from fairgat.reporting.render import render

    benchmarks = Path(snakemake.params.benchmarks)
    content = provenance.collect(
        os.environ.get("FAIRGAT_COMMAND", "unknown"),
        Path(snakemake.scriptdir).parent,
        environment.machine(),
        snakemake.params.config,
        benchmarks,
        [path.relative_to(benchmarks) for path in benchmarks.rglob("*.tsv")],
        snakemake.input.selections,
    )
    write_json(snakemake.output.json, content)
    write_text(snakemake.output.html, render(provenance.page(content), "html"))
