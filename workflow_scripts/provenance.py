"""Record where the results come from."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import write_json, write_text
    from fairgat.reporting import provenance
    from fairgat.reporting.render import render

    params = snakemake.params
    content = provenance.collect(
        os.environ.get("FAIRGAT_COMMAND", "unknown"),
        Path(snakemake.scriptdir).parent,
        params.config,
        params.benchmarks,
        snakemake.input.selections,
    )
    write_json(snakemake.output.json, content)
    write_text(snakemake.output.html, render(provenance.page(content), "html"))
