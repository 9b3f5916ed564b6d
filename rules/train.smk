# A training job for each data set, method, cell and split; before it, debiased graphs; and the time of an epoch.


# EDITS's debiasing: one job per data set and split, shared by all thresholds.
rule debias:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        split=lambda w: PLAN.split(task_of(w), w.dataset, w.split),
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
        mem_mb=debiasing_memory,
        runtime=growing(60),
    params:
        code=code("debias", without=("nn/__init__", "methods/__init__")),  # it computes without them
        settings=lambda w: CONFIG.training_settings(w.method, w.dataset).get("debias", {}),
        threads=CONFIG.training.threads,
        seed=CONFIG.seed,
    message:
        "Debias {wildcards.dataset} for {wildcards.method}, split {wildcards.split}"
    script:
        "../workflow_scripts/debias.py"


rule train:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        split=results("data/splits/{task}/{dataset}/split-{split}.npz"),
        debiased=lambda w: PLAN.debiased(w.dataset, w.method, w.split),
    output:
        record=results("runs/{task}/{dataset}/{method}/{cell}/split-{split}/run.json"),
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
        # 1,000,000 nodes and 10,000,000 edges, a file of 52 MB, need 7 GB.
        mem_mb=growing(2500, per_mb=100),
        runtime=growing(20),
        gpu=GPU,
    params:
        # The theory's modules only where it measures their terms.
        code=lambda w: code("train", method_module(w), without=() if CONFIG.theory_every(w.task) else ("theory",)),
        module=lambda w: CONFIG.module(w.method),
        settings=settings_of,
        files=lambda w: contents(fairgat.config.models.named_files(settings_of(w))),
        training=training_of,
        threads=CONFIG.training.threads,
        seed=lambda w: CONFIG.training_seed(w.method),
        device=CONFIG.training.device,
        theory_every=lambda w: CONFIG.theory_every(w.task),
    message:
        "Train {wildcards.method} ({wildcards.cell}) on {wildcards.dataset}, split {wildcards.split}"
    script:
        "../workflow_scripts/train.py"


# Seconds per epoch. `benchmark:` would count start-up and imports, so the clock is inside the process.
rule runtime:
    input:
        graph=results("data/graphs/{dataset}.npz"),
        split=lambda w: PLAN.split(task_of(w), w.dataset, 0),
        debiased=lambda w: [*PLAN.timed_debiased(w.dataset).values()],
    output:
        runtime=results("runtime/{dataset}.json"),
    log:
        results("logs/runtime/{dataset}.log"),
    benchmark:
        results("benchmarks/runtime/{dataset}.tsv")
    priority: -1
    conda:
        ENV
    threads: lambda wildcards: workflow.cores  # all, so that nothing runs beside it; see profiles/slurm for a cluster
    resources:
        mem_mb=growing(6000, per_mb=100),
        runtime=growing(60),
        gpu=GPU,
    params:
        code=lambda w: code("runtime", *(fairgat.plan.method_path(CONFIG.module(m)) for m in PLAN.timed(w.dataset))),
        # In the order to try: the first cell that trains is timed.
        methods=lambda w: {method: CONFIG.cells_to_time(method, w.dataset) for method in PLAN.timed(w.dataset)},
        debiased=lambda w: [*PLAN.timed_debiased(w.dataset)],
        training=training_of,
        settings=CONFIG.runtime.model_dump(),
        seed=CONFIG.seed,
        device=CONFIG.training.device,
    message:
        "Time an epoch of every method on {wildcards.dataset}"
    script:
        "../workflow_scripts/runtime.py"
