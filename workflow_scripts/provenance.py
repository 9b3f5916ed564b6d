"""Record where the results come from."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import write_json, write_text
    from fairgat.publish import crate, provenance
    from fairgat.report.render import render

    params, output = snakemake.params, snakemake.output
    source = Path(snakemake.scriptdir).parent
    content = provenance.collect(
        os.environ.get("FAIRGAT_COMMAND", "unknown"),
        source,
        params.config,
        params.benchmarks,
        snakemake.input.selections,
    )
    write_json(output.json, content)
    write_text(output.html, render(provenance.page(content), "html"))
    write_text(output.workflow, (source / "Snakefile").read_text(encoding="utf-8"))
    write_json(
        output.crate, crate.describe(Path(output.crate).parent, content, agent=os.environ.get("USER", "unknown"))
    )
