# In place of training, where an earlier run is judged anew (`judge_from`): what it measured is copied.


rule take:
    input:
        f"{CONFIG.judge_from}/{{taken}}",
    output:
        results("{taken}"),
    log:
        results("logs/take/{taken}.log"),
    benchmark:
        results("benchmarks/take/{taken}.tsv")
    wildcard_constraints:
        taken=f"({'|'.join(fairgat.plan.TAKEN)}).+",
    localrule: True
    conda:
        ENV
    params:
        code=code("take"),
    message:
        "Take {wildcards.taken} from the run that is judged"
    script:
        "../workflow_scripts/take.py"
