# The paper's tables: built once each, rendered in every format.


rule table:
    input:
        unpack(table_sources),
        package=package(
            "reporting/templates/table.md.j2",
            "reporting/templates/table.tex.j2",
            "reporting/templates/table.html.j2",
            *RENDERING,
            *REPORTING,
        ),
    output:
        md=report(
            results("tables/{table}.md"),
            caption="report/table.rst",
            category="Tables",
            subcategory="As Markdown",
            labels=title_of,
        ),
        tex=report(
            results("tables/{table}.tex"),
            caption="report/table.rst",
            category="Tables",
            subcategory="As LaTeX",
            labels=title_of,
        ),
        html=report(
            results("tables/{table}.html"),
            caption="report/table.rst",
            category="Tables",
            subcategory="As a page",
            labels=title_of,
        ),
        csv=report(
            results("tables/{table}.csv"),
            caption="report/table.rst",
            category="Tables",
            subcategory="As CSV",
            labels=title_of,
        ),
    log:
        results("logs/tables/{table}.log"),
    benchmark:
        results("benchmarks/tables/{table}.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        settings=table_settings,
    message:
        "Rendering the table {wildcards.table}"
    script:
        "../workflow_scripts/table.py"


rule all_tables:
    input:
        tables=expand(results("tables/{table}.tex"), table=TABLES),
        package=package("reporting/templates/all_tables.tex.j2", *RENDERING),
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
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    message:
        "Collecting the tables in one LaTeX document"
    script:
        "../workflow_scripts/all_tables.py"
