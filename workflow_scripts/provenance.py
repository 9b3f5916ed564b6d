"""Record where the results come from."""

from fairgat.job_log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import sha256_of, write_json, write_text
    from fairgat.plan import ROOT
    from fairgat.publish import crate, provenance
    from fairgat.report.render import render

    params, output, given = snakemake.params, snakemake.output, snakemake.input
    results = Path(output.json).parent
    files = {}
    for path in [*given.results, *given.summaries, *given.study]:
        name = Path(path).relative_to(results).as_posix()
        files[name] = sha256_of(path)
    content = provenance.collect(
        os.environ.get("FAIRGAT_COMMAND", "unknown"),
        ROOT,
        params.config,
        results / "benchmarks",
        given.selections,
        files,
        params.judged_from,
    )
    write_json(output.json, content)
    write_text(output.html, render(provenance.page(content), "html"))
    write_text(output.workflow, params.snakefile)
    agent = os.environ.get("USER", "unknown")
    described = crate.describe(results, content, agent, params.manifests)
    write_json(output.crate, described)
