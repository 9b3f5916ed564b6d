# From raw files to the graph, its counts beside the paper's, and the splits that every method shares.


rule preprocess:
    input:
        manifest=rules.download.output.manifest,
        source=dataset_module,
        package=package(
            "data/convert.py",
            "data/graph.py",
            "data/sources/__init__.py",
            "data/sources/_source.py",
            "data/sources/_read.py",
        ),
    output:
        graph=results("data/graphs/{dataset}.npz"),
    log:
        results("logs/preprocess/{dataset}.log"),
    benchmark:
        results("benchmarks/preprocess/{dataset}.tsv")
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=dataset_settings,
        seed=CONFIG.seed,
    message:
        "Make the graph of {wildcards.dataset}"
    script:
        "../workflow_scripts/preprocess.py"


rule statistics:
    input:
        graph=rules.preprocess.output.graph,
        manifest=rules.download.output.manifest,
        package=package("data/statistics.py", "data/splits.py", "reporting/paper.py", "reporting/paper.yaml"),
    output:
        stats=results("data/graphs/{dataset}.stats.json"),
    log:
        results("logs/statistics/{dataset}.log"),
    benchmark:
        results("benchmarks/statistics/{dataset}.tsv")
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        settings=dataset_settings,
        shares=split_shares("link_prediction"),
        seed=CONFIG.seed,
        alpha_chi_max=fairgat.reporting.settings.alpha_chi_max_grid(CONFIG),
    message:
        "Count the graph of {wildcards.dataset} and compare it with the paper's"
    script:
        "../workflow_scripts/describe.py"


rule split:
    input:
        graph=rules.preprocess.output.graph,
        package=package("data/splits.py"),
    output:
        split=results("data/splits/{task}/{dataset}/split-{split}.npz"),
    log:
        results("logs/split/{task}/{dataset}/split-{split}.log"),
    benchmark:
        results("benchmarks/split/{task}/{dataset}/split-{split}.tsv")
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        shares=lambda wildcards: split_shares(wildcards.task),
        seed=CONFIG.seed,
    message:
        "Split {wildcards.dataset} for {wildcards.task}, number {wildcards.split}"
    script:
        "../workflow_scripts/split.py"
