# A study, such as configs/sensitivity.yaml: variants beside what they vary. No part of `all`, made by asking for `study`.


rule study:
    input:
        runs=lambda w: study_files("runs.csv"),
        selections=lambda w: study_files("selection.json"),
        stats=study_stats(),
        regrouped=[
            [*each["graphs"], *each["splits"], *(path for *_, path in each["predictions"])]
            for each in study_regrouped()
        ],
        account=PLAN.files("account") if STUDY.accounts else [],
    output:
        differences=in_study("differences.csv"),
        scores=in_study("scores.csv"),
        graphs=in_study("graphs.csv"),
        accounts=[in_study("accounts.csv")] if STUDY.accounts else [],
        table=[in_study(f"table.{form}") for form in ["md", "tex", "html", "csv", "json"]],
        figures=[in_study(f"{task}.{form}") for task in study_tasks() for form in ["pdf", "png", "svg"]],
    log:
        results(f"logs/study/{STUDY.name}.log"),
    benchmark:
        results(f"benchmarks/study/{STUDY.name}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=code("study"),
        shards=shards((dataset, method) for _, dataset, method in study_runs()),
        settings=plain(STUDY),
        regrouped=study_regrouped(),
    message:
        "Compare the variants of the study"
    script:
        "../workflow_scripts/study.py"
