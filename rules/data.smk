# Files → graph → splits, and the graph's counts. `localrule`: seconds of work, or internet, which nodes often lack.


# Files are fetched to data/raw/, of which only the manifest is an output: Snakemake deletes the outputs of a failed job,
# and files that are there already must survive it. A folder of hard links to them goes wherever the next job runs: as
# Snakemake cannot compare folders by content, it is `ancient`, beside the manifest, which has every file's checksum.
# Where verified bytes come from (data_mirror, the downloader) is not among what a graph depends on.
rule download:
    output:
        manifest=results("data/raw/{dataset}/manifest.json"),
        raw=directory(results("data/inputs/{dataset}")),
    log:
        results("logs/download/{dataset}.log"),
    benchmark:
        results("benchmarks/download/{dataset}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=lambda w: code("download", source_module(w.dataset), without=("data/datasets", "data/download")),
        local=lambda w: contents(local_files(w)),
        folder=results("data/raw/{dataset}"),
        settings=dataset_settings,
    message:
        "Obtain the raw files of {wildcards.dataset} and verify them"
    script:
        "../workflow_scripts/download.py"


rule preprocess:
    input:
        manifest=rules.download.output.manifest,
        raw=ancient(rules.download.output.raw),
    output:
        graph=results("data/graphs/{dataset}.npz"),
        columns=results("data/graphs/{dataset}.columns.json"),
    log:
        results("logs/preprocess/{dataset}.log"),
    benchmark:
        results("benchmarks/preprocess/{dataset}.tsv")
    conda:
        ENV
    resources:
        mem_mb=lambda w, attempt: (4000 + 10 * megabytes(local_files(w))) * attempt,  # 9 were measured
        runtime=growing(30),
    params:
        code=lambda w: code("preprocess", source_module(w.dataset), without=("data/download",)),
        settings=dataset_settings,
        seed=CONFIG.seed,
    message:
        "Make the graph of {wildcards.dataset}"
    script:
        "../workflow_scripts/preprocess.py"


rule statistics:
    input:
        graph=rules.preprocess.output.graph,
    output:
        stats=results("data/graphs/{dataset}.stats.json"),
    log:
        results("logs/statistics/{dataset}.log"),
    benchmark:
        results("benchmarks/statistics/{dataset}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=lambda w: code("describe", source_module(w.dataset), without=("data/download",)),
        settings=dataset_settings,
        shares=split_shares,
        seed=CONFIG.seed,
        like=whose_splits,
    message:
        "Count the graph of {wildcards.dataset} and compare it with the paper's"
    script:
        "../workflow_scripts/describe.py"


rule split:
    input:
        graph=rules.preprocess.output.graph,
    output:
        split=results("data/splits/{task}/{dataset}/split-{split}.npz"),
    log:
        results("logs/split/{task}/{dataset}/split-{split}.log"),
    benchmark:
        results("benchmarks/split/{task}/{dataset}/split-{split}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=code("split"),
        shares=split_shares,
        seed=CONFIG.seed,
        like=whose_splits,
    message:
        "Split {wildcards.dataset} for {wildcards.task}, number {wildcards.split}"
    script:
        "../workflow_scripts/split.py"
