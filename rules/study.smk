# A study, such as configs/sensitivity.yaml: variants beside what they vary. No part of `all`, made by asking for `study`.


def study_runs():
    """The task, data set and method of every row of the study."""
    rows = [(block["task"], row["dataset"], row["method"]) for block in STUDY["blocks"] for row in block["rows"]]
    return list(dict.fromkeys(rows))


def study_files(name):
    """A file, such as the scores, of every row of the study."""
    return [results(f"runs/{task}/{dataset}/{method}/{name}") for task, dataset, method in study_runs()]


def study_stats():
    """The counts of the graphs that figures of the study may show: those of tasks whose theory is measured."""
    return [path for task in TASKS if "theory" in TASKS[task].measured for path in PLAN.stats(task)]


def study_figures():
    """The names of the study's figures: `along` or `dose`, or its tasks; and `attributes`."""
    asked = [name for name in ("along", "dose") if STUDY[name]]
    tasks = list(dict.fromkeys(block["task"] for block in STUDY["blocks"]))
    return (asked or tasks) + ["attributes"] * STUDY["attributes"]


def in_study(name):
    """A file of the study."""
    return reported(f"studies/{STUDY['name']}/{name}", "study", "Studies", {"study": STUDY["name"], "file": name})


rule study:
    input:
        runs=lambda w: study_files("runs.csv"),
        selections=lambda w: study_files("selection.json"),
        stats=study_stats() if STUDY["along"] or STUDY["attributes"] else [],
        theory=PLAN.files("theory") if STUDY["along"] else [],
        account=PLAN.files("account") if STUDY["dose"] else [],
        code=code("study"),
    output:
        differences=in_study("differences.csv"),
        scores=in_study("scores.csv"),
        dose=[in_study(f"{name}.csv") for name in ["curve", "predicted"] if STUDY["dose"]],
        attributes=[in_study("attributes.csv")] if STUDY["attributes"] else [],
        table=[in_study(f"table.{form}") for form in ["md", "tex", "html", "csv", "json"]],
        figures=[in_study(f"{name}.{form}") for name in study_figures() for form in ["pdf", "png", "svg"]],
    log:
        results(f"logs/study/{STUDY['name']}.log"),
    benchmark:
        results(f"benchmarks/study/{STUDY['name']}.tsv")
    localrule: True
    conda:
        ENV
    params:
        shards=shards((dataset, method) for _, dataset, method in study_runs()),
        settings=STUDY,
    message:
        "Compare the variants of the study"
    script:
        "../workflow_scripts/study.py"
