# Raw files. Only the manifest is declared: Snakemake deletes the declared outputs of a failed job, and files that
# were fetched already must survive it. Where the bytes come from (data_mirror) is no parameter: the checksums are the
# same from everywhere, so another mirror must not run everything again.


rule download:
    input:
        local=local_files,
        source=dataset_module,
    output:
        manifest=results("data/raw/{dataset}/manifest.json"),
    log:
        results("logs/download/{dataset}.log"),
    benchmark:
        results("benchmarks/download/{dataset}.tsv")
    localrule: True  # compute nodes often have no internet
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        settings=dataset_settings,
    message:
        "Obtain the raw files of {wildcards.dataset} and verify them"
    script:
        "../workflow_scripts/download.py"
