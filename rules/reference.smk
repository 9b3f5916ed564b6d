# What the repository shows of a whole run. Neither target is part of `all`: who publishes, asks for them.


rule reference:
    input:
        files=reference_files(),
        package=package("reporting/reference.py"),
    output:
        folder=directory(results("reference")),
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
        results=lambda wildcards, output: str(Path(output.folder).parent),
    message:
        "Collecting what is published into {output.folder}"
    script:
        "../workflow_scripts/reference.py"


# No output: as one, Snakemake would delete README.md before it is updated.
rule readme:
    input:
        folder=rules.reference.output.folder,
        package=package("reporting/reference.py"),
    log:
        results("logs/readme.log"),
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        readme=str(BASE / "README.md"),
    message:
        "Updating README.md from {input.folder}"
    script:
        "../workflow_scripts/readme.py"
