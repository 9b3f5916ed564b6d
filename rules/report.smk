# What people read: tables and figures, one job each, the audit and the costs.

import fairgat.reporting.found
import fairgat.reporting.settings


localrules:
    table,
    all_tables,
    figure,
    audit,
    costs,


def title_of(wildcards):
    """What the report calls a table or a figure."""
    return {kind: name.replace("_", " ").capitalize() for kind, name in wildcards.items()}


def sources(kind, name):
    """The files that a table or a figure reads, by kind."""
    return PLAN.sources(fairgat.plan.declared(kind, name))


def shown_as(form):
    """A table's file in the report."""
    names = {"md": "As Markdown", "tex": "As LaTeX", "html": "As a page", "csv": "As CSV"}
    return report(
        results(f"tables/{{table}}.{form}"),
        caption="report/table.rst",
        category="Tables",
        subcategory=names[form],
        labels=title_of,
    )


rule table:
    input:
        unpack(lambda w: sources("tables", w.table)),
        code=lambda w: code("table", f"reporting/tables/{w.table}"),
    output:
        md=shown_as("md"),
        tex=shown_as("tex"),
        html=shown_as("html"),
        csv=shown_as("csv"),
    log:
        results("logs/tables/{table}.log"),
    benchmark:
        results("benchmarks/tables/{table}.tsv")
    conda:
        ENV
    params:
        settings=lambda w: fairgat.reporting.settings.table_settings(CONFIG, w.table),
        about=lambda w: fairgat.reporting.found.about("tables", w.table),
    message:
        "Render the table {wildcards.table}"
    script:
        "../workflow_scripts/table.py"


rule all_tables:
    input:
        tables=expand(results("tables/{table}.tex"), table=PLAN.tables()),
        code=code("all_tables"),
    output:
        report(
            results("tables/all_tables.tex"),
            caption="report/all_tables.rst",
            category="Tables",
            subcategory="As LaTeX",
            labels={"table": "All tables in one document"},
        ),
    log:
        results("logs/all_tables.log"),
    benchmark:
        results("benchmarks/all_tables.tsv")
    conda:
        ENV
    message:
        "Collect the tables in one LaTeX document"
    script:
        "../workflow_scripts/all_tables.py"


def tables():
    """All tables that this run has files for, in every format, and the document that holds them all."""
    made = expand(results("tables/{table}.{format}"), table=PLAN.tables(), format=["md", "tex", "html", "csv"])
    return [*made, *rules.all_tables.output] if made else []


rule figure:
    input:
        unpack(lambda w: sources("figures", w.figure)),
        code=lambda w: code("figure", f"reporting/figures/{w.figure}"),
    output:
        pdf=results("figures/{figure}.pdf"),
        png=results("figures/{figure}.png"),
        svg=report(
            results("figures/{figure}.svg"),
            caption="report/figure.rst",
            category="Figures",
            labels=title_of,
        ),
    log:
        results("logs/figures/{figure}.log"),
    benchmark:
        results("benchmarks/figures/{figure}.tsv")
    conda:
        ENV
    params:
        settings=lambda w: fairgat.reporting.settings.figure_settings(CONFIG, w.figure),
        about=lambda w: fairgat.reporting.found.about("figures", w.figure),
    message:
        "Draw the figure {wildcards.figure}"
    script:
        "../workflow_scripts/figure.py"


def figures():
    """All figures that this run has files for, in every format."""
    return expand(results("figures/{figure}.{format}"), figure=PLAN.figures(), format=["pdf", "png", "svg"])


# What the report calls the audit's files; it leaves out those without a name.
AUDIT = {
    "headline.txt": "In short",
    "paper_vs_reproduced.html": "Number by number",
    "paper_vs_reproduced.csv": "Number by number",
    "protocols.csv": "Link prediction under both protocols",
    "claims.html": "Claim by claim",
    "paired.html": "Every cell against GAT",
    "paired.csv": "Every cell against GAT",
    "counts.csv": None,
    "paper_vs_reproduced.md": None,
    "claims.md": None,
    "paired.md": None,
}


def audited(name, title):
    """A file of the audit in the report."""
    form = name.rpartition(".")[2].upper()
    labels = {"audit": title, "format": form}
    path = results(f"audit/{name}")
    return report(path, caption="report/audit.rst", category="Audit", labels=labels) if title else path


rule audit:
    input:
        winners=PLAN.files("winners"),
        runs=PLAN.files("runs"),
        runtime=PLAN.files("runtime"),
        code=code("audit"),
    output:
        [audited(name, title) for name, title in AUDIT.items()],
    log:
        results("logs/audit.log"),
    benchmark:
        results("benchmarks/audit.tsv")
    conda:
        ENV
    params:
        settings=fairgat.reporting.settings.audit_settings(CONFIG),
    message:
        "Compare every published number and claim with ours"
    script:
        "../workflow_scripts/audit.py"


def audit():
    """The audit's files."""
    return list(rules.audit.output)


rule costs:
    input:
        runs=[path for task in TASKS for path in PLAN.shards(task)],
        bias=PLAN.files("bias"),
        code=code("costs"),
    output:
        [
            report(
                results(f"costs/costs.{form}"),
                caption="report/costs.rst",
                category="Provenance",
                labels={"provenance": "What the training cost", "format": form.upper()},
            )
            for form in ["md", "html", "csv"]
        ],
    log:
        results("logs/costs.log"),
    benchmark:
        results("benchmarks/costs.tsv")
    conda:
        ENV
    params:
        titles=fairgat.reporting.settings.titles(CONFIG),
    message:
        "Add up what the training cost"
    script:
        "../workflow_scripts/costs.py"


def costs():
    """What the training cost, per data set and method."""
    return list(rules.costs.output)
