# Where the results come from. Runs last, so that the other rules' costs are known.

import shlex

# In the environment and not in params: the same results from another command are still the same results.
os.environ.setdefault("FAIRGAT_COMMAND", shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))


rule provenance:
    input:
        results=[*tables(), *bias_reports(), *audit(), *figures(), *theory(), *costs()],
        metrics=[path for task in TASKS for path in all_metrics_of(task)],
        package=package("machine.py", "reporting/provenance.py", "reporting/templates/table.html.j2", *RENDERING),
    output:
        json=report(
            results("provenance.json"),
            caption="report/provenance.rst",
            category="Provenance",
            labels={"provenance": "Where the results come from", "format": "JSON"},
        ),
        html=report(
            results("provenance.html"),
            caption="report/provenance.rst",
            category="Provenance",
            labels={"provenance": "Where the results come from", "format": "HTML"},
        ),
    log:
        results("logs/provenance.log"),
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        benchmarks=results("benchmarks"),
        jobs=benchmarks(),
        config={"seed": CONFIG.seed, "splits": CONFIG.splits.count, "selection_rule": CONFIG.selection.rule},
    message:
        "Recording where the results come from"
    script:
        "../workflow_scripts/provenance.py"


rule costs:
    input:
        metrics=[path for task in TASKS for path in all_metrics_of(task)],
        debiasing=debias_timings(),
        package=package(
            "reporting/costs.py",
            "reporting/paper.py",
            "reporting/paper.yaml",
            "reporting/templates/table.md.j2",
            "reporting/templates/table.html.j2",
            *RENDERING,
        ),
    output:
        csv=report(
            results("costs/costs.csv"),
            caption="report/costs.rst",
            category="Provenance",
            labels={"provenance": "What the training cost", "format": "CSV"},
        ),
        md=results("costs/costs.md"),
        html=report(
            results("costs/costs.html"),
            caption="report/costs.rst",
            category="Provenance",
            labels={"provenance": "What the training cost", "format": "HTML"},
        ),
    log:
        results("logs/costs.log"),
    benchmark:
        results("benchmarks/costs.tsv")
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        titles=titles(),
    message:
        "Adding up what the training cost"
    script:
        "../workflow_scripts/costs.py"
