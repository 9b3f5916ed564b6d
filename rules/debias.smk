# EDITS's debiasing: one job per data set and split, shared by all thresholds. What it reports per threshold is a job of
# its own, so that another grid does not debias again.


rule debias:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        split=results("data/splits/node_classification/{dataset}/split-{split}.npz"),
        package=package(
            "methods/edits/fit.py",
            "methods/edits/kernels.py",
            "methods/edits/result.py",
            "nn/arrays.py",
            "nn/linear.py",
            "nn/operator.py",
            "nn/parallel.py",
            "nn/products.py",
            "nn/simd.py",
        ),
    output:
        debiased=results("data/debiased/{dataset}/{method}/split-{split}.npz"),
        timing=results("data/debiased/{dataset}/{method}/split-{split}.timing.json"),
    log:
        results("logs/debias/{dataset}/{method}/split-{split}.log"),
    benchmark:
        results("benchmarks/debias/{dataset}/{method}/split-{split}.tsv")
    conda:
        ENV
    threads: CONFIG.training.threads
    resources:
        mem_mb=growing(5000),  # two dense N x N matrices: 2.9 GB on Recidivism
        runtime=growing(60),
    params:
        settings=debias_settings,
        threads=CONFIG.training.threads,
        seed=CONFIG.seed,
    message:
        "Debias {wildcards.dataset} for {wildcards.method}, split {wildcards.split}"
    script:
        "../workflow_scripts/debias.py"


rule bias:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        debiased=rules.debias.output.debiased,
        timing=rules.debias.output.timing,
        package=package("methods/edits/bias.py", "methods/edits/result.py"),
    output:
        report=results("data/debiased/{dataset}/{method}/split-{split}.json"),
    log:
        results("logs/bias/{dataset}/{method}/split-{split}.log"),
    benchmark:
        results("benchmarks/bias/{dataset}/{method}/split-{split}.tsv")
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(15),
    params:
        module=lambda wildcards: CONFIG.module(wildcards.method),
        cells=debiased_cells,
    message:
        "Measure the bias of {wildcards.dataset} before and after debiasing, split {wildcards.split}"
    script:
        "../workflow_scripts/bias.py"
