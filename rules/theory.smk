# Theorem 1 and Lemma 1 on the trained models of the selected cells.


rule theory:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        splits=lambda w: splits_of("node_classification", w.dataset),
        selection=results("selection/node_classification/{dataset}/{method}.json"),
        models=models_of,
        debiased=theory_debiased,
        module=module_of,
        package=package("theory/runs.py", *THEORY, *TRAINING_PATH),
    output:
        results("theory/{dataset}/{method}.csv"),
    log:
        results("logs/theory/{dataset}/{method}.log"),
    benchmark:
        results("benchmarks/theory/{dataset}/{method}.tsv")
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=growing(2500),
        runtime=growing(15),
    params:
        module=lambda wildcards: CONFIG.module(wildcards.method),
        settings=lambda wildcards: CONFIG.training_settings(wildcards.method, wildcards.dataset),
        training=CONFIG.training.node_classification.model_dump(),
        seed=CONFIG.seed,
    message:
        "Measuring the terms of Theorem 1 on {wildcards.method} on {wildcards.dataset}"
    script:
        "../workflow_scripts/theory.py"


rule theory_table:
    input:
        measures=theory_measures(),
        package=package(
            "reporting/theory.py",
            "reporting/style.py",
            "reporting/templates/table.md.j2",
            "reporting/templates/table.tex.j2",
            "reporting/templates/table.html.j2",
            *RENDERING,
            *RESULTS_SHOWN,
        ),
    output:
        md=report(
            results("tables/theory.md"),
            caption="report/theory_table.rst",
            category="Theory",
            labels={"theory": "table", "format": "Markdown"},
        ),
        tex=report(
            results("tables/theory.tex"),
            caption="report/theory_table.rst",
            category="Theory",
            labels={"theory": "table", "format": "LaTeX"},
        ),
        html=report(
            results("tables/theory.html"),
            caption="report/theory_table.rst",
            category="Theory",
            labels={"theory": "table", "format": "HTML"},
        ),
        csv=report(
            results("tables/theory.csv"),
            caption="report/theory_table.rst",
            category="Theory",
            labels={"theory": "table", "format": "CSV"},
        ),
    log:
        results("logs/tables/theory.log"),
    benchmark:
        results("benchmarks/tables/theory.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        settings=fairgat.reporting.settings.table_settings(CONFIG, "theory"),
    message:
        "Rendering the table of the theory's terms"
    script:
        "../workflow_scripts/theory_table.py"


rule theory_figure:
    input:
        measures=theory_measures(),
        package=package("reporting/theory.py", "reporting/style.py", *RESULTS_SHOWN),
    output:
        pdf=results("figures/theory.pdf"),
        png=results("figures/theory.png"),
        svg=report(
            results("figures/theory.svg"),
            caption="report/theory_figure.rst",
            category="Theory",
            labels={"theory": "figure", "format": "SVG"},
        ),
    log:
        results("logs/figures/theory.log"),
    benchmark:
        results("benchmarks/figures/theory.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        settings=fairgat.reporting.settings.table_settings(CONFIG, "theory"),
    message:
        "Drawing the theory's bounds beside what was measured"
    script:
        "../workflow_scripts/theory_figure.py"
