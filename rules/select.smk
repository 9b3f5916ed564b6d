# Which cell of a method's grid stands for it on a data set, by validation scores alone.


rule select:
    input:
        metrics=lambda w: metrics_of(w.task, w.dataset, w.method),
        package=package("scores/selection.py", "scores/runs.py"),
    output:
        results("selection/{task}/{dataset}/{method}.json"),
    log:
        results("logs/select/{task}/{dataset}/{method}.log"),
    benchmark:
        results("benchmarks/select/{task}/{dataset}/{method}.tsv")
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=growing(1000),  # with Snakemake's, which is in the job, too
        runtime=growing(10),
    params:
        made_with=lambda w: made_with([w.dataset], [w.method], [w.task]),
        rule=selection_rule,
        tolerance=CONFIG.selection.tolerance,
        published=lambda w: CONFIG.methods[w.method].published.get(w.dataset),
    message:
        "Choosing the cell of {wildcards.method} on {wildcards.dataset} by its validation scores"
    script:
        "../workflow_scripts/select.py"
