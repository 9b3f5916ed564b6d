# The sensitivity study (config.sensitivity.yaml): no part of `all`, made by asking for `sensitivity`.


# Another form of a data set has that one's splits, so that they can be compared split by split.
ruleorder: sensitivity_split > split


rule sensitivity:
    input:
        sensitivity,
    localrule: True


rule sensitivity_split:
    input:
        split=split_of_other_form,
        package=package("data/splits.py"),
    output:
        split=results("data/splits/{task}/{dataset}/split-{split}.npz"),
    log:
        results("logs/split/{task}/{dataset}/split-{split}.log"),
    benchmark:
        results("benchmarks/split/{task}/{dataset}/split-{split}.tsv")
    wildcard_constraints:
        dataset="|".join(map(re.escape, SAME_SPLITS)) or "(?!)",
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    message:
        "Split {wildcards.dataset} as {input.split}"
    script:
        "../workflow_scripts/sensitivity_split.py"


rule sensitivity_table:
    input:
        metrics=sensitivity_metrics,
        package=package(
            "scores/summary.py",
            "scores/paired.py",
            "reporting/sensitivity.py",
            "reporting/style.py",
            "reporting/paper.py",
            "reporting/paper.yaml",
            "reporting/templates/table.md.j2",
            "reporting/templates/table.tex.j2",
            "reporting/templates/table.html.j2",
            *RENDERING,
            *RESULTS_SHOWN,
        ),
    output:
        differences=results("sensitivity/differences.csv"),
        md=results("sensitivity/sensitivity.md"),
        tex=report(
            results("sensitivity/sensitivity.tex"),
            caption="report/sensitivity.rst",
            category="Sensitivity",
            labels={"sensitivity": "table", "format": "LaTeX"},
        ),
        html=report(
            results("sensitivity/sensitivity.html"),
            caption="report/sensitivity.rst",
            category="Sensitivity",
            labels={"sensitivity": "table", "format": "HTML"},
        ),
        csv=report(
            results("sensitivity/sensitivity.csv"),
            caption="report/sensitivity.rst",
            category="Sensitivity",
            labels={"sensitivity": "table", "format": "CSV"},
        ),
    log:
        results("logs/sensitivity.log"),
    benchmark:
        results("benchmarks/sensitivity.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        blocks=sensitivity_blocks,
        made_with=lambda w: made_with(CONFIG.datasets, CONFIG.methods, TASKS),
        ddof=CONFIG.aggregation.ddof,
    message:
        "Comparing the sensitivity study's variants"
    script:
        "../workflow_scripts/sensitivity.py"


rule sensitivity_figure:
    input:
        differences=rules.sensitivity_table.output.differences,
        package=package(
            "scores/summary.py",
            "scores/paired.py",
            "reporting/sensitivity.py",
            "reporting/style.py",
            "reporting/paper.py",
            "reporting/paper.yaml",
            *RENDERING,
            *RESULTS_SHOWN,
        ),
    output:
        pdf=results("sensitivity/{task}.pdf"),
        png=results("sensitivity/{task}.png"),
        svg=report(
            results("sensitivity/{task}.svg"),
            caption="report/sensitivity.rst",
            category="Sensitivity",
            labels={"sensitivity": "{task}", "format": "SVG"},
        ),
    log:
        results("logs/sensitivity/{task}.log"),
    benchmark:
        results("benchmarks/sensitivity/{task}.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        blocks=sensitivity_blocks,
    message:
        "Drawing the sensitivity study's differences of {wildcards.task}"
    script:
        "../workflow_scripts/sensitivity_figure.py"
