# What people read: tables and figures, one job each, the audit and the costs.


rule table:
    input:
        unpack(lambda w: PLAN.sources("tables", w.table)),
        code=lambda w: code("table", f"report/tables/{w.table}"),
    output:
        md=reported("tables/{table}.md", "table", "Tables", title_of, "As Markdown"),
        tex=reported("tables/{table}.tex", "table", "Tables", title_of, "As LaTeX"),
        html=reported("tables/{table}.html", "table", "Tables", title_of, "As a page"),
        csv=reported("tables/{table}.csv", "table", "Tables", title_of, "As CSV"),
        json=results("tables/{table}.json"),
    log:
        results("logs/tables/{table}.log"),
    benchmark:
        results("benchmarks/tables/{table}.tsv")
    localrule: True
    conda:
        ENV
    params:
        settings=lambda w: plain(
            fairgat.config.shown.table_settings(CONFIG, w.table, fairgat.plan.declared("tables", w.table).task)
        ),
        about=lambda w: fairgat.plan.declared("tables", w.table).about,
    message:
        "Render the table {wildcards.table}"
    script:
        "../workflow_scripts/table.py"


rule all_tables:
    input:
        tables=expand(results("tables/{table}.tex"), table=PLAN.tables()),
        code=code("all_tables"),
    output:
        reported("tables/all_tables.tex", "all_tables", "Tables", {"table": "All tables in one document"}, "As LaTeX"),
    log:
        results("logs/all_tables.log"),
    benchmark:
        results("benchmarks/all_tables.tsv")
    localrule: True
    conda:
        ENV
    message:
        "Collect the tables in one LaTeX document"
    script:
        "../workflow_scripts/all_tables.py"


rule figure:
    input:
        unpack(lambda w: PLAN.sources("figures", w.figure)),
        code=lambda w: code("figure", f"report/figures/{w.figure}"),
    output:
        pdf=results("figures/{figure}.pdf"),
        png=results("figures/{figure}.png"),
        svg=reported("figures/{figure}.svg", "figure", "Figures", title_of),
    log:
        results("logs/figures/{figure}.log"),
    benchmark:
        results("benchmarks/figures/{figure}.tsv")
    localrule: True
    conda:
        ENV
    params:
        settings=lambda w: plain(
            fairgat.config.shown.figure_settings(CONFIG, w.figure, fairgat.plan.declared("figures", w.figure).task)
        ),
        about=lambda w: fairgat.plan.declared("figures", w.figure).about,
    message:
        "Draw the figure {wildcards.figure}"
    script:
        "../workflow_scripts/figure.py"


rule explorer:
    input:
        cells=PLAN.files("cells"),
        winners=PLAN.files("winners"),
        histories=PLAN.files("histories"),
        audit=PLAN.files("audit"),
        code=code("explorer"),
    output:
        reported("explore.html", "explorer", "Explore", {"page": "Every cell, its curves, every verdict"}),
    log:
        results("logs/explorer.log"),
    benchmark:
        results("benchmarks/explorer.tsv")
    localrule: True
    conda:
        ENV
    params:
        settings=plain(fairgat.config.shown.explorer_settings(CONFIG)),
    message:
        "Make the page to explore the run with"
    script:
        "../workflow_scripts/explorer.py"


PAGES = ["paper_vs_reproduced", "claims", "paired"]
# What the report calls the audit's files; it leaves out those without a name.
AUDIT = {
    "headline.txt": "In short",
    "paper_vs_reproduced.html": "Number by number",
    "paper_vs_reproduced.csv": "Number by number",
    "protocols.csv": "Link prediction under both protocols",
    "claims.html": "Claim by claim",
    "claims.csv": "Claim by claim",
    "paired.html": "Every cell against GAT",
    "paired.csv": "Every cell against GAT",
    "paper_differences.csv": "The paper's own differences",
    "checks.csv": "Every check of the claims",
    **dict.fromkeys(["chances.csv", "counts.csv", *expand("{page}.{form}", page=PAGES, form=["md", "json"])]),
}


rule audit:
    input:
        winners=PLAN.files("winners"),
        runs=PLAN.files("runs"),
        runtime=PLAN.files("runtime"),
        more_splits=[CONFIG.audit.more_splits] if CONFIG.audit.more_splits else [],
        code=code("audit"),
    output:
        [
            reported(f"audit/{name}", "audit", "Audit", {"audit": title}) if title else results(f"audit/{name}")
            for name, title in AUDIT.items()
        ],
    log:
        results("logs/audit.log"),
    benchmark:
        results("benchmarks/audit.tsv")
    localrule: True
    conda:
        ENV
    params:
        settings=plain(fairgat.config.shown.audit_settings(CONFIG)),
    message:
        "Compare every published number and claim with ours"
    script:
        "../workflow_scripts/audit.py"


rule costs:
    input:
        runs=[path for task in TASKS for path in PLAN.shards(task)],
        bias=PLAN.files("bias"),
        code=code("costs"),
    output:
        [
            reported(f"costs/costs.{form}", "costs", "Provenance", {"provenance": "What the training cost"})
            for form in ["md", "html", "csv"]
        ],
        json=results("costs/costs.json"),
    log:
        results("logs/costs.log"),
    benchmark:
        results("benchmarks/costs.tsv")
    localrule: True
    conda:
        ENV
    params:
        shards=shards(pair for task in TASKS for pair in PLAN.pairs(task)),
        titles=fairgat.config.shown.titles(CONFIG),
    message:
        "Add up what the training cost"
    script:
        "../workflow_scripts/costs.py"
