# A study, such as configs/sensitivity.yaml: variants beside what they vary. No part of `all`, made by asking for `study`.


localrules:
    study,


try:
    STUDY = fairgat.reporting.settings.study_settings(CONFIG) if CONFIG.study else None
except fairgat.errors.ConfigError as error:
    raise WorkflowError(str(error)) from None


def study_shards(wildcards):
    """The scores of every row of the study."""
    if STUDY is None:
        raise WorkflowError("There is no study to make: give one, such as --configfile configs/sensitivity.yaml.")
    pairs = [(block["task"], row["dataset"], row["method"]) for block in STUDY["blocks"] for row in block["rows"]]
    return [results("/".join(["runs", *pair, "runs.csv"])) for pair in dict.fromkeys(pairs)]


def in_study(name):
    """A file of the study in the report."""
    return report(
        results(f"studies/{STUDY['name'] if STUDY else 'none'}/{name}"),
        caption="report/study.rst",
        category="Studies",
        labels={"study": STUDY["name"] if STUDY else "none", "file": name},
    )


rule study:
    input:
        runs=study_shards,
        code=code("study"),
    output:
        differences=in_study("differences.csv"),
        table=[in_study(f"table.{form}") for form in ["md", "tex", "html", "csv"]],
        figures=[
            in_study(f"{task}.{form}")
            for task in (fairgat.plan.TASKS if STUDY is None else dict.fromkeys(b["task"] for b in STUDY["blocks"]))
            for form in ["pdf", "png", "svg"]
        ],
    log:
        results("logs/study.log"),
    benchmark:
        results("benchmarks/study.tsv")
    conda:
        ENV
    params:
        settings=lambda w: STUDY,
    message:
        "Compare the variants of the study"
    script:
        "../workflow_scripts/study.py"
