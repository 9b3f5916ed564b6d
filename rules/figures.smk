# The figures, each in one job and in every format.


rule figure:
    input:
        unpack(figure_sources),
        package=package("reporting/figures.py", "reporting/style.py", *REPORTING),
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
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        settings=figure_settings,
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../workflow_scripts/figure.py"
