# Does the paper hold? Number by number, and claim by claim.


rule audit:
    input:
        by_rule=expand(results("summary/{task}_by_rule.csv"), task=TASKS),
        splits=expand(results("summary/{task}_splits.csv"), task=TASKS),
        by_protocol=results("summary/link_prediction_by_protocol.csv"),
        runtimes=runtimes(),
        package=package(
            "reporting/audit.py",
            "reporting/audit_pages.py",
            "reporting/claims.py",
            "reporting/claims.yaml",
            "reporting/decisions.yaml",
            "reporting/headline.py",
            "scores/paired.py",
            "reporting/templates/table.md.j2",
            "reporting/templates/table.html.j2",
            "scores/selection.py",
            *RENDERING,
            *REPORTING,
        ),
    output:
        counts=results("audit/counts.csv"),
        headline=report(
            results("audit/headline.txt"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "In short", "format": "text"},
        ),
        csv=report(
            results("audit/paper_vs_reproduced.csv"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "Number by number", "format": "CSV"},
        ),
        protocols=report(
            results("audit/protocols.csv"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "Link prediction under both protocols", "format": "CSV"},
        ),
        paired_csv=report(
            results("audit/paired.csv"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "Every cell against GAT", "format": "CSV"},
        ),
        paired_md=results("audit/paired.md"),
        paired_html=report(
            results("audit/paired.html"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "Every cell against GAT", "format": "HTML"},
        ),
        md=results("audit/paper_vs_reproduced.md"),
        html=report(
            results("audit/paper_vs_reproduced.html"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "Number by number", "format": "HTML"},
        ),
        claims_md=results("audit/claims.md"),
        claims_html=report(
            results("audit/claims.html"),
            caption="report/audit.rst",
            category="Audit",
            labels={"audit": "Claim by claim", "format": "HTML"},
        ),
    log:
        results("logs/audit.log"),
    benchmark:
        results("benchmarks/audit.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        settings=fairgat.reporting.settings.audit_settings(CONFIG),
    message:
        "Comparing every published number and claim with ours"
    script:
        "../workflow_scripts/audit.py"
