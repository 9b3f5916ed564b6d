# On trained models: the terms of Theorem 1 and Lemma 1 of the selected cells, and the account of every cell's gaps.


rule theory:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        splits=lambda w: PLAN.splits(task_of(w), w.dataset),
        selection=lambda w: PLAN.selection(task_of(w), w.dataset, w.method),
        runs=lambda w: PLAN.outputs("run.json", task_of(w), w.dataset, w.method),
        models=lambda w: PLAN.outputs("model.npz", task_of(w), w.dataset, w.method),
        debiased=lambda w: PLAN.debiased(w.dataset, w.method),
    output:
        results("theory/{dataset}/{method}.csv"),
    log:
        results("logs/theory/{dataset}/{method}.log"),
    benchmark:
        results("benchmarks/theory/{dataset}/{method}.tsv")
    conda:
        ENV
    resources:
        mem_mb=growing(2500, per_mb=130),  # 1.3 times what training takes
        runtime=growing(30),
        gpu=GPU,
    params:
        what="theory",
        code=lambda w: code("theory", method_module(w)),
        numbers=lambda w: CONFIG.split_numbers(w.dataset),
        device=CONFIG.training.device,
    message:
        "Measure the theory of {wildcards.method} on {wildcards.dataset}"
    script:
        "../workflow_scripts/theory.py"


use rule theory as account with:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        splits=lambda w: PLAN.splits(task_of(w), w.dataset),
        runs=lambda w: PLAN.outputs("run.json", task_of(w), w.dataset, w.method),
        models=lambda w: PLAN.outputs("model.npz", task_of(w), w.dataset, w.method),
        debiased=lambda w: PLAN.debiased(w.dataset, w.method),
    output:
        results("account/{dataset}/{method}.csv"),
    log:
        results("logs/account/{dataset}/{method}.log"),
    benchmark:
        results("benchmarks/account/{dataset}/{method}.tsv")
    params:
        what="account",
    message:
        "Account for the gaps of {wildcards.method} on {wildcards.dataset}"
