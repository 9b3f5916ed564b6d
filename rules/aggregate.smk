# Mean and standard deviation over the splits, of every winner and of every cell; and every score in one file.


rule aggregate:
    input:
        selections=lambda w: selections_of(w.task),
        metrics=lambda w: all_metrics_of(w.task),
        package=package("scores/summary.py", "scores/runs.py", "reporting/paper.py", "reporting/paper.yaml"),
    output:
        summary=results("summary/{task}.csv"),
        by_rule=results("summary/{task}_by_rule.csv"),
        cells=results("summary/{task}_cells.csv"),
        splits=results("summary/{task}_splits.csv"),
    log:
        results("logs/aggregate/{task}.log"),
    benchmark:
        results("benchmarks/aggregate/{task}.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        rule=selection_rule,
        ddof=CONFIG.aggregation.ddof,
    message:
        "Averaging the test metrics of {wildcards.task} over the splits"
    script:
        "../workflow_scripts/aggregate.py"


rule aggregate_protocols:
    input:
        selections=selections_of("link_prediction"),
        metrics=all_metrics_of("link_prediction"),
        package=package("scores/summary.py", "scores/runs.py", "reporting/paper.py", "reporting/paper.yaml"),
    output:
        summary=results("summary/link_prediction_by_protocol.csv"),
    log:
        results("logs/aggregate/protocols.log"),
    benchmark:
        results("benchmarks/aggregate/protocols.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        ddof=CONFIG.aggregation.ddof,
    message:
        "Averaging link prediction's test metrics under both protocols"
    script:
        "../workflow_scripts/aggregate_protocols.py"
