# Seconds per epoch. `benchmark:` would count start-up and imports, so the clock is inside the process.


rule runtime:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        split=results("data/splits/node_classification/{dataset}/split-0.npz"),
        debiased=timed_debiased,
        debias_times=timed_debiasing,
        modules=timed_modules,
        package=package("bench/epochs.py", *TRAINING_PATH),
    output:
        runtime=results("runtime/{dataset}.json"),
    log:
        results("logs/runtime/{dataset}.log"),
    benchmark:
        results("benchmarks/runtime/{dataset}.tsv")
    priority: -1
    conda:
        ENV
    threads: timing_threads
    resources:
        mem_mb=growing(6000),
        runtime=growing(60),
    params:
        methods=timed_methods,
        training=CONFIG.training.node_classification.model_dump(),
        settings=CONFIG.runtime.model_dump(),
        seed=CONFIG.seed,
    message:
        "Time an epoch of every method on {wildcards.dataset}"
    script:
        "../workflow_scripts/runtime.py"
