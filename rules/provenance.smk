# Where the results come from. Runs last, so that the other rules' costs are known.

import shlex

# In the environment and not in params: the same results from another command are still the same results.
os.environ.setdefault("FAIRGAT_COMMAND", shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))


rule provenance:
    input:
        results=[*tables(), *bias_reports(), *audit(), *figures(), *theory()],
        package=package("machine.py", "reporting/provenance.py", "reporting/templates/table.html.j2", *RENDERING),
    output:
        json=report(
            results("provenance.json"),
            caption="report/provenance.rst",
            category="Provenance",
            labels={"format": "JSON"},
        ),
        html=report(
            results("provenance.html"),
            caption="report/provenance.rst",
            category="Provenance",
            labels={"format": "HTML"},
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
