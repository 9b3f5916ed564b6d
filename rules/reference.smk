# What the repository shows of a whole run. Neither target is part of `all`: who publishes, asks for them.


# No output: as one, Snakemake would delete the published folder before the job that may fail to replace it.
rule reference:
    input:
        files=reference_files(),
        package=package("reporting/reference.py"),
    log:
        results("logs/reference.log"),
    localrule: True  # seconds of work: not worth a queue
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        study=published_study,
        folder=results("reference"),
        readme=None,
    message:
        "Collecting what is published into {params.folder}"
    script:
        "../workflow_scripts/reference.py"


use rule reference as readme with:
    log:
        results("logs/readme.log"),
    params:
        readme=str(BASE / "README.md"),
    message:
        "Collecting what is published into {params.folder}, and updating README.md from it"
