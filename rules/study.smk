# A study: variants beside what they vary.

STUDY_RUNS = list(dict.fromkeys((row.task, row.run_on, row.method) for row in STUDY))
STUDY_TASKS = list(dict.fromkeys(row.task for row in STUDY))


def study_files(name):
    """A file, such as the scores, of every row of the study."""
    return [results(f"runs/{task}/{dataset}/{method}/{name}") for task, dataset, method in STUDY_RUNS]


def predictions(runs):
    """The predictions of runs, beside their run.json."""
    return [str(Path(run).with_name("predictions.npz")) for run in runs]


def study_regrouped():
    """What it takes to measure the runs on a data set by the groups of another: `fairgat.scores.regrouped`."""
    asked, names = [], dict.fromkeys(row.dataset for row in STUDY)
    for name in (name for name in names if CONFIG.study.measured_by.get(name) in names):
        task, by = CONFIG.datasets[name].task, CONFIG.study.measured_by[name]
        methods = dict.fromkeys(row.method for row in STUDY if row.dataset == name)
        runs = [path for method in methods for path in PLAN.outputs("run.json", task, name, method)]
        asked.append(
            {
                "dataset": name,
                "by": by,
                "graphs": [PLAN.trained(f"data/graphs/{each}.npz") for each in (name, by)],
                "splits": dict(zip(CONFIG.split_numbers(name), PLAN.splits(task, name))),
                "runs": runs,
            }
        )
    return asked


def in_study(name):
    """A file of the study."""
    study = CONFIG.study.name
    return reported(f"studies/{study}/{name}", "study", "Studies", {"study": study, "file": name})


rule study:
    input:
        runs=study_files("runs.csv"),
        selections=study_files("selection.json"),
        stats=[results(f"data/graphs/{dataset}.stats.json") for dataset in dict.fromkeys(run[1] for run in STUDY_RUNS)],
        regrouped=[
            [*each["graphs"], *each["splits"].values(), *each["runs"], *predictions(each["runs"])]
            for each in study_regrouped()
        ],
        account=PLAN.files("account") if CONFIG.study.accounts else [],
    output:
        differences=in_study("differences.csv"),
        scores=in_study("scores.csv"),
        graphs=in_study("graphs.csv"),
        accounts=[in_study("accounts.csv")] if CONFIG.study.accounts else [],
        table=[in_study(f"table.{form}") for form in ["md", "tex", "html", "csv"]],
        figures=[in_study(f"{task}.{form}") for task in STUDY_TASKS for form in ["pdf", "png", "svg"]],
    log:
        results(f"logs/study/{CONFIG.study.name}.log"),
    benchmark:
        results(f"benchmarks/study/{CONFIG.study.name}.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=code("study"),
        shards=shards((dataset, method) for _, dataset, method in STUDY_RUNS),
        settings=plain(fairgat.config.shown.study_settings(CONFIG)),
        regrouped=study_regrouped(),
    message:
        "Compare the variants of the study"
    script:
        "../workflow_scripts/study.py"
