# From predictions to scores: one shard for each method on a data set, with the cell that stands for it, and one summary
# a task. A measure that is new or mended begins here, and trains nothing.


if PLAN.judges_scores:  # `judge_from` has scores, and not every run's predictions

    rule choose:
        input:
            scores=lambda w: PLAN.scores(w.task),
        output:
            runs=results("runs/{task}/{dataset}/{method}/runs.csv"),
            selection=results("runs/{task}/{dataset}/{method}/selection.json"),
        log:
            results("logs/choose/{task}/{dataset}/{method}.log"),
        benchmark:
            results("benchmarks/choose/{task}/{dataset}/{method}.tsv")
        localrule: True
        conda:
            ENV
        params:
            # Of methods it only takes the defaults of settings.
            code=code("choose", without=("methods",)),
            shard=lambda w: shards([(w.dataset, w.method)])[0],
            module=lambda w: CONFIG.module(w.method),
            settings=lambda w: CONFIG.training_settings(w.method, w.dataset),
            trained=lambda w: PLAN.trained_settings(w.method, w.dataset),
            protocol=lambda w: CONFIG.training.of(w.task).reported,
            # As a function: `snakemake --lint` takes the word `fair` for the beginning of fairgat/...
            rule=lambda w: CONFIG.selection.rule,
            tolerance=CONFIG.selection.tolerance,
            published=lambda w: CONFIG.methods[w.method].published.get(w.dataset),
        message:
            "Choose the cell of {wildcards.method} on {wildcards.dataset} by its published scores"
        script:
            "../workflow_scripts/choose.py"

else:

    rule collect:
        input:
            runs=lambda w: PLAN.outputs("run.json", w.task, w.dataset, w.method),
            predictions=lambda w: PLAN.outputs("predictions.npz", w.task, w.dataset, w.method),
            graph=PLAN.trained("data/graphs/{dataset}.npz"),
            splits=lambda w: PLAN.splits(w.task, w.dataset),
        output:
            runs=results("runs/{task}/{dataset}/{method}/runs.csv"),
            selection=results("runs/{task}/{dataset}/{method}/selection.json"),
        log:
            results("logs/collect/{task}/{dataset}/{method}.log"),
        benchmark:
            results("benchmarks/collect/{task}/{dataset}/{method}.tsv")
        conda:
            ENV
        resources:
            mem_mb=growing(1500, per_mb=20),  # with Snakemake's own, which is in the job, too
            runtime=growing(10),
        params:
            # Of methods it only takes the defaults of settings.
            code=code("collect", without=("methods",)),
            runs=method_runs,
            module=lambda w: CONFIG.module(w.method),
            settings=lambda w: CONFIG.training_settings(w.method, w.dataset),
            training=training_of,
            seed=lambda w: CONFIG.training_seed(w.method),
            protocol=lambda w: CONFIG.training.of(w.task).reported,
            # As a function: `snakemake --lint` takes the word `fair` for the beginning of fairgat/...
            rule=lambda w: CONFIG.selection.rule,
            tolerance=CONFIG.selection.tolerance,
            published=lambda w: CONFIG.methods[w.method].published.get(w.dataset),
        message:
            "Judge {wildcards.method} on {wildcards.dataset} and choose its cell"
        script:
            "../workflow_scripts/collect.py"

    # What is right has gaps, too: a row of its own in the tables of scores.
    rule perfect:
        input:
            graph=PLAN.trained("data/graphs/{dataset}.npz"),
            splits=lambda w: PLAN.splits(w.task, w.dataset),
        output:
            perfect=results("perfect/{task}/{dataset}.csv"),
        log:
            results("logs/perfect/{task}/{dataset}.log"),
        benchmark:
            results("benchmarks/perfect/{task}/{dataset}.tsv")
        localrule: True
        conda:
            ENV
        params:
            code=code("perfect"),
            numbers=lambda w: CONFIG.split_numbers(w.dataset),
            training=training_of,
        message:
            "Judge a perfect prediction on {wildcards.dataset}"
        script:
            "../workflow_scripts/perfect.py"

    if CONFIG.judge_from:

        ruleorder: perfect > take


rule aggregate:
    input:
        runs=lambda w: PLAN.shards(w.task),
        selections=lambda w: PLAN.files("selection", w.task),
    output:
        runs=results("summary/{task}/runs.csv"),
        cells=results("summary/{task}/cells.csv"),
        winners=results("summary/{task}/winners.csv"),
    log:
        results("logs/aggregate/{task}.log"),
    benchmark:
        results("benchmarks/aggregate/{task}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=code("aggregate"),
        shards=lambda w: shards(PLAN.pairs(w.task)),
        ddof=CONFIG.aggregation.ddof,
    message:
        "Average the scores of {wildcards.task} over the splits"
    script:
        "../workflow_scripts/aggregate.py"
