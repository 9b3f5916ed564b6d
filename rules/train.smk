# One job per data set, method, hyperparameter cell and split.


rule train:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        split=results("data/splits/{task}/{dataset}/split-{split}.npz"),
        debiased=debiased_of,
        module=module_of,
        package=package(*TRAINING_PATH),
        theory=theory_in_training,
    output:
        metrics=results("runs/{task}/{dataset}/{method}/{cell}/split-{split}/metrics.json"),
        history=results("runs/{task}/{dataset}/{method}/{cell}/split-{split}/history.csv"),
        predictions=results("runs/{task}/{dataset}/{method}/{cell}/split-{split}/predictions.npz"),
        model=results("runs/{task}/{dataset}/{method}/{cell}/split-{split}/model.npz"),
    log:
        results("logs/train/{task}/{dataset}/{method}/{cell}/split-{split}.log"),
    benchmark:
        results("benchmarks/train/{task}/{dataset}/{method}/{cell}/split-{split}.tsv")
    conda:
        ENV
    threads: CONFIG.training.threads
    resources:
        mem_mb=growing(2500),
        runtime=growing(20),
    params:
        module=lambda wildcards: CONFIG.module(wildcards.method),
        settings=cell_settings,
        training=lambda wildcards: getattr(CONFIG.training, wildcards.task).model_dump(),
        threads=CONFIG.training.threads,
        seed=CONFIG.seed,
        theory_every=theory_every,
    message:
        "Train {wildcards.method} ({wildcards.cell}) on {wildcards.dataset}, split {wildcards.split}"
    script:
        "../workflow_scripts/train.py"
