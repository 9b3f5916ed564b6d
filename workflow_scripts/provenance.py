"""Record where the results come from."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import write_json, write_text
    from fairgat.publish import crate, provenance
    from fairgat.report.render import render

    params, output, given = snakemake.params, snakemake.output, snakemake.input
    source, results = Path(snakemake.scriptdir).parent, Path(output.json).parent
    content = provenance.collect(
        os.environ.get("FAIRGAT_COMMAND", "unknown"),
        source,
        params.config,
        params.benchmarks,
        given.selections,
        [Path(path).relative_to(results).as_posix() for path in [*given.results, *given.summaries]],
    )
    write_json(output.json, content)
    write_text(output.html, render(provenance.page(content), "html"))
    write_text(output.workflow, (source / "Snakefile").read_text(encoding="utf-8"))
    write_json(output.crate, crate.describe(results, content, agent=os.environ.get("USER", "unknown")))
