"""Compare every published number and claim with ours."""

from _log import logged

with logged(snakemake):
    from fairgat.files import read_json, write_text
    from fairgat.reporting import audit, audit_pages, headline, paper, runtime, tables
    from fairgat.reporting.render import render
    from fairgat.scores import paired
    from fairgat.scores.selection import RULES

    settings = snakemake.params.settings
    by_rule = tables.read_summary(snakemake.input.by_rule)
    seconds = runtime.medians({entry["dataset"]: entry for entry in map(read_json, snakemake.input.runtimes)})
    frame = audit.compare(paper.load(), by_rule, RULES, settings["ddof"])
    by_protocol = tables.read_summary([snakemake.input.by_protocol])
    protocols = audit.compare_protocols(paper.load(), by_rule, by_protocol, RULES, settings["ddof"])
    write_text(snakemake.output.protocols, protocols.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    write_text(snakemake.output.csv, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    counts = headline.counts(frame, by_rule, seconds, RULES)
    write_text(snakemake.output.counts, counts.to_csv(index=False, lineterminator="\n"))
    said = [headline.sentences(counts, settings["rule"]), headline.meaning(frame, settings["rule"])]
    write_text(snakemake.output.headline, "\n\n".join(said) + "\n")
    differences = paired.compare(tables.read_summary(snakemake.input.splits), by_rule, settings["rule"])
    write_text(snakemake.output.paired_csv, differences.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    against_gat = paired.page(differences, settings)
    write_text(snakemake.output.paired_md, render(against_gat, "md"))
    write_text(snakemake.output.paired_html, render(against_gat, "html"))
    numbers = audit_pages.verdicts(frame, protocols, settings)
    claims = audit_pages.claim_page(paper.load(), by_rule, seconds, settings["rule"])
    write_text(snakemake.output.md, render(numbers, "md"))
    write_text(snakemake.output.html, render(numbers, "html"))
    write_text(snakemake.output.claims_md, render(claims, "md"))
    write_text(snakemake.output.claims_html, render(claims, "html"))
