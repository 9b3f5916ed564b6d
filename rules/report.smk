# What people read: tables and figures, one job each, and the audit.


rule table:
    input:
        unpack(lambda w: PLAN.sources(PLAN.table(w.table))),
    output:
        md=reported("tables/{table}.md", "table", "Tables", title_of, "As Markdown"),
        tex=reported("tables/{table}.tex", "table", "Tables", title_of, "As LaTeX"),
        html=reported("tables/{table}.html", "table", "Tables", title_of, "As a page"),
        csv=reported("tables/{table}.csv", "table", "Tables", title_of, "As CSV"),
    log:
        results("logs/tables/{table}.log"),
    benchmark:
        results("benchmarks/tables/{table}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=lambda w: code("table", page_module("tables", PLAN.table(w.table))),
        module=lambda w: PLAN.table(w.table).module,
        settings=lambda w: plain(fairgat.config.shown.table_settings(CONFIG, w.table, PLAN.table(w.table).task)),
        about=lambda w: PLAN.table(w.table).about,
    message:
        "Render the table {wildcards.table}"
    script:
        "../workflow_scripts/table.py"


rule all_tables:
    input:
        tables=expand(results("tables/{table}.tex"), table=PLAN.tables()),
    output:
        reported("tables/all_tables.tex", "all_tables", "Tables", {"table": "All tables in one document"}, "As LaTeX"),
    log:
        results("logs/all_tables.log"),
    benchmark:
        results("benchmarks/all_tables.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=code("all_tables"),
        title=CONFIG.heading,
    message:
        "Collect the tables in one LaTeX document"
    script:
        "../workflow_scripts/all_tables.py"


rule figure:
    input:
        unpack(lambda w: PLAN.sources(PLAN.figure(w.figure))),
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
        code=lambda w: code("figure", page_module("figures", PLAN.figure(w.figure))),
        module=lambda w: PLAN.figure(w.figure).module,
        settings=lambda w: plain(fairgat.config.shown.figure_settings(CONFIG, w.figure, PLAN.figure(w.figure).task)),
        about=lambda w: PLAN.figure(w.figure).about,
    message:
        "Draw the figure {wildcards.figure}"
    script:
        "../workflow_scripts/figure.py"


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
    **dict.fromkeys(["counts.csv", *expand("{page}.md", page=PAGES)]),
}


AUDITED = "Audit"
if not CONFIG.compares_with_paper:  # what is left is about the run's own data
    AUDITED = "Tables"
    AUDIT = {name: title for name, title in AUDIT.items() if name.startswith("paired.")}


rule audit:
    input:
        winners=PLAN.files("winners"),
        runs=PLAN.files("runs"),
        runtime=PLAN.files("runtime"),
    output:
        [
            reported(f"audit/{name}", "audit", AUDITED, {"audit": title}) if title else results(f"audit/{name}")
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
        code=code("audit"),
        settings=plain(fairgat.config.shown.audit_settings(CONFIG)),
    message:
        "Compare every published number and claim with ours"
    script:
        "../workflow_scripts/audit.py"
